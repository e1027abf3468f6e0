import { utf8Fits, utf8Length } from "../../protocol/bytes.ts";
import { errorCodes } from "../../protocol/codes.ts";
import type { JsonText } from "../../protocol/json/text.ts";
import type { ClientInfo, Tags } from "../../protocol/publication.ts";
import { type JsonData, type JsonValue, jsonValue } from "../../protocol/wire-value.ts";
import { isKey } from "../maps/map-call.ts";
import { type ChannelCode, parseJson, parseTags } from "./channel-code.ts";
import type { ProcedureContext, ProcedurePublishOptions } from "./definition.ts";
import { overLimit, rejectionCodeMin, StepFailure, unacceptedData } from "./failure.ts";
import type { ChannelKeyStore } from "./key-table.ts";
import { procedureLimits } from "./limits.ts";
import { randomNumbers } from "./random.ts";
import type { ProcedureTimer } from "./timer-table.ts";

/** Who calls. */
export interface CodeCaller {
  readonly kind: "client" | "backend" | "timer";
  /** The client, as others are shown it; absent for a backend and a timer. */
  readonly info?: ClientInfo;
}

/** The channel, as its code sees it. */
export interface StepChannel {
  readonly name: string;
  readonly code: ChannelCode;
  readonly keys: ChannelKeyStore;
  readonly timers: ReadonlyMap<string, ProcedureTimer>;
  /** The offset of the newest publication; 0 without one. */
  readonly offset: number;
  /** Whether the channel is a map: its publications are the changes of its keys. */
  readonly isMap: boolean;
  /** Whether the namespace takes such data. */
  readonly accepts: (data: JsonText) => boolean;
  /** A random text, for the numbers of one call. */
  readonly seed: () => string;
  /** The most keys that the step changes. */
  readonly keysMax: number;
  /** The publications that come of the step beside its own. */
  readonly publications: number;
}

/** A publication of a step. */
interface StepPublication {
  readonly data: JsonText;
  readonly tags?: Tags;
}

/**
 * One call of the code of a channel, and everything that it calls. It reads what the channel has, and collects what is to be
 * changed: nothing has happened until its owner makes the changes.
 */
export class CallStep implements ProcedureContext {
  readonly nowMs: number;
  readonly user: string;
  readonly client: string;
  readonly isBackend: boolean;
  readonly isTimer: boolean;
  readonly offset: number;
  /** The changed keys, in the order in which they were changed first. */
  readonly changes = new Map<string, JsonText | undefined>();
  readonly publications: StepPublication[] = [];
  readonly timers = new Map<string, ProcedureTimer | undefined>();
  readonly #channel: StepChannel;
  readonly #info: ClientInfo | undefined;
  readonly #read = new Map<string, JsonText | undefined>();
  #bytes = 0;
  #depth = 0;
  #isOver = false;
  /** The first failure: the code may have caught it. */
  #failure: Error | undefined;
  #random: (() => number) | undefined;

  constructor(channel: StepChannel, { kind, info }: CodeCaller, nowMs: number) {
    this.#channel = channel;
    this.#info = info;
    this.nowMs = nowMs;
    this.user = info?.user ?? "";
    this.client = info?.client ?? "";
    this.isBackend = kind === "backend";
    this.isTimer = kind === "timer";
    this.offset = channel.offset;
  }

  /**
   * Runs the code.
   *
   * @throws what it throws, or the failure that it has caught
   */
  run<Result>(work: (ctx: ProcedureContext) => Result): Result {
    try {
      const result = work(this);
      if (this.#failure !== undefined) throw this.#failure;
      return result;
    } finally {
      this.#isOver = true;
    }
  }

  /** Runs a procedure. @throws as {@link run} does */
  runProcedure(name: string, args: JsonText | undefined): JsonText | undefined {
    return this.run(() => this.#run(name, args));
  }

  /** How many publications come of the step. */
  get publicationCount(): number {
    const own = this.#channel.isMap ? this.changes.size : this.publications.length;
    return own + this.#channel.publications;
  }

  get channel(): string {
    return this.#channel.name;
  }

  get info(): JsonValue | undefined {
    const text = this.#info?.connInfo;
    return text === undefined ? undefined : jsonValue(text);
  }

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows what the key holds
  get<Value = JsonValue>(key: string): Value | undefined {
    this.#check();
    const text = this.#valueOf(this.#checkKey(key));
    if (text === undefined) return undefined;
    const value: Value = JSON.parse(text);
    return value;
  }

  set(key: string, value: JsonData): void {
    this.#check();
    const text = this.#data(value, "the value of a key");
    if (this.#channel.isMap) this.#checkFormat(text);
    this.#change(this.#checkKey(key), text);
  }

  remove(key: string): void {
    this.#check();
    if (this.#valueOf(this.#checkKey(key)) === undefined) return;
    if (this.#stored(key) === undefined) this.changes.delete(key);
    else this.#change(key, undefined);
  }

  *keys(after = ""): Iterable<string> {
    const { keys } = this.#channel;
    const added = [...this.changes.keys()].filter((key) => this.#stored(key) === undefined);
    // Keys that are set while the cursor is open may be left out.
    const rest = added.filter((key) => isAfter(key, after)).sort((one, other) => order(one, other));
    let last = after;
    for (;;) {
      const page = keys.after(last, keysAtOnce);
      for (const key of page) {
        while (rest[0] !== undefined && isAfter(key, rest[0])) yield* this.#present(rest.shift());
        yield* this.#present(key);
        last = key;
      }
      if (page.length < keysAtOnce) break;
    }
    for (const key of rest) yield* this.#present(key);
  }

  *#present(key: string | undefined): Iterable<string> {
    this.#check();
    if (key !== undefined && this.#valueOf(key) !== undefined) yield key;
  }

  publish(data: JsonData, { tags }: ProcedurePublishOptions = {}): void {
    this.#check();
    const text = this.#data(data, "a publication");
    if (this.#channel.isMap)
      throw new TypeError("a map has no publications but the changes of its keys: set a key");
    this.#checkFormat(text);
    const { callPublicationsMax } = procedureLimits;
    if (this.publications.length >= callPublicationsMax)
      throw this.#fail(overLimit(`a call makes at most ${callPublicationsMax} publications`));
    this.#count(utf8Length(text));
    const own = tags === undefined ? undefined : parseTags(tags);
    this.publications.push({ data: text, ...(own !== undefined && { tags: own }) });
  }

  at(name: string, atMs: number, procedure: string, args?: JsonData): void {
    this.#check();
    const { timerAheadMsMax, timersMax, argsBytesMax } = procedureLimits;
    if (typeof name !== "string" || !Number.isFinite(atMs))
      throw new TypeError("a timer has a name, a time in ms since 1970, and a procedure");
    if (!this.#channel.code.procedures.has(procedure))
      throw new TypeError(`a timer calls a procedure that doesn't exist: ${procedure}`);
    this.#checkTimerName(name);
    if (atMs - this.nowMs > timerAheadMsMax)
      throw this.#fail(overLimit(`a timer calls at most ${timerAheadMsMax} ms from now`));
    const text = args === undefined ? undefined : parseJson(args, "the arguments of a timer");
    if (text !== undefined && !utf8Fits(text, argsBytesMax))
      throw this.#fail(overLimit(`the arguments of a timer have at most ${argsBytesMax} bytes`));
    const timer: ProcedureTimer = {
      atMs: Math.ceil(atMs),
      procedure,
      ...(text !== undefined && { args: text }),
      setMs: this.nowMs,
      tries: 0,
    };
    if (this.#timer(name) === undefined && this.#timerCount() >= timersMax)
      throw this.#fail(overLimit(`a channel has at most ${timersMax} timers`));
    this.timers.set(name, timer);
  }

  cancel(name: string): void {
    this.#check();
    if (this.#channel.timers.has(name)) this.timers.set(name, undefined);
    else this.timers.delete(name);
  }

  timer(name: string): number | undefined {
    this.#check();
    return this.#timer(name)?.atMs;
  }

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows what the procedure returns
  call<Result = JsonValue>(procedure: string, args?: JsonData): Result | undefined {
    this.#check();
    const { depthMax } = procedureLimits;
    if (this.#depth >= depthMax)
      throw this.#fail(overLimit(`procedures call each other ${depthMax} deep at most`));
    const given = args === undefined ? undefined : parseJson(args, "the arguments of a call");
    this.#depth++;
    try {
      const text = this.#run(procedure, given);
      if (text === undefined) return undefined;
      const result: Result = JSON.parse(text);
      return result;
    } catch (error) {
      throw this.#fail(error instanceof Error ? error : new Error("a procedure threw no error"));
    } finally {
      this.#depth--;
    }
  }

  reject(code: number, message: string): never {
    this.#check();
    const { messageBytesMax } = procedureLimits;
    if (!Number.isInteger(code) || code < rejectionCodeMin || code > rejectionCodeMax)
      throw new TypeError(`reject takes a code from ${rejectionCodeMin} to ${rejectionCodeMax}`);
    if (typeof message !== "string" || !utf8Fits(message, messageBytesMax))
      throw new TypeError(`reject takes a message of at most ${messageBytesMax} bytes`);
    throw this.#fail(new StepFailure("rejected", { code, message, temporary: false }));
  }

  random(): number {
    this.#check();
    this.#random ??= randomNumbers(this.#channel.seed());
    return this.#random();
  }

  #run(name: string, args: JsonText | undefined): JsonText | undefined {
    const procedure = this.#channel.code.procedures.get(name);
    if (procedure === undefined) throw new StepFailure("refused", errorCodes.methodNotFound);
    const result = procedure(this, args === undefined ? undefined : jsonValue(args));
    const { resultBytesMax } = procedureLimits;
    if (result !== undefined && !utf8Fits(result, resultBytesMax))
      throw overLimit(`a result has at most ${resultBytesMax} bytes`);
    return result;
  }

  #fail<Failure extends Error>(failure: Failure): Failure {
    this.#failure ??= failure;
    return failure;
  }

  #check(): void {
    if (this.#isOver)
      throw new Error(
        "the call is over: what is done in it has to be done before its function returns",
      );
  }

  #checkKey(key: string): string {
    if (typeof key !== "string") throw new TypeError("a key is a string");
    if (!isKey(key))
      throw this.#fail(
        new StepFailure("refused", {
          ...errorCodes.badRequest,
          message: `bad request: ${keyShape}`,
        }),
      );
    return key;
  }

  #checkTimerName(name: string): void {
    const { timerNameBytesMax } = procedureLimits;
    if (!utf8Fits(name, timerNameBytesMax) || !name.isWellFormed())
      throw this.#fail(overLimit(`the name of a timer has at most ${timerNameBytesMax} bytes`));
  }

  /** Data that a call wants to keep or to publish, as JSON. */
  #data(value: JsonData, what: string): JsonText {
    const text = parseJson(value, what);
    const { valueBytesMax } = procedureLimits;
    if (!utf8Fits(text, valueBytesMax))
      throw this.#fail(overLimit(`${what} has at most ${valueBytesMax} bytes`));
    return text;
  }

  #checkFormat(text: JsonText): void {
    if (!this.#channel.accepts(text)) throw unacceptedData();
  }

  #change(key: string, text: JsonText | undefined): void {
    const { keysMax } = this.#channel;
    if (!this.changes.has(key) && this.changes.size >= keysMax)
      throw this.#fail(overLimit(`a call changes at most ${keysMax} keys`));
    this.#count(utf8Length(key) + (text === undefined ? 0 : utf8Length(text)));
    this.changes.set(key, text);
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    const { callBytesMax } = procedureLimits;
    const most = Math.max(callBytesMax, this.#channel.keysMax * bytesOfKey);
    if (this.#bytes > most) throw this.#fail(overLimit(`a call writes at most ${most} bytes`));
  }

  #valueOf(key: string): JsonText | undefined {
    return this.changes.has(key) ? this.changes.get(key) : this.#stored(key);
  }

  #stored(key: string): JsonText | undefined {
    const known = this.#read.get(key);
    if (known !== undefined || this.#read.has(key)) return known;
    const stored = this.#channel.keys.read(key);
    this.#read.set(key, stored);
    return stored;
  }

  #timer(name: string): ProcedureTimer | undefined {
    return this.timers.has(name) ? this.timers.get(name) : this.#channel.timers.get(name);
  }

  #timerCount(): number {
    let count = this.#channel.timers.size;
    for (const [name, timer] of this.timers) {
      const isThere = this.#channel.timers.has(name);
      if (isThere !== (timer !== undefined)) count += isThere ? -1 : 1;
    }
    return count;
  }
}

const keyShape = "a key is well-formed Unicode, not empty and not too long";
const rejectionCodeMax = 2 ** 31 - 1;
const keysAtOnce = 100;
/** A step that may change more keys may write more bytes: a migration, and all keys of a channel. */
const bytesOfKey = procedureLimits.keysBytesMax / procedureLimits.keysMax;

function isAfter(key: string, other: string): boolean {
  return order(key, other) > 0;
}

/** The order of texts by their UTF-8 bytes, which is that of their code points and the database's. */
function order(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  for (let index = 0; index < most; index++) {
    const [mine, others] = [one.charCodeAt(index), other.charCodeAt(index)];
    // Halves of surrogate pairs stand for code points above all others.
    if (mine !== others)
      return (isHalf(mine) ? mine + 2 ** 16 : mine) - (isHalf(others) ? others + 2 ** 16 : others);
  }
  return one.length - other.length;
}

function isHalf(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xe000;
}
