import { limits } from "../../../../src/limits.ts";
import type { ClientInfo } from "../../../../src/protocol/publication.ts";
import type { ChannelCode } from "../../../../src/features/procedures/channel-code.ts";
import type { ProcedureContext } from "../../../../src/features/procedures/definition.ts";
import type { JsonData, JsonValue } from "../../../../src/protocol/wire-value.ts";
import type { ProcedureRequest } from "../../../../src/features/procedures/procedure-call.ts";
import type { Model } from "../model.ts";
import type { CodeState, ModelTimer } from "../model-state.ts";

/**
 * The reference model of a channel's code (the rules PC): the same code with the keys, timers and results in JavaScript maps,
 * which are replaced when a call succeeds.
 */
export class CodeModel {
  readonly #channel: string;
  readonly #code: ChannelCode;
  readonly #model: Model;
  readonly #isMap: boolean;
  /** What was published since it was asked for. */
  #told: string[] = [];

  constructor(channel: string, code: ChannelCode, model: Model, isMap: boolean) {
    this.#channel = channel;
    this.#code = code;
    this.#model = model;
    this.#isMap = isMap;
  }

  get state(): CodeState {
    return this.#model.state.code ?? nothing;
  }

  /**
   * Carries out a call.
   *
   * @param offset of the channel before the call, and before the timers that it finds due
   * @returns the result; undefined if there is none, because the call has failed
   */
  call(
    { procedure, data, idempotencyKey }: ProcedureRequest,
    info: ClientInfo | undefined,
    offset: number,
    nowMs: number,
  ): string | undefined {
    const key = idempotencyKey === "" ? "" : `${info?.user ?? "backend"} ${idempotencyKey}`;
    const first = this.state.results.get(key);
    if (first !== undefined && Math.abs(nowMs - first.timeMs) < limits.idempotencyMs)
      return first.text;
    const published = this.ring(offset, nowMs);
    const step = new ModelStep(this.#channel, this.state, offset + published, nowMs, info);
    return this.#carryOut(step, () => {
      const text = this.#run(step, procedure, data) ?? "null";
      if (key !== "") step.results.set(key, { text, timeMs: nowMs });
      return text;
    });
  }

  /** Calls the timers that are due. @returns how many publications came of that */
  ring(offset: number, nowMs: number): number {
    const due = [...this.state.timers]
      .filter(([, timer]) => isDue(timer, nowMs))
      .sort(([name, one], [otherName, other]) =>
        one.atMs === other.atMs ? (name < otherName ? -1 : 1) : one.atMs - other.atMs,
      );
    const before = this.#told.length;
    for (const [name, { procedure, args }] of due) {
      const at = offset + this.#told.length - before;
      const step = new ModelStep(this.#channel, this.state, at, nowMs, undefined);
      step.timers.delete(name);
      this.#carryOut(step, () => this.#run(step, procedure, args));
    }
    return this.#told.length - before;
  }

  /** What was published since the last time: publications, or keys of a map with their values. */
  takeTold(): readonly string[] {
    const told = this.#told;
    this.#told = [];
    return told;
  }

  #run(step: ModelStep, name: string, args: string | undefined): string | undefined {
    const run = this.#code.procedures.get(name);
    if (run === undefined) throw new Error(`there is no ${name}`);
    return run(step, args === undefined ? undefined : JSON.parse(args));
  }

  #carryOut<Result>(step: ModelStep, work: () => Result): Result | undefined {
    let result: Result;
    try {
      result = work();
    } catch {
      return undefined;
    }
    const { values: keys, timers, results, changed, published } = step;
    this.#model.state = { ...this.#model.state, code: { keys, timers, results } };
    const told = this.#isMap ? [...changed].map((key) => `${key}=${keys.get(key)}`) : published;
    this.#told.push(...told);
    return result;
  }
}

/** One call: it changes copies. */
class ModelStep implements ProcedureContext {
  readonly values: Map<string, string>;
  readonly timers: Map<string, ModelTimer>;
  readonly results: Map<string, { readonly text: string; readonly timeMs: number }>;
  readonly changed = new Set<string>();
  readonly published: string[] = [];
  readonly isBackend: boolean;
  readonly isTimer = false;
  readonly user: string;
  readonly client: string;
  readonly info = undefined;
  readonly channel: string;
  readonly offset: number;
  readonly nowMs: number;

  constructor(
    channel: string,
    state: CodeState,
    offset: number,
    nowMs: number,
    info: ClientInfo | undefined,
  ) {
    this.channel = channel;
    this.offset = offset;
    this.nowMs = nowMs;
    this.values = new Map(state.keys);
    this.timers = new Map(state.timers);
    this.results = new Map(state.results);
    this.isBackend = info === undefined;
    this.user = info?.user ?? "";
    this.client = info?.client ?? "";
  }

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows what the key holds
  get<Value = JsonValue>(key: string): Value | undefined {
    const text = this.values.get(key);
    if (text === undefined) return undefined;
    const value: Value = JSON.parse(text);
    return value;
  }

  set(key: string, value: JsonData): void {
    this.values.set(key, JSON.stringify(value));
    this.changed.add(key);
  }

  remove(): void {
    throw new Error("no bank removes a key");
  }

  keys(): Iterable<string> {
    return [...this.values.keys()].sort();
  }

  publish(data: JsonData): void {
    this.published.push(JSON.stringify(data));
  }

  at(name: string, atMs: number, procedure: string, args?: JsonData): void {
    this.timers.set(name, { atMs, setMs: this.nowMs, procedure, args: JSON.stringify(args) });
  }

  cancel(name: string): void {
    this.timers.delete(name);
  }

  timer(name: string): number | undefined {
    return this.timers.get(name)?.atMs;
  }

  call(): never {
    throw new Error("no bank calls its own procedures");
  }

  reject(_code: number, message: string): never {
    throw new Error(message);
  }

  random(): number {
    throw new Error("no bank has luck");
  }
}

function isDue({ atMs, setMs }: ModelTimer, nowMs: number): boolean {
  // After the clock was set back by more than the timer was ahead, it calls at once (rule S5).
  return atMs <= nowMs || atMs - nowMs > 2 * Math.max(0, atMs - setMs);
}

const nothing: CodeState = { keys: new Map(), timers: new Map(), results: new Map() };
