/**
 * The calls that objects make to each other, each of them once: the core decides whether to repeat a call. The called
 * side is in `src/contract/object-calls.ts`. The calls of the edge are in `workers/http`.
 */
import type { Delivery } from "../../src/channel/follower-progress.ts";
import type { GatheredPresence } from "../../src/channel/presence.ts";
import type { RelayBatchReply } from "../../src/contract/relay-batch.ts";
import type {
  ChannelPresenceReply,
  GatewayPresence,
  RelayReplies,
  RelayRequest,
} from "../../src/contract/relay-request.ts";
import type { HookCalls, HookQuestion, HookReply } from "../../src/contract/hook-call.ts";
import { limits } from "../../src/limits.ts";
import { type ErrorCode, errorCodes } from "../../src/protocol/codes.ts";
import type { CarriedOut, NumberedOrder, Registered } from "../../src/contract/user-order.ts";
import { parseNodeName } from "../../src/contract/object-names.ts";
import type { Env } from "../platform/env.ts";
import { inTime, parseCallFailure } from "../platform/object-call.ts";

/**
 * Calls a gateway with a batch, once. After a call that failed or took longer than `limits.objectAnswerMs` it is
 * unknown whether the gateway took the batch; the relay decides when to repeat it, which is harmless (rule L1). The
 * output gate lets the call out only once the batch is durable (rule O2).
 */
export async function deliver(
  gateways: Env["GATEWAYS"],
  { gateway, batch }: Delivery,
): Promise<RelayBatchReply | "failed"> {
  try {
    const answer = gateways.getByName(gateway).deliver(batch);
    return await inTime<RelayBatchReply | "failed">(answer, limits.objectAnswerMs, "failed");
  } catch (error) {
    const failure = parseCallFailure(error);
    if (failure.overloaded) return { outcome: "busy" };
    console.warn(`call to a gateway failed: ${failure.summary}`);
    return "failed";
  }
}

/**
 * Asks all gateways at once which of their clients are present on a channel (rule G6).
 *
 * @param names of the gateways
 * @returns the clients of all gateways that answered within `limits.presenceGatherMs`
 */
export async function gatherPresence(
  gateways: Env["GATEWAYS"],
  names: readonly string[],
  channel: string,
): Promise<GatheredPresence> {
  const answers = await Promise.all(
    names.map(async (name): Promise<GatewayPresence | undefined> => {
      try {
        const answer = gateways.getByName(name).present(channel);
        return await inTime<GatewayPresence | undefined>(
          answer,
          limits.presenceGatherMs,
          undefined,
        );
      } catch (error) {
        console.warn(`call to a gateway for presence failed: ${parseCallFailure(error).summary}`);
        return undefined;
      }
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
 * @returns undefined when the call failed or took longer than `limits.objectAnswerMs`: then it is unknown whether the
 *          requests were carried out
 */
export async function ask(
  channels: Env["CHANNELS"],
  channel: string,
  gateway: string,
  requests: readonly RelayRequest[],
): Promise<RelayReplies | undefined> {
  try {
    const replies = channels.getByName(channel).ask(gateway, requests);
    return await inTime<RelayReplies | undefined>(replies, limits.objectAnswerMs, undefined);
  } catch (error) {
    const failure = parseCallFailure(error);
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
  try {
    const answer = channels.getByName(channel).present();
    const late = { outcome: "error", error: errorCodes.internal } as const;
    return await inTime<ChannelPresenceReply>(answer, limits.objectAnswerMs, late);
  } catch (error) {
    const failure = parseCallFailure(error);
    console.warn(`call to a channel failed: ${failure.summary}`);
    const { tooManyRequests, internal } = errorCodes;
    return { error: failure.overloaded ? tooManyRequests : internal };
  }
}

/**
 * Registers an object with a home as a holder of connections of these users. A call that failed is repeated once, because
 * a home may be on its way to another machine.
 *
 * @param holder the object's node
 * @returns undefined if the home hasn't answered within `limits.registerAnswerMs`
 */
export async function register(
  homes: Env["USERS"],
  home: string,
  holder: string,
  users: readonly string[],
): Promise<Registered | undefined> {
  const call = async (): Promise<Registered | undefined> => {
    try {
      return await homes.getByName(home).register(holder, users);
    } catch (error) {
      if (parseCallFailure(error).overloaded) return undefined;
      return await homes.getByName(home).register(holder, users);
    }
  };
  try {
    return await inTime<Registered | undefined>(call(), limits.registerAnswerMs, undefined);
  } catch (error) {
    console.warn(`call to a user's home failed: ${parseCallFailure(error).summary}`);
    return undefined;
  }
}

/**
 * Has a home check whether an object still holds connections of these users, once: the home asks by itself, too, though
 * seldom (rule E11).
 *
 * @param holder the object's node
 */
export async function checkUsers(
  homes: Env["USERS"],
  home: string,
  holder: string,
  users: readonly string[],
): Promise<void> {
  try {
    await homes.getByName(home).check(holder, users);
  } catch (error) {
    console.warn(`call to a user's home failed: ${parseCallFailure(error).summary}`);
  }
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
 * Asks an object which of these users have connections there.
 *
 * @param holder the object's node
 * @returns undefined if it didn't answer in time
 */
export async function askHeld(
  env: Pick<Env, "CHANNELS" | "GATEWAYS">,
  holder: string,
  users: readonly string[],
): Promise<readonly string[] | undefined> {
  try {
    const answer = holderOf(env, holder)?.held(users);
    if (answer === undefined) return [];
    return await inTime<readonly string[] | undefined>(answer, limits.objectAnswerMs, undefined);
  } catch (error) {
    console.warn(`call for users' connections failed: ${parseCallFailure(error).summary}`);
    return undefined;
  }
}

/** The object of a node; undefined for a text that is none. */
function holderOf({ CHANNELS, GATEWAYS }: Pick<Env, "CHANNELS" | "GATEWAYS">, holder: string) {
  const node = parseNodeName(holder);
  if (node === undefined) return undefined;
  return node.kind === "channel" ? CHANNELS.getByName(node.name) : GATEWAYS.getByName(node.name);
}

/**
 * Has an object carry out orders on the connections of a user, once.
 *
 * @param holder the object's node
 * @returns undefined if the call failed or took longer than `limits.objectAnswerMs`: then it is unknown whether the
 *          orders were carried out
 */
export async function carryOut(
  env: Pick<Env, "CHANNELS" | "GATEWAYS">,
  holder: string,
  user: string,
  orders: readonly NumberedOrder[],
): Promise<CarriedOut | undefined> {
  const object = holderOf(env, holder);
  if (object === undefined) return undefined;
  try {
    const answer = object.carryOut(user, orders);
    return await inTime<CarriedOut | undefined>(answer, limits.objectAnswerMs, undefined);
  } catch (error) {
    console.warn(`call for a user's connections failed: ${parseCallFailure(error).summary}`);
    return undefined;
  }
}
