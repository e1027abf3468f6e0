import type { Channel } from "../../../../../src/channel/channel.ts";
import type { MapAppendRequest } from "../../../../../src/features/maps/map-call.ts";
import type { ChannelMap } from "../../../../../src/features/maps/channel-map.ts";
import type { MapOptions } from "../../../../../src/features/maps/config.ts";
import type { AppendOutcome } from "../../../../../src/features/maps/growth/map-growth.ts";
import type { Codec } from "../../../../../src/protocol/codec.ts";
import { jsonCodec } from "../../../../../src/protocol/json/codec.ts";
import { payloadJson } from "../../../../../src/protocol/payload.ts";
import type { Sql } from "../../../../../src/sql.ts";
import { positioned } from "../../../../contract/open-channel.ts";
import { openMap } from "../../../../contract/open-map.ts";
import { sendAll } from "../../../../support/send-all.ts";
import { ClientDecoder, wirePublications } from "../../../hub/client-decoder.ts";
import { RecordingSubscriber } from "../../../hub/recording-subscriber.ts";

/** A map with values that grow, whose time the test sets. */
export interface GrowingMap {
  readonly channel: Channel;
  readonly map: ChannelMap;
  append(text: string, more?: Partial<MapAppendRequest>): AppendOutcome;
  /** Appends several texts, of which what is told shares a frame. */
  appendTogether(...texts: readonly string[]): void;
  /** Lets time pass, and ends the windows that are over. */
  pass(ms: number): void;
  /** A client that reads the value of the key now, and then gets what follows. */
  reader(codec?: Codec, delta?: boolean): GrowingReader;
  /** The value of the key, as it is stored. */
  stored(): unknown;
  nowMs: number;
}

/** A client that follows the key. */
interface GrowingReader {
  readonly subscriber: RecordingSubscriber;
  /** The value that it has. */
  value(): unknown;
  /** The publications that it got. */
  count(): number;
}

export const growingKey = "answer";

export function growingMap(sql: Sql, options: Partial<MapOptions> = {}): GrowingMap {
  const { channel, map } = openMap(sql, options);
  const growing: GrowingMap = {
    channel,
    map,
    nowMs: 0,
    append(text, more = {}) {
      const request = { key: growingKey, text, final: false, idempotencyKey: "", ...more };
      const outcome = map.append(request, undefined, growing.nowMs);
      sendAll(channel.hub);
      return outcome;
    },
    appendTogether(...texts) {
      for (const text of texts) {
        const request = { key: growingKey, text, final: false, idempotencyKey: "" };
        map.append(request, undefined, growing.nowMs);
      }
      sendAll(channel.hub);
    },
    pass(ms) {
      growing.nowMs += ms;
      map.growth.endWindows(growing.nowMs);
      sendAll(channel.hub);
    },
    stored: () => storedValue(map),
    reader(codec = jsonCodec, delta = true) {
      const had = map.entry(growingKey)?.data;
      const subscriber = new RecordingSubscriber("reader", { codec, delta });
      channel.subscribe(subscriber, positioned, growing.nowMs);
      return {
        subscriber,
        value() {
          const decoder = new ClientDecoder(codec, delta, had);
          const last = decoder.decode(subscriber.frames).at(-1);
          if (last === undefined) return had && JSON.parse(payloadJson(had));
          const isHex = codec.deltaForm === "bytes";
          return JSON.parse(isHex ? Buffer.from(last, "hex").toString() : last);
        },
        count: () => subscriber.frames.flatMap((frame) => wirePublications(codec, frame)).length,
      };
    },
  };
  return growing;
}

/** How exactly the ends of windows are met while {@link appendPieces} lets time pass, in ms. */
const tickMs = 25;

/**
 * Appends a piece again and again, the last time as the end of the text, and lets time pass after each.
 *
 * @returns how many windows have ended with something to store
 */
export function appendPieces(
  growing: GrowingMap,
  piece: string,
  pieces: number,
  everyMs: number,
): number {
  const top = () => growing.channel.top?.offset ?? 0;
  let windows = 0;
  for (let number = 0; number < pieces; number++) {
    growing.append(piece, { at: number * piece.length, final: number === pieces - 1 });
    const before = top();
    for (let passedMs = 0; passedMs < everyMs; passedMs += tickMs) growing.pass(tickMs);
    windows += top() - before;
  }
  return windows;
}

function storedValue(map: ChannelMap): unknown {
  const data = map.entry(growingKey)?.data;
  return data === undefined ? undefined : JSON.parse(payloadJson(data));
}
