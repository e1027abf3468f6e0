import type { ChannelAnswers, ChannelOperation } from "../../../src/contract/channel-call.ts";
import type { Config } from "../../../src/config/config.ts";
import type { RelayBatch, RelayBatchReply } from "../../../src/contract/relay-batch.ts";
import type {
  RelayReplies,
  GatewayPresence,
  ChannelPresenceReply,
  RelayRequest,
} from "../../../src/contract/relay-request.ts";
import type {
  CarriedOut,
  NumberedOrder,
  Ordered,
  Registered,
  UserOrder,
} from "../../../src/contract/user-order.ts";
import type {
  PresenceKind,
  PresenceTold,
  PresenceToldReply,
} from "../../../src/contract/presence-call.ts";
import type { PollBatch, PollBatchReply } from "../../../src/contract/poll-batch.ts";
import type { FanOutLimits } from "../../../src/hub/hub.ts";
import type { EventLog } from "./event-log.ts";
import type { Database } from "./database.ts";
import type { PublicationLog } from "./publication-log.ts";
import type { Network } from "./network.ts";
import type { PollBackend } from "./poll-backend.ts";
import type { PresenceRules } from "./presence-rules.ts";
import type { Timeline } from "./timeline.ts";
import type { UserRules } from "./user-rules.ts";

/** Takes an answer; undefined when the target crashed. */
export type Done<Answer> = (answer: Answer | undefined) => void;

/** The calls that each object takes that holds clients' sockets. */
export interface HolderCalls {
  /** A home's orders for the connections of a user. */
  carryOut(user: string, orders: readonly NumberedOrder[], answer: Done<CarriedOut>): void;
}

/** The calls that a user's home takes. */
export interface HomeCalls {
  /** @param holder the node of the object that registers the users */
  register(holder: string, users: readonly string[], answer: Done<Registered>): void;
  /** @param taken called when the order is durable, before any object is called with it */
  order(user: string, order: UserOrder, taken: () => void, answer: Done<Ordered>): void;
}

/** The homes of a world in which users have homes. */
export interface WorldUsers {
  readonly rules: UserRules;
  /** @param name as `homeName` gives it */
  home(name: string): HomeCalls;
}

/** The calls that a channel object takes. */
export interface ChannelCalls extends HolderCalls {
  execute(commands: readonly ChannelOperation[], answer: Done<ChannelAnswers>): void;
  ask(gateway: string, requests: readonly RelayRequest[], answer: Done<RelayReplies>): void;
  present(answer: Done<ChannelPresenceReply>): void;
  /** Lists those whom a presence map shows. */
  shown(kind: PresenceKind, answer: Done<ChannelPresenceReply>): void;
  /** Tells a presence map who has come and gone. */
  presenceTold(told: PresenceTold, answer: Done<PresenceToldReply>): void;
}

/** The calls that a gateway takes. */
export interface GatewayCalls extends HolderCalls {
  deliver(batch: RelayBatch, answer: Done<RelayBatchReply>): void;
  /** @param shown whether those are meant that a presence map shows */
  present(channel: string, shown: boolean, answer: Done<GatewayPresence>): void;
  polled(batch: PollBatch, answer: Done<PollBatchReply>): void;
}

/** What all parts of a world share. */
export interface WorldContext {
  readonly config: Config;
  readonly timeline: Timeline;
  readonly network: Network;
  readonly publicationLog: PublicationLog;
  readonly eventLog: EventLog;
  /** The backend of shared polls. */
  readonly polls: PollBackend;
  /** What presence maps may do. */
  readonly presence: PresenceRules;
  /** How long the frames of one socket take, ms. */
  readonly latency: (socket: string) => () => number;
  /** How long the writes of one object take to become durable, ms. */
  readonly commits: (object: string) => () => number;
  /** How long a turn of one object's event loop takes, ms: between two slices of a frame anything may happen. */
  readonly turns: (object: string) => () => number;
  /** How large the slices of one object's frames are, and how much is collected behind them. */
  readonly fanOut: (object: string) => FanOutLimits;
  readonly database: () => Database;
  /** Absent in a world in which users have no homes. */
  readonly users?: WorldUsers;
  channel(name: string): ChannelCalls;
  gateway(name: string): GatewayCalls;
}
