import type { SessionCalls } from "../../src/contract/object-calls.ts";
import { parseNodeName } from "../../src/contract/object-names.ts";
import type { RelayReplies } from "../../src/contract/relay-request.ts";
import type { CallAnswer, CallName, CallReply, CallRequest } from "../../src/object/object-call.ts";
import { descriptorsOf } from "./descriptors.ts";
import type { Env } from "./env.ts";
import { type CalledObject, inTime, parseCallFailure } from "./object-call.ts";

/** Makes a call to another object, once. A call that throws leaves a line in the log. */
export async function makeCall<Name extends CallName>(
  env: Env,
  name: Name,
  to: string,
  request: CallRequest<Name>,
  waitMs: number,
): Promise<CallReply<Name>> {
  const failed = { outcome: "failed", overloaded: false } as const;
  let object: CalledObject | undefined;
  try {
    const made = makers[name](env, to, request);
    if (made === undefined) return failed;
    ({ object } = made);
    const answered = made.answer.then((answer) => ({ outcome: "answered", answer }) as const);
    return await inTime<CallReply<Name>>(answered, waitMs, failed);
  } catch (error) {
    const { overloaded, summary } = parseCallFailure(error, object);
    if (!overloaded || !quietlyOverloaded.has(name))
      console.warn(`call ${phrases[name]} failed: ${summary}`);
    return { outcome: "failed", overloaded };
  }
}

/** Calls whose caller tells an overloaded object from one that failed. */
const quietlyOverloaded: ReadonlySet<CallName> = new Set(["deliver", "polled", "ask"]);

/** A call under way, and the object that it goes to. */
interface Made<Name extends CallName> {
  readonly object: CalledObject;
  readonly answer: Promise<CallAnswer<Name>>;
}

/** Undefined if there is no such object. */
type Makers = {
  readonly [Name in CallName]: (
    env: Env,
    to: string,
    request: CallRequest<Name>,
  ) => Made<Name> | undefined;
};

const makers: Makers = {
  deliver: ({ GATEWAYS }, to, batch) =>
    on(GATEWAYS.getByName(to), (object) => object.deliver(batch)),
  polled: ({ GATEWAYS }, to, batch) => on(GATEWAYS.getByName(to), (object) => object.polled(batch)),
  presentOnGateway: ({ GATEWAYS }, to, { channel, shown }) =>
    on(GATEWAYS.getByName(to), (object) => object.present(channel, shown)),
  info: ({ GATEWAYS }, to) => on(GATEWAYS.getByName(to), (object) => object.info()),
  channels: ({ GATEWAYS }, to, query) =>
    on(GATEWAYS.getByName(to), (object) => object.channels(query)),
  ask: (env, to, { gateway, requests, carries }) =>
    on(env.CHANNELS.getByName(to), (object) =>
      withDescriptors<RelayReplies>(env, () => object.ask(gateway, requests, carries)),
    ),
  present: ({ CHANNELS }, to, kind) => on(CHANNELS.getByName(to), (object) => object.present(kind)),
  presenceTold: ({ CHANNELS }, to, told) =>
    on(CHANNELS.getByName(to), (object) => object.presenceTold(told)),
  ownSubscribers: ({ CHANNELS }, to) =>
    on(CHANNELS.getByName(to), (object) => object.ownSubscribers()),
  carryOut: (env, to, { user, orders }) =>
    onHolder(env, to, (object) => object.carryOut(user, orders)),
  clientsOf: (env, to, users) => onHolder(env, to, (object) => object.clientsOf(users)),
  connections: (env, to, key) => onHolder(env, to, (object) => object.connections(key)),
  online: (env, to, users) => onHolder(env, to, (object) => object.online(users)),
  register: ({ USERS }, to, { holder, users, ends }) =>
    on(USERS.getByName(to), (object) => object.register(holder, users, ends)),
  admit: ({ USERS }, to, { holder, connections, limit, single }) =>
    on(USERS.getByName(to), (object) => object.admit(holder, connections, limit, single)),
  ended: ({ USERS }, to, { users, left }) =>
    on(USERS.getByName(to), (object) => nothing(object.ended(users, left))),
  list: ({ USERS }, to, node) => on(USERS.getByName(to), (object) => nothing(object.list(node))),
  report: ({ METRICS }, to, report) =>
    METRICS && on(METRICS.getByName(to), (object) => nothing(object.report(report))),
};

/** For the log: whom a call goes to. */
const phrases: Readonly<Record<CallName, string>> = {
  deliver: "to a gateway",
  polled: "to a gateway",
  presentOnGateway: "to a gateway for presence",
  info: "to a listed object",
  channels: "to a listed object",
  ask: "to a channel",
  present: "to a channel",
  presenceTold: "to a presence map",
  ownSubscribers: "to a listed object",
  carryOut: "for a user's connections",
  clientsOf: "for a user's connections",
  connections: "for a user's connections",
  online: "for a user's connections",
  register: "to a user's home",
  admit: "to a user's home",
  ended: "to a user's home",
  list: "to the directory",
  report: "with metrics",
};

function on<Name extends CallName, Stub extends CalledObject>(
  object: Stub,
  call: (object: Stub) => Promise<CallAnswer<Name>>,
): Made<Name> {
  return { object, answer: call(object) };
}

/** An object that holds sockets, of either kind, as a home calls it. */
type Holder = Pick<SessionCalls, "carryOut" | "clientsOf" | "connections" | "online">;

function onHolder<Name extends CallName>(
  { CHANNELS, GATEWAYS }: Env,
  holder: string,
  call: (object: Holder) => Promise<CallAnswer<Name>>,
): Made<Name> | undefined {
  const node = parseNodeName(holder);
  if (node === undefined) return undefined;
  return node.kind === "channel"
    ? on(CHANNELS.getByName(node.name), call)
    : on(GATEWAYS.getByName(node.name), call);
}

async function nothing(call: Promise<void>): Promise<undefined> {
  await call;
}

/** Makes a call that may wake an object, unless the server has too few file descriptors left (rule B10). */
async function withDescriptors<Answer>(
  env: Env,
  call: () => Promise<Answer>,
): Promise<Answer | { readonly outcome: "overloaded"; readonly retryAfterSeconds: number }> {
  const descriptors = descriptorsOf(env);
  if (descriptors === undefined) return call();
  if (!(await descriptors.haveRoom("call"))) return { outcome: "overloaded", retryAfterSeconds: 1 };
  try {
    return await call();
  } finally {
    descriptors.ended();
  }
}
