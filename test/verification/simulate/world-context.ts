import type { Config } from "../../../src/config/config.ts";
import type { FanOutLimits } from "../../../src/hub/hub.ts";
import type { GrowthBackend } from "./growth-backend.ts";
import type { GrowthRules } from "./growth-rules.ts";
import type { EventLog } from "./event-log.ts";
import type { BankBook } from "./bank/bank-book.ts";
import type { CursorRules } from "./cursor-rules.ts";
import type { Database } from "./database.ts";
import type { PublicationLog } from "./publication-log.ts";
import type { Network } from "./network.ts";
import type { PollBackend } from "./poll-backend.ts";
import type { PresenceRules } from "./presence-rules.ts";
import type { ChangeRules } from "./changes/change-rules.ts";
import type { Removals } from "./removals.ts";
import type { SimulatedChannel } from "./simulated-channel.ts";
import type { SimulatedGateway } from "./simulated-gateway.ts";
import type { SimulatedHome } from "./simulated-home.ts";
import type { Timeline } from "./timeline.ts";
import type { UnseenRules } from "./unseen-rules.ts";
import type { UserRules } from "./user-rules.ts";

/** Takes an answer; undefined when the target crashed. */
export type Done<Answer> = (answer: Answer | undefined) => void;

/** What is promised to the users of a world in which they have homes. */
export interface WorldUsers {
  readonly rules: UserRules;
}

/** What all parts of a world share. */
export interface WorldContext {
  readonly config: Config;
  readonly timeline: Timeline;
  readonly network: Network;
  readonly publicationLog: PublicationLog;
  readonly eventLog: EventLog;
  readonly removals: Removals;
  readonly changes: ChangeRules;
  /** The backend of shared polls. */
  readonly polls: PollBackend;
  /** What users may be told of their marks. */
  readonly cursors: CursorRules;
  /** What a backend may be told of users who haven't seen something. */
  readonly unseen: UnseenRules;
  /** What may be shown of values that grow. */
  readonly growth: GrowthRules;
  /** Their producers. */
  readonly producers: () => GrowthBackend;
  /** What those who ask banks know. */
  readonly banks: BankBook;
  /** What presence maps may do. */
  readonly presence: PresenceRules;
  /** How long the frames of one socket take, ms. */
  readonly latency: (socket: string) => () => number;
  /** How long the writes of one object take to become durable, ms. */
  readonly commits: (object: string) => () => number;
  /** How long a turn of one object's event loop takes, ms: between two slices of a frame anything may happen. */
  readonly turns: (object: string) => () => number;
  /** How long one object waits for the time of its alarm, and again until it is told, ms. */
  readonly alarmReads: (object: string) => () => number;
  /** How large the slices of one object's frames are, and how much is collected behind them. */
  readonly fanOut: (object: string) => FanOutLimits;
  readonly database: () => Database;
  /** Absent in a world in which users have no homes. */
  readonly users?: WorldUsers;
  channel(name: string): SimulatedChannel;
  gateway(name: string): SimulatedGateway;
  /** @param name as `homeName` or `shardOf` gives it */
  home(name: string): SimulatedHome;
}
