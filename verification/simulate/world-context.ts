import type { ChannelAnswers, ChannelCommand } from "../../src/contract/channel-call.ts";
import type { Config } from "../../src/config/config.ts";
import type { RelayBatch, RelayBatchReply } from "../../src/contract/relay-batch.ts";
import type {
  RelayReplies,
  GatewayPresence,
  ChannelPresenceReply,
  RelayRequest,
} from "../../src/contract/relay-request.ts";
import type { FanOutLimits } from "../../src/hub/hub.ts";
import type { EventLog } from "./event-log.ts";
import type { Database } from "./database.ts";
import type { PublicationLog } from "./publication-log.ts";
import type { Network } from "./network.ts";
import type { Timeline } from "./timeline.ts";

/** Takes an answer; undefined when the target crashed. */
export type Done<Answer> = (answer: Answer | undefined) => void;

/** The calls that a channel object takes. */
export interface ChannelCalls {
  execute(commands: readonly ChannelCommand[], answer: Done<ChannelAnswers>): void;
  ask(gateway: string, requests: readonly RelayRequest[], answer: Done<RelayReplies>): void;
  present(answer: Done<ChannelPresenceReply>): void;
}

/** The calls that a gateway takes. */
export interface GatewayCalls {
  deliver(batch: RelayBatch, answer: Done<RelayBatchReply>): void;
  present(channel: string, answer: Done<GatewayPresence>): void;
}

/** What all parts of a world share. */
export interface WorldContext {
  readonly config: Config;
  readonly timeline: Timeline;
  readonly network: Network;
  readonly publicationLog: PublicationLog;
  readonly eventLog: EventLog;
  /** How long the frames of one socket take, ms. */
  readonly latency: (socket: string) => () => number;
  /** How long the writes of one object take to become durable, ms. */
  readonly commits: (object: string) => () => number;
  /** How long a turn of one object's event loop takes, ms: between two slices of a frame anything may happen. */
  readonly turns: (object: string) => () => number;
  /** How large the slices of one object's frames are, and how much is collected behind them. */
  readonly fanOut: (object: string) => FanOutLimits;
  readonly database: () => Database;
  channel(name: string): ChannelCalls;
  gateway(name: string): GatewayCalls;
}
