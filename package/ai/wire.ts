import type { UIMessage } from "ai";
import { type Chunk, chunksIn } from "./chunks.ts";

/**
 * What is on the channel of a chat, which is a map (docs/ai-chat.md). The key `m/<message>` has a message: its place among the
 * others, and what it is. The keys `c/<message>/<attempt>/<number>` have the chunks of an answer that is being written: texts
 * that grow, which together are lines of JSON.
 */
export type Entry =
  | { readonly place: number; readonly message: UIMessage }
  | {
      readonly place: number;
      readonly answer: AnswerState;
      /** How often the answer began anew: each time with another log. */
      readonly attempt: number;
      /**
       * All of a finished answer. Of one that is being written what was said before it went on with a tool's result, if anything
       * was. Absent for one that is too large for one value: it stays in its log.
       */
      readonly chunks?: readonly Chunk[];
      /** Whether a finished answer with chunks goes on in its log, because all of it is too large for one value. */
      readonly logged?: true;
    };

/** How an answer is. */
export type AnswerState = "running" | "done" | "stopped" | "failed";

/** The entry of an answer. */
export type AnswerEntry = Extract<Entry, { readonly answer: AnswerState }>;

/** The bounds of what is written to a chat's channel. */
export const chatLimits = {
  /**
   * UTF-16 units of a log that are in one value. The end of a window writes the value of a key whole, so that a longer one would
   * cost more, and have longer windows (docs/streaming-text.md).
   */
  logValueLength: 16_000,
  /** UTF-16 units of a finished answer as JSON that may be in one value. A longer one stays in its log. */
  finishedLength: 130_000,
  /** A producer that has nothing to say says that it is there so often, in ms. */
  aliveMs: 15_000,
  /** A producer that has nothing to say asks so often whether the answer was stopped, in ms. */
  lookMs: 2_000,
  /** A log that another producer has just written is read again after so long, in ms: the end of a window stores the rest. */
  readAgainMs: 300,
  /** So long a command that failed is repeated, in ms. */
  retryForMs: 120_000,
} as const;

export const messageKey = (id: string): string => `m/${id}`;
const logsPrefix = (id: string): string => `c/${id}/`;
const logPrefix = (id: string, attempt: number): string => `${logsPrefix(id)}${attempt}/`;
export const logKey = (id: string, attempt: number, number: number): string =>
  `${logPrefix(id, attempt)}${number}`;

/** Whether a message may have this ID: it is part of a key. */
export function isMessageId(id: string): boolean {
  return /^[\w.:~-]{1,200}$/.test(id);
}

/** The values of a chat's channel, by their keys. */
export type ChatValues = ReadonlyMap<string, unknown>;

export function parseEntry(value: unknown): Entry | undefined {
  if (typeof value !== "object" || value === null || !("place" in value)) return undefined;
  return Object(value);
}

/** Whether an entry is that of an answer which is being written. All others are whole. */
export function isRunning(
  entry: Entry | undefined,
): entry is AnswerEntry & { readonly answer: "running" } {
  return entry !== undefined && "answer" in entry && entry.answer === "running";
}

/** An entry of an answer; undefined if there is none, or one of another kind. */
export function answerEntry(values: ChatValues, id: string): AnswerEntry | undefined {
  const entry = parseEntry(values.get(messageKey(id)));
  return entry !== undefined && "answer" in entry ? entry : undefined;
}

/** The messages of a chat in their order, which is the same for everybody. */
export function entriesOf(values: ChatValues): readonly (readonly [id: string, entry: Entry])[] {
  const entries: (readonly [id: string, entry: Entry])[] = [];
  for (const [key, value] of values) {
    const entry = key.startsWith("m/") ? parseEntry(value) : undefined;
    if (entry !== undefined) entries.push([key.slice(2), entry]);
  }
  return entries.sort(
    ([id, one], [otherId, other]) => one.place - other.place || (id < otherId ? -1 : 1),
  );
}

/** The place behind all messages. */
export function nextPlace(values: ChatValues): number {
  const [, last] = entriesOf(values).at(-1) ?? [];
  return (last?.place ?? 0) + 1;
}

/** The values of an answer's log, in their order. */
export function logOf(values: ChatValues, id: string, attempt: number): readonly string[] {
  const log: string[] = [];
  for (;;) {
    const value = values.get(logKey(id, attempt, log.length));
    if (typeof value !== "string") return log;
    log.push(value);
  }
}

/** The keys of all logs of an answer, without that of an attempt if one is given. */
export function logKeysOf(values: ChatValues, id: string, without?: number): readonly string[] {
  const all = [...values.keys()].filter((key) => key.startsWith(logsPrefix(id)));
  if (without === undefined) return all;
  return all.filter((key) => !key.startsWith(logPrefix(id, without)));
}

/** What is known of an answer's chunks. */
export function chunksOf(values: ChatValues, id: string, entry: AnswerEntry): readonly Chunk[] {
  const { answer, attempt, chunks = [], logged } = entry;
  if (answer !== "running" && logged === undefined && chunks.length > 0) return chunks;
  return [...chunks, ...chunksIn(logOf(values, id, attempt).join(""))];
}
