import type {
  AddedChannelCalls,
  AddedGatewayCalls,
  AddedHomeCalls,
  AddedObjectCalls,
  ChannelCalls,
  DirectoryCalls,
  GatewayCalls,
  HomeCalls,
  SessionCalls,
} from "../contract/object-calls.ts";

/**
 * The calls that objects make to each other, by the kind of object that they go to: the name that `to` of a call stands
 * for. A call takes and gives what the called side does.
 */
interface ObjectCalls
  extends
    Pick<GatewayCalls, "deliver" | "info" | "channels" | keyof AddedGatewayCalls>,
    Pick<ChannelCalls, "ask" | "execute" | "present" | "ownSubscribers" | keyof AddedChannelCalls>,
    Pick<SessionCalls, "carryOut" | "clientsOf" | "connections" | "heldOf" | "online">,
    Pick<HomeCalls, "register" | "admit" | "ended">,
    Pick<DirectoryCalls, "list">,
    AddedHomeCalls,
    AddedObjectCalls {
  /** {@link GatewayCalls.present}: the other one goes to the object of a channel. */
  readonly presentOnGateway: GatewayCalls["present"];
}

/** The name of a call. */
export type CallName = keyof ObjectCalls;
/** What a call takes. */
export type CallRequest<Name extends CallName> = Readonly<Parameters<ObjectCalls[Name]>>;
/** What a call gives. */
export type CallAnswer<Name extends CallName> = Awaited<ReturnType<ObjectCalls[Name]>>;

/** Makes a call to the object of a name. */
export type MakeCall<Name extends CallName> = (
  objects: CallableObjects,
  to: string,
  request: CallRequest<Name>,
) => MadeCall<CallAnswer<Name>>;

/** The objects of channels and gateways, and the homes, by their names. */
export interface CallableObjects {
  channel<Answer>(name: string, call: (object: ChannelCalls) => Promise<Answer>): MadeCall<Answer>;
  gateway<Answer>(name: string, call: (object: GatewayCalls) => Promise<Answer>): MadeCall<Answer>;
  home<Answer>(name: string, call: (object: HomeCalls) => Promise<Answer>): MadeCall<Answer>;
}

/** A call under way, and the object that it goes to. */
export interface MadeCall<Answer> {
  readonly object: { readonly id: { toString(): string } };
  readonly answer: Promise<Answer>;
}

/**
 * The outcome of a call. If it failed, or took longer than the caller waits, it is unknown whether it was carried out.
 */
export type CallReply<Name extends CallName> =
  | { readonly outcome: "answered"; readonly answer: CallAnswer<Name> }
  /** `overloaded`: the object, or the whole account. The call must not be repeated at once. */
  | { readonly outcome: "failed"; readonly overloaded: boolean };

/** The answer of a call; undefined if it failed. */
export function answerOf<Name extends CallName>(
  reply: CallReply<Name>,
): CallAnswer<Name> | undefined {
  return reply.outcome === "answered" ? reply.answer : undefined;
}

/** The answer of a call; "failed" if it is unknown whether it was carried out, busy if it wasn't. */
export function answerOrFailure<Name extends CallName>(
  reply: CallReply<Name>,
): CallAnswer<Name> | { readonly outcome: "busy" } | "failed" {
  if (reply.outcome === "answered") return reply.answer;
  return reply.overloaded ? { outcome: "busy" } : "failed";
}
