import type { PublicationRequest } from "../../src/contract/channel-call.ts";
import type { PublicationObserver } from "../../src/channel/channel-setup.ts";
import type { ChannelCounts } from "../../src/channel/channel-outcomes.ts";
import { Channel } from "../../src/channel/channel.ts";
import type { SubscribeOptions } from "../../src/channel/channel-outcomes.ts";
import type { ChannelPart } from "../../src/channel/channel-part.ts";
import { featuredChannels } from "../../src/features/index.ts";
import type { FrameObserver } from "../../src/hub/hub.ts";
import type { Sql } from "../../src/sql.ts";
import type { ChannelOptions, ClientConfig } from "../../src/config/config.ts";
import { type JsonText, parseJsonText } from "../../src/protocol/json/text.ts";
import type { StreamPosition } from "../../src/protocol/publication.ts";
import { configured } from "../support/configured.ts";
import { textOf } from "../support/text-of.ts";

/** The options of a channel that a test sets; the others have their defaults. */
export interface Opening {
  readonly options?: Partial<ChannelOptions>;
  readonly client?: Partial<ClientConfig>;
  readonly newEpoch?: () => string;
  /** The start of the instance; by default the millisecond after anything stored. */
  readonly instance?: number;
  readonly nowMs?: number;
  /** Parts beside those of the features. */
  readonly parts?: readonly ChannelPart[];
  /** Remembers the frames; absent: nothing does. */
  readonly frames?: FrameObserver;
  /** Remembers the publications; absent: nothing does. */
  readonly publications?: PublicationObserver;
  /** Absent: nothing is counted. */
  readonly counts?: ChannelCounts;
}

/** A history of five publications for an hour. */
export const withHistory: Partial<ChannelOptions> = { historySize: 5, historyTtlMs: 3_600_000 };

/** Opens a channel on a storage that may hold the state of an earlier channel. Epochs are new each time by default. */
export function openChannel(sql: Sql, opening: Opening = {}): Channel {
  const config = configured();
  const { client, channel } = config;
  const features = featuredChannels(config);
  return new Channel({
    name: "room",
    options: { ...channel.withoutNamespace, ...opening.options },
    client: { ...client, ...opening.client },
    sql,
    newEpoch: opening.newEpoch ?? nextEpoch,
    instance: opening.instance ?? 0,
    nowMs: opening.nowMs ?? 0,
    features: {
      ...features,
      partsOf: (...made) => [...features.partsOf(...made), ...(opening.parts ?? [])],
    },
    ...(opening.frames && { frames: opening.frames }),
    ...(opening.publications && { publications: opening.publications }),
    ...(opening.counts && { counts: opening.counts }),
  });
}

/** Wants publications from now on, with or without a position. */
export const unpositioned: SubscribeOptions = { positioned: false, mode: "stream", orFail: false };
export const positioned: SubscribeOptions = { ...unpositioned, positioned: true };

/** A request to publish this JSON. */
export function publishing(
  data: string | number,
  more: Partial<Omit<PublicationRequest, "data">> = {},
): PublicationRequest & { readonly data: JsonText } {
  const json = parseJsonText(String(data));
  if (json === undefined) throw new Error(`not JSON: ${data}`);
  return {
    data: json,
    skipHistory: false,
    idempotencyKey: "",
    version: 0n,
    versionEpoch: "",
    delta: false,
    ...more,
  };
}

/** Publishes the numbers from `first` to `last`, one after the other. */
export function publishNumbers(channel: Channel, first: number, last: number, nowMs = 0): void {
  for (let data = first; data <= last; data++) channel.publish(publishing(data), undefined, nowMs);
}

/** Everything that can be read, as data, oldest first. */
export function readable(channel: Channel, nowMs = 0): string[] {
  const outcome = channel.history({ limit: -1, reverse: false }, nowMs);
  if (outcome.outcome !== "history") throw new Error(`history is ${outcome.outcome}`);
  return outcome.publications.map(({ data }) => textOf(data));
}

/** The top of the stream. */
export function positionOf(channel: Channel, nowMs = 0): StreamPosition {
  const outcome = channel.history({ limit: 0, reverse: false }, nowMs);
  if (outcome.outcome !== "history") throw new Error(`history is ${outcome.outcome}`);
  return outcome.position;
}

/** Ends an event as an object does, and gives when the channel next has something to delete. */
export function dueAfterEvent(channel: Channel, nowMs: number): number | undefined {
  channel.noteHolders(nowMs);
  return channel.cleanupDueAtMs(nowMs);
}

let epochs = 0;

function nextEpoch(): string {
  epochs++;
  return `epoch${epochs}`;
}
