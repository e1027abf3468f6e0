import type { HeldConnections } from "../contract/connection-state.ts";
import type {
  ChannelsQuery,
  GatewayChannels,
  GatewayInfo,
  OwnSubscribers,
} from "../contract/listing.ts";
import type { MetricsReport } from "../contract/metrics-report.ts";
import type { PollBatch, PollBatchReply } from "../contract/poll-batch.ts";
import type { PresenceKind, PresenceTold, PresenceToldReply } from "../contract/presence-call.ts";
import type { RelayBatch, RelayBatchReply } from "../contract/relay-batch.ts";
import type {
  ChannelPresenceReply,
  GatewayPresence,
  RelayReplies,
  RelayRequest,
} from "../contract/relay-request.ts";
import type {
  CarriedOut,
  NumberedOrder,
  Registered,
  SlotAnswer,
  UserConnection,
} from "../contract/user-order.ts";
import type { LeftUsers, OnlineUsers } from "../contract/user-status.ts";

/**
 * The calls that objects make to each other: what each takes and gives, and whom it goes to. The called side is in
 * `src/contract/object-calls.ts`.
 */
export interface ObjectCalls {
  // To a gateway, by its name.
  readonly deliver: Call<RelayBatch, RelayBatchReply>;
  readonly polled: Call<PollBatch, PollBatchReply>;
  readonly presentOnGateway: Call<
    { readonly channel: string; readonly shown: boolean },
    GatewayPresence
  >;
  readonly info: Call<undefined, GatewayInfo>;
  readonly channels: Call<ChannelsQuery, GatewayChannels>;
  // To the object of a channel.
  readonly ask: Call<
    {
      readonly gateway: string;
      readonly requests: readonly RelayRequest[];
      /** Whether the gateway reports what the object has counted together with its own (rule J7). */
      readonly carries: boolean;
    },
    RelayReplies
  >;
  /** The request is the kind of the presence map that asks; undefined for those that presence lists. */
  readonly present: Call<PresenceKind | undefined, ChannelPresenceReply>;
  readonly presenceTold: Call<PresenceTold, PresenceToldReply>;
  readonly ownSubscribers: Call<undefined, OwnSubscribers>;
  // To an object that holds connections, by its node.
  readonly carryOut: Call<
    { readonly user: string; readonly orders: readonly NumberedOrder[] },
    CarriedOut
  >;
  readonly clientsOf: Call<readonly string[], readonly string[]>;
  readonly connections: Call<string, HeldConnections>;
  readonly online: Call<readonly string[], OnlineUsers>;
  // To the home of a user or a token, by its name.
  readonly register: Call<
    {
      readonly holder: string;
      readonly users: readonly string[];
      readonly ends: readonly number[];
    },
    Registered
  >;
  readonly admit: Call<
    {
      readonly holder: string;
      readonly connections: readonly UserConnection[];
      readonly limit: number;
      readonly single: boolean;
    },
    SlotAnswer
  >;
  readonly ended: Call<
    { readonly users: readonly string[]; readonly left: LeftUsers | undefined },
    undefined
  >;
  /** To a shard of the directory. The request is the caller's node. */
  readonly list: Call<string, undefined>;
  /** To an object that collects metrics. */
  readonly report: Call<MetricsReport, undefined>;
}

interface Call<Request, Answer> {
  readonly request: Request;
  readonly answer: Answer;
}

export type CallName = keyof ObjectCalls;
export type CallRequest<Name extends CallName> = ObjectCalls[Name]["request"];
export type CallAnswer<Name extends CallName> = ObjectCalls[Name]["answer"];

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
