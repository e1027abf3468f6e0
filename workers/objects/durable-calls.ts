import type {
  ChannelCalls,
  DirectoryCalls,
  GatewayCalls,
  HomeCalls,
  SessionCalls,
} from "../../src/contract/object-calls.ts";
import { parseNodeName } from "../../src/contract/object-names.ts";
import type { RelayReplies } from "../../src/contract/relay-request.ts";
import type { CallAnswer, CallName, CallReply, CallRequest } from "../../src/object/object-call.ts";
import { descriptorsOf } from "../platform/descriptors.ts";
import type { Env } from "../platform/env.ts";
import { type CalledObject, inTime, parseCallFailure } from "../platform/object-call.ts";

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
    if (!overloaded) console.warn(`call failed: call=${name} ${summary}`);
    return { outcome: "failed", overloaded };
  }
}

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
  deliver: (env, to, request) => onGateway(env, to, (object) => object.deliver(...request)),
  polled: (env, to, request) => onGateway(env, to, (object) => object.polled(...request)),
  presentOnGateway: (env, to, request) =>
    onGateway(env, to, (object) => object.present(...request)),
  info: (env, to, request) => onGateway(env, to, (object) => object.info(...request)),
  channels: (env, to, request) => onGateway(env, to, (object) => object.channels(...request)),
  ask: (env, to, request) =>
    onChannel(env, to, (object) =>
      withDescriptors<RelayReplies>(env, () => object.ask(...request)),
    ),
  present: (env, to, request) => onChannel(env, to, (object) => object.present(...request)),
  presenceTold: (env, to, request) =>
    onChannel(env, to, (object) => object.presenceTold(...request)),
  ownSubscribers: (env, to, request) =>
    onChannel(env, to, (object) => object.ownSubscribers(...request)),
  carryOut: (env, to, request) => onHolder(env, to, (object) => object.carryOut(...request)),
  clientsOf: (env, to, request) => onHolder(env, to, (object) => object.clientsOf(...request)),
  connections: (env, to, request) => onHolder(env, to, (object) => object.connections(...request)),
  online: (env, to, request) => onHolder(env, to, (object) => object.online(...request)),
  register: (env, to, request) => onHome(env, to, (object) => object.register(...request)),
  admit: (env, to, request) => onHome(env, to, (object) => object.admit(...request)),
  ended: (env, to, request) => onHome(env, to, (object) => object.ended(...request)),
  list: (env, to, request) => onHome(env, to, (object) => object.list(...request)),
  report: ({ METRICS }, to, request) =>
    METRICS && on(METRICS.getByName(to), (object) => object.report(...request)),
};

function on<Name extends CallName, Stub extends CalledObject>(
  object: Stub,
  call: (object: Stub) => Promise<CallAnswer<Name>>,
): Made<Name> {
  return { object, answer: call(object) };
}

function onGateway<Name extends CallName>(
  { GATEWAYS }: Env,
  gateway: string,
  call: (object: GatewayCalls) => Promise<CallAnswer<Name>>,
): Made<Name> {
  return on(GATEWAYS.getByName(gateway), call);
}

function onChannel<Name extends CallName>(
  { CHANNELS }: Env,
  channel: string,
  call: (object: ChannelCalls) => Promise<CallAnswer<Name>>,
): Made<Name> {
  return on(CHANNELS.getByName(channel), call);
}

function onHome<Name extends CallName>(
  { USERS }: Env,
  home: string,
  call: (object: HomeCalls & DirectoryCalls) => Promise<CallAnswer<Name>>,
): Made<Name> {
  return on(USERS.getByName(home), call);
}

function onHolder<Name extends CallName>(
  env: Env,
  holder: string,
  call: (object: SessionCalls) => Promise<CallAnswer<Name>>,
): Made<Name> | undefined {
  const node = parseNodeName(holder);
  if (node === undefined) return undefined;
  return node.kind === "channel"
    ? onChannel(env, node.name, call)
    : onGateway(env, node.name, call);
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
