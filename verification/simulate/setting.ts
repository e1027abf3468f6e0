import type { ChannelAnswers, ChannelCommand } from "../../src/contract/channel-call.ts";
import type { Config } from "../../src/config/config.ts";
import type { RelayBatch, RelayBatchReply } from "../../src/contract/relay-batch.ts";
import type {
  RelayReplies,
  GatewayPresence,
  ChannelPresenceReply,
  RelayRequest,
} from "../../src/contract/relay-request.ts";
import type { Chronicle } from "./chronicle.ts";
import type { Database } from "./database.ts";
import type { Ledger } from "./ledger.ts";
import type { Network } from "./network.ts";
import type { Timeline } from "./timeline.ts";

/** Takes an answer; undefined when the object that had to give it crashed. */
export type Answering<Answer> = (answer: Answer | undefined) => void;

/** What a channel's object can be called for. */
export interface ChannelCalls {
  execute(commands: readonly ChannelCommand[], answer: Answering<ChannelAnswers>): void;
  ask(gateway: string, questions: readonly RelayRequest[], answer: Answering<RelayReplies>): void;
  present(answer: Answering<ChannelPresenceReply>): void;
}

/** What a gateway can be called for. */
export interface GatewayCalls {
  deliver(batch: RelayBatch, answer: Answering<RelayBatchReply>): void;
  present(channel: string, answer: Answering<GatewayPresence>): void;
}

/** What everything in a world has around it. */
export interface Setting {
  readonly config: Config;
  readonly timeline: Timeline;
  readonly network: Network;
  readonly ledger: Ledger;
  readonly chronicle: Chronicle;
  /** How long the frames of one socket are under way, ms. */
  readonly latency: (socket: string) => () => number;
  /** How long writes take to be durable, ms; for one object. */
  readonly commits: (object: string) => () => number;
  readonly database: () => Database;
  channel(name: string): ChannelCalls;
  gateway(name: string): GatewayCalls;
}
