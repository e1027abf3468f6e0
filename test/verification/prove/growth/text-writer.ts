import { setTimeout as pause } from "node:timers/promises";
import type { Random } from "../../../support/random.ts";
import type { BackendCalls, RepeatedResult } from "../clients/backend-call.ts";
import { microseconds } from "../history/clock.ts";
import type { Recorder } from "../history/recorder.ts";
import { growingText, pieceOf } from "./growing-text.ts";

/**
 * A producer that writes one text after the other into a map, each as the value of a key of its own, piece by piece. It
 * repeats a piece of unknown outcome, and goes on from the length that it is told. Now and then it forgets how far it has come
 * and reads the text. It removes texts that ended long ago.
 */
export class TextWriter {
  readonly channel: string;
  readonly #process: string;
  readonly #calls: BackendCalls;
  readonly #recorder: Recorder;
  readonly #random: Random;
  /** Ended texts that may be removed, the oldest first. */
  readonly #ended: string[] = [];
  #texts = 0;
  /** Called when a piece was acknowledged that the server stores later. */
  onGrown: () => void = () => undefined;
  readonly #failures: string[];

  /** @param failures takes those that no server may cause, in sentences */
  constructor(
    process: string,
    channel: string,
    calls: BackendCalls,
    recorder: Recorder,
    random: Random,
    failures: string[],
  ) {
    this.#failures = failures;
    this.#process = process;
    this.channel = channel;
    this.#calls = calls;
    this.#recorder = recorder;
    this.#random = random;
  }

  /** Writes a short text, in one piece. */
  async begin(): Promise<void> {
    const text = this.#newText(1);
    await this.#append(text, text.whole, true);
  }

  /** Writes texts until it is told to stop, and ends the one that it has begun. Never rejects. */
  async write(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#writeText(signal);
      const oldest = this.#ended.length > keptTexts ? this.#ended.shift() : undefined;
      if (oldest !== undefined) await this.#remove(oldest);
    }
  }

  async #writeText(signal: AbortSignal): Promise<void> {
    const text = this.#newText(this.#random.between(wordsMin, wordsMax));
    const { key, whole } = text;
    for (let isEnded = false; !isEnded;) {
      if (this.#random.chance(pauseShare)) await this.#pause(signal);
      if (this.#random.chance(forgetShare)) await this.#reread(text);
      // One that has to stop ends the text with what it has sent already.
      const end = signal.aborted ? text.sent : whole.length;
      if (end === 0) return;
      const piece = signal.aborted
        ? whole.slice(text.at, end)
        : pieceOf(whole, text.at, this.#random);
      const isLast = text.at + piece.length === end;
      const appended = await this.#append(text, piece, isLast);
      if (appended === "failed") return;
      isEnded = isLast && appended === "there";
    }
    if (this.#random.chance(lateShare)) await this.#append(text, " late", false);
    if (text.isCertain) this.#ended.push(key);
  }

  #newText(words: number): Writing {
    const key = `${this.#process}-${++this.#texts}`;
    const field = this.#random.chance(0.5) ? { field: textField } : {};
    const place = { channel: this.channel, key, ...field };
    return { key, place, whole: growingText(key, words), at: 0, sent: 0, isCertain: true };
  }

  /** Appends at where the producer is, and then knows where the text ends. */
  async #append(
    text: Writing,
    piece: string,
    final: boolean,
  ): Promise<"there" | "elsewhere" | "failed"> {
    const { key, place, at } = text;
    const end = at + piece.length;
    text.sent = Math.max(text.sent, end);
    const told = { process: this.#process, f: "append", channel: this.channel, key } as const;
    this.#recorder.record({
      ...told,
      type: "invoke",
      time: microseconds(),
      at,
      text: piece,
      final,
    });
    const called = await this.#repeat("map_append", { ...place, text: piece, at, final });
    const time = microseconds();
    if (called.outcome !== "result") {
      this.#recorder.record({
        ...told,
        type: called.outcome === "refused" ? "fail" : "info",
        time,
      });
      return "failed";
    }
    const { length = 0, epoch = "", suppress_reason: refused }: Appended = called.result;
    // A first attempt that comes late may begin a text that was removed meanwhile.
    if (at === 0 && called.attempts > 1) text.isCertain = false;
    const answer = refused === undefined ? { epoch } : { refused };
    this.#recorder.record({ ...told, type: "ok", time, length, ...answer });
    if (refused !== undefined && refused !== "length_mismatch") return "failed";
    text.at = refused === undefined ? end : length;
    if (refused === undefined && at > 0 && !final) this.onGrown();
    if (text.at > text.sent) return "failed";
    return refused === undefined ? "there" : "elsewhere";
  }

  /** What a producer does that comes in place of another one. */
  async #reread(text: Writing): Promise<void> {
    const asked = microseconds();
    const { key } = text;
    const channel = this.channel;
    const called = await this.#calls.call("map_read_state", { channel, key });
    if (called.outcome !== "result") return;
    const { epoch = "", entries = [] }: ReadState = called.result;
    const texts = entries.map(({ data }) => ({ key, text: parseText(data) }));
    const read = { process: this.#process, type: "ok", f: "text-read", channel } as const;
    this.#recorder.record({ ...read, time: microseconds(), asked, epoch, texts });
    text.at = Math.min(text.sent, texts[0]?.text.length ?? 0);
  }

  async #remove(key: string): Promise<void> {
    const channel = this.channel;
    const told = { process: this.#process, f: "text-remove", channel, key } as const;
    this.#recorder.record({ ...told, type: "invoke", time: microseconds() });
    const command = { channel, key, idempotency_key: `remove ${key}` };
    const called = await this.#repeat("map_remove", command);
    const time = microseconds();
    if (called.outcome === "result") {
      const { epoch = "", offset }: Removed = called.result;
      const place = offset === undefined ? {} : { epoch, offset };
      this.#recorder.record({ ...told, type: "ok", time, ...place });
    } else
      this.#recorder.record({
        ...told,
        type: called.outcome === "refused" ? "fail" : "info",
        time,
      });
  }

  /** Calls until there is an answer, or for a minute. */
  async #repeat(method: string, command: object): Promise<RepeatedResult> {
    const called = await this.#calls.repeat(method, command, this.#random, giveUpAfterMs);
    if (called.outcome === "wrong") this.#failures.push(`${method}: ${called.problem}`);
    return called;
  }

  /** Waits; ends early when the producer has to stop. */
  async #pause(signal: AbortSignal): Promise<void> {
    const ms = this.#random.between(pauseMinMs, pauseMaxMs);
    await pause(ms, undefined, { signal }).catch(() => undefined);
  }
}

/** The text in a value, which is a text or an object with one; whatever else is there is shown as JSON. */
export function parseText(data: unknown): string {
  if (typeof data === "string") return data;
  const { [textField]: text }: { readonly text?: unknown } = Object(data);
  return typeof text === "string" ? text : JSON.stringify([data]);
}

/** A text that is being written. */
interface Writing {
  readonly key: string;
  /** What each append names. */
  readonly place: object;
  readonly whole: string;
  /** Where the next piece begins. */
  at: number;
  /** How much was sent so far. */
  sent: number;
  /** Whether no attempt can come late that would begin the text anew. */
  isCertain: boolean;
}

/** The results of `map_append`, `map_remove` and `map_read_state`. */
interface Appended {
  readonly length?: number;
  readonly epoch?: string;
  readonly suppress_reason?: string;
}

interface Removed {
  readonly epoch?: string;
  readonly offset?: number;
}

export interface ReadState {
  readonly epoch?: string;
  readonly entries?: readonly { readonly key: string; readonly data: unknown }[];
}

/** The member of those values that are objects. */
const textField = "text";
const wordsMin = 30;
const wordsMax = 200;
/** Pieces before which the producer pauses; the others follow each other at once. */
const pauseShare = 0.8;
const pauseMinMs = 30;
const pauseMaxMs = 160;
const forgetShare = 0.01;
/** Texts after whose end the producer tries to append once more. */
const lateShare = 0.3;
/** Ended texts of a producer that are kept. */
const keptTexts = 3;
const giveUpAfterMs = 60_000;
