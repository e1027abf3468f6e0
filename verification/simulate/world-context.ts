import type { ChannelAnswers, ChannelCommand } from "../../src/contract/channel-call.ts";
import type { Config } from "../../src/config/config.ts";
import type { RelayBatch, RelayBatchReply } from "../../src/contract/relay-batch.ts";
import type {
  RelayReplies,
  GatewayPresence,
  ChannelPresenceReply,
  RelayRequest,
} from "../../src/contract/relay-request.ts";
import type { EventLog } from "./event-log.ts";
import type { Database } from "./database.ts";
import type { PublicationLog } from "./publication-log.ts";
import type { Network } from "./network.ts";
import type { Timeline } from "./timeline.ts";

/** Takes an answer; undefined when the object that had to give it crashed. */
export type Done<Answer> = (answer: Answer | undefined) => void;

/** What a channel's object can be called for. */
export interface ChannelCalls {
  execute(commands: readonly ChannelCommand[], answer: Done<ChannelAnswers>): void;
  ask(gateway: string, requests: readonly RelayRequest[], answer: Done<RelayReplies>): void;
  present(answer: Done<ChannelPresenceReply>): void;
}

/** What a gateway can be called for. */
export interface GatewayCalls {
  deliver(batch: RelayBatch, answer: Done<RelayBatchReply>): void;
  present(channel: string, answer: Done<GatewayPresence>): void;
}

/** What everything in a world has around it. */
export interface WorldContext {
  readonly config: Config;
  readonly timeline: Timeline;
  readonly network: Network;
  readonly publicationLog: PublicationLog;
  readonly eventLog: EventLog;
  /** How long the frames of one socket are under way, ms. */
  readonly latency: (socket: string) => () => number;
  /** How long writes take to be durable, ms; for one object. */
  readonly commits: (object: string) => () => number;
  readonly database: () => Database;
  channel(name: string): ChannelCalls;
  gateway(name: string): GatewayCalls;
}
