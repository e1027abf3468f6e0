import type {
  ChannelCalls,
  DirectoryCalls,
  GatewayCalls,
  HomeCalls,
  SessionCalls,
} from "../../src/contract/object-calls.ts";
import { parseNodeName } from "../../src/contract/object-names.ts";
import type { RelayReplies } from "../../src/contract/relay-request.ts";
import { callers } from "../../src/features/index.ts";
import type {
  CallableObjects,
  CallAnswer,
  CallName,
  CallReply,
  CallRequest,
  MadeCall,
} from "../../src/object/object-call.ts";
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
    const made = makers[name](new Objects(env), to, request);
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

/** Undefined if there is no such object. */
type Makers = {
  readonly [Name in CallName]: (
    objects: Objects,
    to: string,
    request: CallRequest<Name>,
  ) => MadeCall<CallAnswer<Name>> | undefined;
};

/** The objects of the Worker. */
class Objects implements CallableObjects {
  readonly env: Env;

  constructor(env: Env) {
    this.env = env;
  }

  channel<Answer>(name: string, call: (object: ChannelCalls) => Promise<Answer>): MadeCall<Answer> {
    return on(this.env.CHANNELS.getByName(name), call);
  }

  gateway<Answer>(name: string, call: (object: GatewayCalls) => Promise<Answer>): MadeCall<Answer> {
    return on(this.env.GATEWAYS.getByName(name), call);
  }

  home<Answer>(
    name: string,
    call: (object: HomeCalls & DirectoryCalls) => Promise<Answer>,
  ): MadeCall<Answer> {
    return on(this.env.USERS.getByName(name), call);
  }

  holder<Answer>(
    holder: string,
    call: (object: SessionCalls) => Promise<Answer>,
  ): MadeCall<Answer> | undefined {
    const node = parseNodeName(holder);
    if (node === undefined) return undefined;
    return node.kind === "channel" ? this.channel(node.name, call) : this.gateway(node.name, call);
  }
}

function on<Stub extends CalledObject, Answer>(
  object: Stub,
  call: (object: Stub) => Promise<Answer>,
): MadeCall<Answer> {
  return { object, answer: call(object) };
}

const makers: Makers = {
  deliver: (objects, to, request) => objects.gateway(to, (object) => object.deliver(...request)),
  presentOnGateway: (objects, to, request) =>
    objects.gateway(to, (object) => object.present(...request)),
  info: (objects, to, request) => objects.gateway(to, (object) => object.info(...request)),
  channels: (objects, to, request) => objects.gateway(to, (object) => object.channels(...request)),
  ask: (objects, to, request) =>
    objects.channel(to, (object) =>
      withDescriptors<RelayReplies>(objects.env, () => object.ask(...request)),
    ),
  present: (objects, to, request) => objects.channel(to, (object) => object.present(...request)),
  ownSubscribers: (objects, to, request) =>
    objects.channel(to, (object) => object.ownSubscribers(...request)),
  carryOut: (objects, to, request) => objects.holder(to, (object) => object.carryOut(...request)),
  clientsOf: (objects, to, request) => objects.holder(to, (object) => object.clientsOf(...request)),
  connections: (objects, to, request) =>
    objects.holder(to, (object) => object.connections(...request)),
  heldOf: (objects, to, request) => objects.holder(to, (object) => object.heldOf(...request)),
  online: (objects, to, request) => objects.holder(to, (object) => object.online(...request)),
  register: (objects, to, request) => objects.home(to, (object) => object.register(...request)),
  admit: (objects, to, request) => objects.home(to, (object) => object.admit(...request)),
  ended: (objects, to, request) => objects.home(to, (object) => object.ended(...request)),
  list: (objects, to, request) => objects.home(to, (object) => object.list(...request)),
  ...callers,
  report: ({ env: { METRICS } }, to, request) =>
    METRICS && on(METRICS.getByName(to), (object) => object.report(...request)),
};

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
