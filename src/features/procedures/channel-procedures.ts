import type {
  ChannelPart,
  PartedChannel,
  PartOutcome,
  PartSetup,
} from "../../channel/channel-part.ts";
import { acceptsData, plainPublication } from "../../channel/publication-request.ts";
import type { ChannelOperation, FailedReply } from "../../contract/channel-call.ts";
import { dueMoment } from "../../moment.ts";
import { type ErrorCode, errorCodes } from "../../protocol/codes.ts";
import type { FieldWriter } from "../../protocol/fields.ts";
import { type JsonText, trustedJsonText } from "../../protocol/json/text.ts";
import type { ClientInfo, Publication } from "../../protocol/publication.ts";
import { isChange } from "../changes/channel-changes.ts";
import type { ChannelMap } from "../maps/channel-map.ts";
import type { ChannelCode } from "./channel-code.ts";
import { StepFailure, overLimit } from "./failure.ts";
import { changedOperation, type DecidedOperation, incomingOf, isDecided } from "./incoming.ts";
import { type ChannelKeyStore, KeyTable } from "./key-table.ts";
import { procedureLimits } from "./limits.ts";
import { MapKeys, mapIn } from "./map-keys.ts";
import type { ProcedureCalling } from "./procedure-call.ts";
import { ResultTable } from "./result-table.ts";
import { type CodeCaller, CallStep } from "./step.ts";
import { afterFailure, type ProcedureTimer, type TimerChanges, TimerTable } from "./timer-table.ts";
import { VersionRow } from "./version-row.ts";

/** Hears of the ends of the calls of a channel's code. */
export interface CodeObserver {
  called(call: EndedCall): void;
}

/** A call that has ended: a call of a procedure, `onPublish` or `migrate`. */
export interface EndedCall {
  readonly name: string;
  readonly by: CodeCaller["kind"];
  readonly outcome: "done" | "repeated" | StepFailure["kind"] | "threw";
  /** Of a call that failed. */
  readonly error?: ErrorCode;
  /** The error that the code threw, if the caller hasn't caused it. */
  readonly thrown?: Error;
  readonly nowMs: number;
}

/** The stored keys and timers of a channel's code, for those who look. */
export interface ProcedureState {
  readonly keys: number;
  /** Undefined for a map. */
  readonly bytes: number | undefined;
  readonly timers: ReadonlyMap<string, ProcedureTimer>;
  /** Undefined if none is stored: it is 1, or nothing was stored yet. */
  readonly version: number | undefined;
}

/**
 * Runs the code of a channel (the rules PC). A call reads and decides first, and collects what it changes ({@link CallStep}); then
 * everything is written and published in one go. So a call that fails has changed nothing, and nothing comes between.
 */
export class ChannelProcedures implements ChannelPart {
  /** Hears of the calls; the channel's object sets it. */
  observer: CodeObserver | undefined;
  readonly code: ChannelCode;
  /** Has `onPublish` decide on publications; undefined where there is no such function, which then costs nothing. */
  readonly decide: ChannelPart["decide"];
  readonly #channel: PartedChannel;
  readonly #map: ChannelMap | undefined;
  readonly #setup: PartSetup;
  readonly #keys: ChannelKeyStore;
  readonly #timers: TimerTable;
  readonly #results: ResultTable;
  readonly #version: VersionRow;
  /** Whether the keys are known to be of the code's version. */
  #isCurrent = false;
  /** After a migration has failed. */
  readonly #pause = new Pause();

  constructor(channel: PartedChannel, code: ChannelCode, setup: PartSetup) {
    const { sql, tables } = setup;
    this.code = code;
    this.#channel = channel;
    this.#map = mapIn(channel.keys);
    this.#setup = setup;
    this.#keys =
      this.#map === undefined
        ? new KeyTable(sql, tables.has("procedure_key"))
        : new MapKeys(this.#map, channel.options.allowDelta);
    this.#timers = new TimerTable(sql, tables.has("procedure_timer"));
    this.#results = new ResultTable(sql, tables.has("procedure_result"));
    this.#version = new VersionRow(sql, tables.has("procedure_version"));
    const { onPublish } = code;
    this.decide =
      onPublish && ((operation, nowMs, next) => this.#decide(operation, onPublish, nowMs, next));
  }

  carryOut(operation: ChannelOperation, nowMs: number): PartOutcome | undefined {
    if (operation.method !== "call") return undefined;
    const called = this.#call(operation, nowMs);
    if (called.outcome === "failed") return called;
    const { result: data } = called;
    if (operation.asMethod !== true)
      return { outcome: "result", fields: (out: FieldWriter) => out.payload(1, "data", data) };
    const { instance, sequence } = this.#channel.relay;
    const after = { instance, sequence };
    return { outcome: "reply", reply: { outcome: "answered", data, after } };
  }

  /** When the next timer calls, or results can be forgotten, ms since 1970; Infinity for never. */
  dueAtMs(nowMs: number): number {
    const timersMs = Math.max(this.#timers.dueAtMs(nowMs), this.#pause.untilMs(nowMs));
    return Math.min(timersMs, this.#results.endsAtMs(nowMs));
  }

  /** Carries out what is due. */
  ring(nowMs: number): void {
    this.#results.forgetExpired(nowMs);
    if (this.#timers.dueAtMs(nowMs) <= nowMs) this.#prepare(nowMs);
  }

  /** Whether the code has left nothing behind. */
  get storesNothing(): boolean {
    return this.#results.isEmpty && this.#timers.all.size === 0 && this.#keys.isEmpty;
  }

  /** The storage was deleted. */
  storageDeleted(): void {
    for (const table of [this.#keys, this.#timers, this.#results, this.#version]) table.dropped();
  }

  /** The stored state, for those who look. */
  look(nowMs: number): ProcedureState {
    const { keys, bytes } = this.#keys.size(nowMs);
    return { keys, bytes, timers: this.#timers.all, version: this.#version.stored };
  }

  /** The value of a key, for those who look; undefined without it. */
  read(key: string): JsonText | undefined {
    return this.#keys.read(key);
  }

  /** The first keys after a key, in their order, for those who look; "" for the first of all. */
  keysAfter(key: string, count: number): readonly string[] {
    return this.#keys.after(key, count);
  }

  #call(
    { request, info, key: apiKey = "" }: ProcedureCalling,
    nowMs: number,
  ): StepOutcome<JsonText> {
    const { procedure: name, data } = request;
    const by = callerOf(info);
    const key = scoped(request.idempotencyKey, info);
    const first = this.#results.first(key, nowMs);
    if (first !== undefined) {
      this.observer?.called({ name, by: by.kind, outcome: "repeated", nowMs });
      this.#tellOfFormer();
      return { outcome: "done", result: first };
    }
    const error =
      this.#refuse(name, info) ??
      this.#prepare(nowMs) ??
      (key === "" || this.#results.hasRoom(nowMs) ? undefined : errorCodes.tooManyRequests);
    if (error !== undefined) return failed(error);
    const step = this.#newStep(by, nowMs);
    return this.#carryOut(name, by, step, {
      run: () => step.runProcedure(name, data) ?? noResult,
      write: (result) => {
        this.#write(step, apiKey);
        if (key !== "") this.#results.write(key, result, nowMs);
        return result;
      },
    });
  }

  /**
   * A former instance may have crashed before the gateways had what the first call has published (rule L4). An entry that says
   * nothing has them catch up before the caller is answered again.
   */
  #tellOfFormer(): void {
    const { relay, top } = this.#channel;
    if (relay.sequence === 0) relay.append({ type: "removed" }, top);
  }

  /** Why a procedure can't be called; undefined if it can. */
  #refuse(name: string, info: ClientInfo | undefined): ErrorCode | undefined {
    const { procedures, clients } = this.code;
    if (!procedures.has(name)) return errorCodes.methodNotFound;
    const isClosed = info !== undefined && clients?.has(name) === false;
    return isClosed ? errorCodes.permissionDenied : undefined;
  }

  /** Lets the code decide on a publication, and has it carried out as the code wants it. */
  #decide(
    operation: ChannelOperation,
    onPublish: NonNullable<ChannelCode["onPublish"]>,
    nowMs: number,
    next: (operation: ChannelOperation) => PartOutcome,
  ): PartOutcome {
    // The pieces of a growing value are no publications, and nothing may pass by the code.
    if (operation.method === "map_append" && this.#map !== undefined) return notAvailable;
    if (!isDecided(operation) || this.#isVain(operation, nowMs)) return next(operation);
    const error = this.#prepare(nowMs);
    if (error !== undefined) return failed(error);
    const by = callerOf(operation.info);
    const step = this.#newStep(by, nowMs, 1);
    const carriedOut = this.#carryOut("onPublish", by, step, {
      run: () =>
        changedOperation(
          operation,
          step.run((ctx) => onPublish(ctx, incomingOf(operation, this.#changed(operation, nowMs)))),
          this.#channel.options,
        ),
      write: (changed) => {
        const outcome = next(changed);
        if (isMade(outcome)) this.#write(step, operation.key);
        return outcome;
      },
    });
    return carriedOut.outcome === "failed" ? carriedOut : carriedOut.result;
  }

  /** The publication that an operation edits or deletes. */
  #changed(operation: DecidedOperation, nowMs: number): Publication | undefined {
    return isChange(operation)
      ? this.#channel.stored.find(operation.request.offset, nowMs)?.publication
      : undefined;
  }

  /** Whether a publication would do nothing, or has no place here: then there is nothing to decide. */
  #isVain(operation: DecidedOperation, nowMs: number): boolean {
    const map = this.#map;
    if (isChange(operation))
      return this.#channel.parts.some((part) => part.isVain?.(operation, nowMs) === true);
    if (operation.method === "publish")
      return (
        map !== undefined ||
        this.#channel.store.suppressionOf(operation.request, nowMs) !== undefined
      );
    return map === undefined || map.isVain(operation, nowMs);
  }

  /**
   * Brings the keys to the code's version, and calls the timers that are due: they come before whatever comes now.
   *
   * @returns the error of a call that can't be carried out; undefined if it can
   */
  #prepare(nowMs: number): ErrorCode | undefined {
    this.#keys.begin(nowMs);
    if (!this.#isCurrent) {
      if (this.#pause.untilMs(nowMs) > nowMs) return errorCodes.internal;
      this.#isCurrent = this.#migrate(nowMs);
      if (!this.#isCurrent) {
        this.#pause.begin(nowMs);
        return errorCodes.internal;
      }
    }
    for (const [name, timer] of this.#timers.due(nowMs)) {
      // One before may have replaced or removed it.
      if (this.#timers.all.get(name) === timer) this.#fire(name, timer, nowMs);
    }
    return undefined;
  }

  /** @returns whether the keys are of the code's version */
  #migrate(nowMs: number): boolean {
    const { version, migrate } = this.code;
    const isNew = (): boolean => this.#keys.isEmpty && this.#timers.all.size === 0;
    const stored = this.#version.stored ?? (version === 1 || isNew() ? version : 1);
    if (stored === version) return true;
    const step = this.#newStep(timerCaller, nowMs, 0, procedureLimits.keysMax);
    const migrated = this.#carryOut("migrate", timerCaller, step, {
      run: () => {
        if (stored > version || migrate === undefined)
          throw new Error(
            `the keys are of version ${stored}, and the code is of version ${version}`,
          );
        step.run((ctx) => migrate(ctx, stored));
      },
      write: () => {
        this.#version.write(version, nowMs);
        this.#write(step, "");
      },
    });
    return migrated.outcome === "done";
  }

  /** Calls a timer, which goes with that: both are written together, or neither. */
  #fire(name: string, timer: ProcedureTimer, nowMs: number): void {
    const step = this.#newStep(timerCaller, nowMs);
    step.timers.set(name, undefined);
    const called = this.#carryOut(timer.procedure, timerCaller, step, {
      run: () => step.runProcedure(timer.procedure, timer.args),
      write: () => this.#write(step, ""),
    });
    if (called.outcome === "done") return;
    const next = called.isRejected ? undefined : afterFailure(timer, nowMs);
    const changes: TimerChanges = new Map([[name, next]]);
    this.#timers.write(changes, nowMs);
  }

  #newStep(
    by: CodeCaller,
    nowMs: number,
    publications = 0,
    keysMax: number = procedureLimits.callKeysMax,
  ): CallStep {
    const { name, options } = this.#channel;
    return new CallStep(
      {
        name,
        code: this.code,
        keys: this.#keys,
        timers: this.#timers.all,
        offset: this.#channel.topAt(nowMs)?.offset ?? 0,
        isMap: this.#map !== undefined,
        accepts: (data) => acceptsData(options, data),
        seed: () => `${this.#setup.newEpoch()}${this.#setup.newEpoch()}`,
        keysMax,
        publications,
      },
      by,
      nowMs,
    );
  }

  /** Runs a step, and makes its changes if it succeeds: all of them, or none. */
  #carryOut<Ran, Result>(
    name: string,
    { kind: by }: CodeCaller,
    step: CallStep,
    work: { readonly run: () => Ran; readonly write: (ran: Ran) => Result },
  ): StepOutcome<Result> {
    const { nowMs } = step;
    let ran: Ran;
    try {
      ran = work.run();
      this.#checkRoom(step);
    } catch (error) {
      return this.#failed(
        name,
        by,
        error instanceof Error ? error : new Error(String(error)),
        nowMs,
      );
    }
    const result = this.#setup.sql.transaction(() => work.write(ran));
    this.observer?.called({ name, by, outcome: "done", nowMs });
    return { outcome: "done", result };
  }

  #failed(name: string, by: CodeCaller["kind"], thrown: Error, nowMs: number): StepOutcome<never> {
    if (thrown instanceof StepFailure) {
      const { kind: outcome, error } = thrown;
      this.observer?.called({ name, by, outcome, error, nowMs });
      return { ...failed(error), ...(outcome === "rejected" && { isRejected: true }) };
    }
    const error = errorCodes.internal;
    this.observer?.called({ name, by, outcome: "threw", error, thrown, nowMs });
    return failed(error);
  }

  /** @throws if there is no room for what a step changes: nothing is refused once something is written */
  #checkRoom(step: CallStep): void {
    const { changes, nowMs, publicationCount } = step;
    if (changes.size > 0) {
      const refused = this.#keys.refuse(changes, nowMs);
      if (refused !== undefined) throw overLimit(refused);
    }
    if (!this.#channel.store.hasRoom(publicationCount, nowMs))
      throw new StepFailure("refused", errorCodes.tooManyRequests);
  }

  /** Makes the changes of a step: rows first, and then what others are told. */
  #write({ changes, timers, publications, nowMs }: CallStep, apiKey = ""): void {
    if (timers.size > 0) this.#timers.write(timers, nowMs);
    const { version } = this.code;
    const isNoted = version === 1 || this.#version.stored === version;
    if (!isNoted && changes.size + timers.size > 0) this.#version.write(version, nowMs);
    if (changes.size > 0) this.#keys.write(changes, nowMs);
    for (const { data, tags } of publications) {
      const request = { ...plainPublication(data), ...(tags !== undefined && { tags }) };
      const { outcome } = this.#channel.publish(request, undefined, nowMs, apiKey);
      if (outcome !== "published") throw new Error(`a publication wasn't made: ${outcome}`);
    }
  }
}

/** The pauses between the tries of a migration that fails: each is twice as long as the one before, up to a bound. */
class Pause {
  #untilMs = Number.NEGATIVE_INFINITY;
  #lengthMs = 0;

  /** Until when to wait, ms since 1970; -Infinity for not at all. */
  untilMs(nowMs: number): number {
    return dueMoment(this.#untilMs, this.#lengthMs, nowMs);
  }

  /** A try has failed. */
  begin(nowMs: number): void {
    const { migrationPauseMsMin, migrationPauseMsMax } = procedureLimits;
    this.#lengthMs = Math.min(
      migrationPauseMsMax,
      Math.max(migrationPauseMsMin, 2 * this.#lengthMs),
    );
    this.#untilMs = nowMs + this.#lengthMs;
  }
}

/** The outcome of a step. */
type StepOutcome<Result> =
  | { readonly outcome: "done"; readonly result: Result }
  | (FailedReply & { readonly isRejected?: true });

const timerCaller: CodeCaller = { kind: "timer" };
const noResult = trustedJsonText("null");
const notAvailable = { outcome: "not-available" } as const;

/** Whether a publication was made, or a change, which has a result or a reply. */
function isMade({ outcome }: PartOutcome): boolean {
  return outcome === "published" || outcome === "result" || outcome === "reply";
}

function callerOf(info: ClientInfo | undefined): CodeCaller {
  return info === undefined ? { kind: "backend" } : { kind: "client", info };
}

function failed(error: ErrorCode): FailedReply {
  return { outcome: "failed", error };
}

/** An idempotency key as it is remembered: backends have theirs together, and each user, or anonymous client, has others. */
function scoped(key: string, info: ClientInfo | undefined): string {
  if (key === "") return "";
  if (info === undefined) return `backend ${key}`;
  return info.user === "" ? `client ${info.client} ${key}` : `user ${info.user} ${key}`;
}
