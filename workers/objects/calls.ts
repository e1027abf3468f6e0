/**
 * The calls that objects make to each other, each of them once: the core decides whether to repeat a call. The called
 * side is in `src/contract/object-calls.ts`. The calls of the edge are in `workers/http`.
 */
import type { Delivery } from "../../src/channel/follower-progress.ts";
import type { GatheredPresence } from "../../src/channel/presence.ts";
import type { PollBatchReply } from "../../src/contract/poll-batch.ts";
import type { RelayBatchReply } from "../../src/contract/relay-batch.ts";
import type {
  ChannelPresenceReply,
  RelayReplies,
  RelayRequest,
} from "../../src/contract/relay-request.ts";
import type { PresenceChannel } from "../../src/channel/presence-channels.ts";
import type { PresenceTelling } from "../../src/channel/presence-teller.ts";
import type { PresenceToldReply } from "../../src/contract/presence-call.ts";
import type { PollDelivery } from "../../src/shared-poll/shared-poll.ts";
import type { HookCalls, HookQuestion, HookReply } from "../../src/contract/hook-call.ts";
import { limits } from "../../src/limits.ts";
import { type ErrorCode, errorCodes } from "../../src/protocol/codes.ts";
import type {
  CarriedOut,
  NumberedOrder,
  Registered,
  SlotAnswer,
  UserConnection,
} from "../../src/contract/user-order.ts";
import type { SessionCalls } from "../../src/contract/object-calls.ts";
import type { HeldConnections } from "../../src/contract/connection-state.ts";
import type { LeftUsers, OnlineUsers } from "../../src/contract/user-status.ts";
import { parseNodeName, shardOf } from "../../src/contract/object-names.ts";
import type { Env } from "../platform/env.ts";
import {
  answerInTime,
  type CalledObject,
  inTime,
  parseCallFailure,
} from "../platform/object-call.ts";

/**
 * Calls a gateway with a batch, once. After a call that failed or took longer than `limits.objectAnswerMs` it is
 * unknown whether the gateway took the batch; the relay decides when to repeat it, which is harmless (rule L1). The
 * output gate lets the call out only once the batch is durable (rule O2).
 */
export async function deliver(
  gateways: Env["GATEWAYS"],
  { gateway, batch }: Delivery,
): Promise<RelayBatchReply | "failed"> {
  const object = gateways.getByName(gateway);
  return callGateway<RelayBatchReply>(object, () => object.deliver(batch));
}

/**
 * Calls a gateway with what has changed of a shared poll's keys, once. After a call that failed it is unknown whether
 * the gateway took the batch; the channel decides when to repeat it, which is harmless (rule SP7).
 */
export async function deliverPoll(
  gateways: Env["GATEWAYS"],
  { gateway, batch }: PollDelivery,
): Promise<PollBatchReply | "failed"> {
  const object = gateways.getByName(gateway);
  return callGateway<PollBatchReply>(object, () => object.polled(batch));
}

/** Makes a call to a gateway that hands on a batch, once. A gateway that is overloaded is busy. */
async function callGateway<Reply>(
  object: CalledObject,
  call: () => Promise<Reply>,
): Promise<Reply | { readonly outcome: "busy" } | "failed"> {
  try {
    return await inTime<Reply | "failed">(call(), limits.objectAnswerMs, "failed");
  } catch (error) {
    const failure = parseCallFailure(error, object);
    if (failure.overloaded) return { outcome: "busy" };
    console.warn(`call to a gateway failed: ${failure.summary}`);
    return "failed";
  }
}

/**
 * Asks all gateways at once which of their clients are present on a channel (rule G6).
 *
 * @param names of the gateways
 * @param shown whether those are meant that a presence map shows
 * @returns the clients of all gateways that answered within `limits.presenceGatherMs`
 */
export async function gatherPresence(
  gateways: Env["GATEWAYS"],
  names: readonly string[],
  channel: string,
  shown = false,
): Promise<GatheredPresence> {
  const answers = await Promise.all(
    names.map((name) => {
      const object = gateways.getByName(name);
      const list = () => object.present(channel, shown);
      return answerInTime("call to a gateway for presence", limits.presenceGatherMs, list, object);
    }),
  );
  return {
    clients: answers.flatMap((answer) => answer?.clients ?? []),
    complete: answers.every((answer) => answer !== undefined),
  };
}

/**
 * Makes a gateway's requests of a channel's object, once.
 *
 * @param gateway the name of the calling gateway
 * @param carries whether the gateway reports what the object has counted together with its own (rule J7)
 * @returns undefined when the call failed or took longer than `limits.objectAnswerMs`: then it is unknown whether the
 *          requests were carried out
 */
export async function ask(
  channels: Env["CHANNELS"],
  channel: string,
  gateway: string,
  requests: readonly RelayRequest[],
  carries: boolean,
): Promise<RelayReplies | undefined> {
  const object = channels.getByName(channel);
  try {
    const replies = object.ask(gateway, requests, carries);
    return await inTime<RelayReplies | undefined>(replies, limits.objectAnswerMs, undefined);
  } catch (error) {
    const failure = parseCallFailure(error, object);
    if (failure.overloaded) return { outcome: "overloaded", retryAfterSeconds: 1 };
    console.warn(`call to a channel failed: ${failure.summary}`);
    return undefined;
  }
}

/** Asks a channel's object which clients are present, on its own sockets and on those of all its gateways. */
export async function askPresence(
  channels: Env["CHANNELS"],
  channel: string,
): Promise<GatheredPresence | { readonly error: ErrorCode }> {
  const object = channels.getByName(channel);
  try {
    const late = { outcome: "error", error: errorCodes.internal } as const;
    return await inTime<ChannelPresenceReply>(object.present(), limits.objectAnswerMs, late);
  } catch (error) {
    const failure = parseCallFailure(error, object);
    console.warn(`call to a channel failed: ${failure.summary}`);
    const { tooManyRequests, internal } = errorCodes;
    return { error: failure.overloaded ? tooManyRequests : internal };
  }
}

/**
 * Asks the object of a channel which clients, or users, its presence map shows, once (rule Z22).
 *
 * @returns undefined if it hasn't answered within `limits.presenceCountMs`
 */
export function askShown(
  channels: Env["CHANNELS"],
  { channel, kind }: PresenceChannel,
): Promise<ChannelPresenceReply | undefined> {
  const object = channels.getByName(channel);
  const list = (): Promise<ChannelPresenceReply> => object.present(kind);
  return answerInTime("call for a presence map", limits.presenceCountMs, list, object);
}

/** Tells the object of a presence map who has come and gone, once. Repeating it is harmless (rule Z27). */
export async function tellPresence(
  channels: Env["CHANNELS"],
  { map, told }: PresenceTelling,
): Promise<PresenceToldReply | "failed"> {
  const object = channels.getByName(map.channel);
  const tell = (): Promise<PresenceToldReply> => object.presenceTold(told);
  const { objectAnswerMs } = limits;
  return (await answerInTime("call to a presence map", objectAnswerMs, tell, object)) ?? "failed";
}

/**
 * Registers an object with a home as a holder of connections of these users, and of what was made with these tokens. A
 * call that failed is repeated once, because a home may be on its way to another machine.
 *
 * @param holder the object's node
 * @param users  the keys of users and tokens
 * @param ends   for each of them when the registration may be forgotten, in seconds since 1970; 0 for never
 * @returns undefined if the home hasn't answered within `limits.registerAnswerMs`
 */
export async function register(
  homes: Env["USERS"],
  home: string,
  holder: string,
  users: readonly string[],
  ends: readonly number[],
): Promise<Registered | undefined> {
  const object = homes.getByName(home);
  return callHome(object, () => object.register(holder, users, ends));
}

/**
 * Asks a home for slots for connections, where those of a user are limited (rule U12), like {@link register}.
 *
 * @param holder the node of the object that holds the connections
 */
export async function admit(
  homes: Env["USERS"],
  home: string,
  holder: string,
  connections: readonly UserConnection[],
  { limit, single }: { readonly limit: number; readonly single: boolean },
): Promise<SlotAnswer | undefined> {
  const object = homes.getByName(home);
  return callHome(object, () => object.admit(holder, connections, limit, single));
}

/** Makes a call to a home, and once more if it fails. */
async function callHome<Answer>(
  object: CalledObject,
  call: () => Promise<Answer>,
): Promise<Answer | undefined> {
  const twice = async (): Promise<Answer | undefined> => {
    try {
      return await call();
    } catch (error) {
      if (parseCallFailure(error).overloaded) return undefined;
      return await call();
    }
  };
  return answerInTime("call to a user's home", limits.registerAnswerMs, twice, object);
}

/**
 * Has the directory list an object, once (rule U22).
 *
 * @param node the object's
 * @returns whether the directory has answered in time
 */
export async function listNode(shards: Env["USERS"], node: string): Promise<boolean> {
  const listed = await answerInTime("call to the directory", limits.objectAnswerMs, async () => {
    await shards.getByName(shardOf(node)).list(node);
    return true;
  });
  return listed === true;
}

/**
 * Asks a backend by the Worker's stateless entrypoint, once (rule Q5).
 *
 * @param timeoutMs within which the entrypoint has to have an answer of the backend
 */
export async function askBackend(
  hooks: HookCalls,
  question: HookQuestion,
  timeoutMs: number,
): Promise<HookReply> {
  try {
    const reply = hooks.ask(question);
    const late = { outcome: "failed", reason: "the entrypoint didn't answer in time" } as const;
    return await inTime<HookReply>(reply, timeoutMs + limits.hookMarginMs, late);
  } catch (error) {
    const { summary } = parseCallFailure(error);
    return { outcome: "failed", reason: `the call to the entrypoint failed: ${summary}` };
  }
}

/**
 * Has an object carry out orders on the connections of a user, once.
 *
 * @param holder the object's node
 * @returns undefined if the call failed or took longer than `limits.objectAnswerMs`: then it is unknown whether the
 *          orders were carried out
 */
export function carryOut(
  env: HolderBindings,
  holder: string,
  user: string,
  orders: readonly NumberedOrder[],
): Promise<CarriedOut | undefined> {
  return callHolder(env, holder, limits.objectAnswerMs, (object) => object.carryOut(user, orders));
}

/**
 * Asks an object which connections of users it holds (rule U37).
 *
 * @param holder the object's node
 * @param users  the keys of the users
 * @returns their IDs; undefined if the object hasn't answered within `limits.slotAnswerMs`
 */
export function clientsOf(
  env: HolderBindings,
  holder: string,
  users: readonly string[],
): Promise<readonly string[] | undefined> {
  return callHolder(env, holder, limits.slotAnswerMs, (object) => object.clientsOf(users));
}

type HolderBindings = Pick<Env, "CHANNELS" | "GATEWAYS">;

async function callHolder<Answer>(
  { CHANNELS, GATEWAYS }: HolderBindings,
  holder: string,
  waitMs: number,
  call: (object: Holder) => Promise<Answer>,
): Promise<Answer | undefined> {
  const node = parseNodeName(holder);
  if (node === undefined) return undefined;
  return answerInTime("call for a user's connections", waitMs, () =>
    call(node.kind === "channel" ? CHANNELS.getByName(node.name) : GATEWAYS.getByName(node.name)),
  );
}

/** An object that holds sockets, of either kind, as a home calls it. */
type Holder = Pick<SessionCalls, "carryOut" | "clientsOf" | "connections" | "online">;

/**
 * Asks an object which connections of a user it holds, once (rule U20).
 *
 * @param holder the object's node
 * @returns undefined if the call failed or took longer than `limits.holderAnswerMs`
 */
export function askConnections(
  objects: HolderBindings,
  holder: string,
  user: string,
): Promise<HeldConnections | undefined> {
  return callHolder(objects, holder, limits.holderAnswerMs, (object) => object.connections(user));
}

/**
 * Tells a home that the last connections of these users on an object have ended, once (rules U26 and E17). If the home
 * doesn't hear it, it knows an earlier time, and takes the users for online until its next sweep.
 *
 * @param left the users whom the home has to ask the object about; absent if it has to ask about none
 */
export async function tellEnded(
  homes: Env["USERS"],
  home: string,
  users: readonly string[],
  left?: LeftUsers,
): Promise<void> {
  const object = homes.getByName(home);
  try {
    await object.ended(users, left);
  } catch (error) {
    console.warn(`call to a user's home failed: ${parseCallFailure(error, object).summary}`);
  }
}

/**
 * Asks an object which of these users have connections there, once (rule U25).
 *
 * @param holder the object's node
 * @returns undefined if the call failed or took longer than `limits.holderAnswerMs`
 */
export function askOnline(
  objects: HolderBindings,
  holder: string,
  users: readonly string[],
): Promise<OnlineUsers | undefined> {
  return callHolder(objects, holder, limits.holderAnswerMs, (object) => object.online(users));
}
