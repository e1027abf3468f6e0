import { plainPublication } from "../../../src/channel/publication-request.ts";
import type { HistoryQuery, PublicationRequest } from "../../../src/contract/channel-call.ts";
import type { MapChange, MapOperation } from "../../../src/features/maps/map-call.ts";
import type { JsonText } from "../../../src/protocol/json/text.ts";
import { json } from "../../core/api/channel-config.ts";
import { callChannel } from "./channel-call.ts";
import { tagsOf } from "./cursor-kinds.ts";
import type { WorldContext } from "./world-context.ts";

/**
 * Publishes through the HTTP API. A publish with a key is repeated until its outcome is known, and sometimes once more.
 */
export class Backend {
  readonly #context: WorldContext;
  readonly #backoffMs: () => number;
  readonly #repeats: () => boolean;
  /** The keys of publishes that are known to have succeeded. */
  readonly #keys: string[] = [];
  /** The offset of the last change of a map's key of which the backend was told, by channel and key. */
  readonly #offsets = new Map<string, number>();
  #published = 0;
  /** Publishes with a key that have no answer yet. */
  pending = 0;

  /** @param repeats whether a publish that succeeded is repeated */
  constructor(context: WorldContext, backoffMs: () => number, repeats: () => boolean) {
    this.#context = context;
    this.#backoffMs = backoffMs;
    this.#repeats = repeats;
  }

  /**
   * @param padding how many characters the data is longer than necessary
   * @returns the publication's data, which is JSON text
   */
  publish(channel: string, keyed: boolean, padding = 0): string {
    const data = this.#newData(padding);
    const tags = tagsOf(channel, data);
    if (!keyed) this.#publishOnce(channel, requestOf(data, tags));
    else {
      this.pending++;
      this.#note("invoke", channel, data);
      this.#publishUntilKnown(channel, requestOf(data, { ...tags, idempotencyKey: data }), false);
    }
    return data;
  }

  /** Publishes with a version, once. A version that isn't newer than the last one is suppressed. */
  publishVersion(channel: string, version: number): void {
    const data = this.#newData();
    const tags = tagsOf(channel, data);
    this.#publishOnce(channel, requestOf(data, { ...tags, version: BigInt(version) }));
  }

  /**
   * Publishes other data with a key that was used before: the first publication counts, for as long as the key is
   * remembered.
   */
  reuseKey(channel: string, index: number): void {
    const idempotencyKey = this.#keys[index % Math.max(this.#keys.length, 1)];
    if (idempotencyKey === undefined) return;
    const data = this.#newData();
    this.#publishOnce(channel, requestOf(data, { ...tagsOf(channel, data), idempotencyKey }));
  }

  /** Removes a channel's history. The outcome is ignored. */
  removeHistory(channel: string): void {
    callChannel(this.#context, channel, { method: "history_remove" }, ignoreAnswer);
  }

  /** Reads a channel's history. The channel's host compares the answer with the model. */
  readHistory(channel: string, request: HistoryQuery): void {
    callChannel(this.#context, channel, { method: "history", request }, ignoreAnswer);
  }

  /** Sets a key of a map. */
  set(action: SetKey): void {
    const data = this.#newData();
    const { mode = "", version = 0 } = action;
    const versioned = { version: BigInt(version), versionEpoch: "", delta: false };
    const request = { ...this.#common(action, data), data, keyMode: mode, ...versioned } as const;
    this.#begin(action, { method: "map_publish", request }, JSON.parse(data), true);
  }

  /** Removes a key of a map. */
  drop(action: BackendChange): void {
    const data = this.#newData();
    this.#begin(
      action,
      { method: "map_remove", request: this.#common(action, data) },
      JSON.parse(data),
      false,
    );
  }

  /** What all changes of a key name. */
  #common({ channel, key, keyed, expects }: BackendChange, data: JsonText) {
    const known = this.#offsets.get(`${channel} ${key}`) ?? 0;
    const ifOffset =
      expects === undefined ? {} : { ifOffset: known + (expects === "known" ? 0 : 7) };
    return { key, idempotencyKey: keyed ? String(JSON.parse(data)) : "", ...ifOffset };
  }

  #begin(
    { channel, key, keyed }: BackendChange,
    change: MapChange,
    text: string,
    isSet: boolean,
  ): void {
    const asked = { process: "backend", f: "map-change", channel, change: text, key } as const;
    const told = isSet ? { ...asked, value: text } : asked;
    this.#context.eventLog.note({ ...told, type: "invoke" });
    if (keyed) this.pending++;
    this.#change(channel, change, told, keyed, 1);
  }

  #change(
    channel: string,
    change: MapChange,
    told: ToldChange,
    keyed: boolean,
    attempt: number,
  ): void {
    const { timeline, eventLog } = this.#context;
    callChannel(this.#context, channel, change, (answer) => {
      if (answer === undefined) {
        if (!keyed) eventLog.note({ ...told, type: "info" });
        else
          timeline.after(this.#backoffMs(), () =>
            this.#change(channel, change, told, keyed, attempt + 1),
          );
        return;
      }
      if (keyed) this.pending--;
      if ("error" in answer) {
        eventLog.note({ ...told, type: "fail" });
        return;
      }
      const result: MapChangeResult = JSON.parse(answer.result);
      const { epoch, offset, suppress_reason: reason } = result;
      const isMade = reason === undefined || reason === "idempotency";
      // An earlier attempt may be carried out yet (rule Z7).
      if (!isMade && attempt > 1) {
        eventLog.note({ ...told, type: "info" });
        return;
      }
      if (isMade)
        this.#offsets.set(`${channel} ${told.key}`, told.value === undefined ? 0 : offset);
      const place = isMade ? { epoch, offset } : { suppressed: reason };
      eventLog.note({ ...told, type: "ok", ...place });
    });
  }

  /** Clears a map, counts its keys, or reads all of its state, as the object's host compares with the model. */
  mapCall(channel: string, command: MapOperation): void {
    callChannel(this.#context, channel, command, ignoreAnswer);
  }

  /** Reads the whole state of a map for the checker. */
  readMap(channel: string): void {
    const query = { key: "", cursor: "", limit: -1, asc: false };
    callChannel(this.#context, channel, { method: "map_read_state", request: query }, (answer) => {
      if (answer === undefined || "error" in answer) {
        this.#complain(`${channel} couldn't be read`);
        return;
      }
      const state: MapStateResult = JSON.parse(answer.result);
      const entries = state.entries.map(({ key, data, offset }) => ({ key, value: data, offset }));
      const { epoch, offset } = state;
      const read = { process: "backend", type: "ok", f: "map-read", channel } as const;
      this.#context.eventLog.note({ ...read, epoch, offset, entries });
    });
  }

  #newData(padding = 0): JsonText {
    return json(`"api-${++this.#published}${".".repeat(padding)}"`);
  }

  #publishOnce(channel: string, request: JsonRequest): void {
    const { data } = request;
    this.#note("invoke", channel, data);
    callChannel(this.#context, channel, { method: "publish", request }, (answer) => {
      const isPublished = this.#context.publicationLog.find(JSON.parse(data)) !== undefined;
      if (answer === undefined) this.#note("info", channel, data);
      // A version or a key that isn't new is answered with the position of the existing publication.
      else if ("error" in answer || !isPublished) this.#note("fail", channel, data);
      else this.#acknowledged(channel, data, answer.result);
    });
  }

  #publishUntilKnown(channel: string, request: JsonRequest, known: boolean): void {
    const { timeline } = this.#context;
    const { data } = request;
    callChannel(this.#context, channel, { method: "publish", request }, (answer) => {
      const isAnswered = answer !== undefined && "result" in answer;
      if (isAnswered) this.#acknowledged(channel, data, answer.result);
      else if (answer !== undefined) this.#complain(`${data} was refused: ${answer.error.code}`);
      if (isAnswered && !known) {
        this.pending--;
        this.#keys.push(data);
      }
      if (isAnswered && !this.#repeats()) return;
      const isKnown = known || isAnswered;
      timeline.after(this.#backoffMs(), () => this.#publishUntilKnown(channel, request, isKnown));
    });
  }

  #acknowledged(channel: string, data: JsonText, result: string): void {
    const planned: { readonly offset?: number; readonly epoch?: string } = JSON.parse(result);
    this.#note("ok", channel, data, planned);
    const entry = this.#context.publicationLog.find(JSON.parse(data));
    const { position } = entry ?? {};
    if (entry === undefined) this.#complain(`${data} was acknowledged and never published`);
    else if (planned.offset !== position?.offset || planned.epoch !== position?.epoch) {
      const place = `${position?.epoch}:${position?.offset}`;
      this.#complain(
        `${data} was acknowledged at ${planned.epoch}:${planned.offset}, not at ${place}`,
      );
    }
  }

  #note(
    type: "invoke" | "ok" | "fail" | "info",
    channel: string,
    data: JsonText,
    planned: { readonly offset?: number; readonly epoch?: string } = {},
  ): void {
    const value: string = JSON.parse(data);
    const publish = { process: "backend", f: "publish", channel, value } as const;
    const { offset, epoch } = planned;
    const place = offset === undefined || epoch === undefined ? {} : { offset, epoch };
    if (type === "ok") this.#context.eventLog.note({ ...publish, type, ...place });
    else this.#context.eventLog.note({ ...publish, type });
  }

  #complain(what: string): void {
    this.#context.publicationLog.complain(what);
  }
}

/** A change of a map's key. */
export interface BackendChange {
  readonly channel: string;
  readonly key: string;
  /** Whether the change is repeated with its idempotency key until its outcome is known. */
  readonly keyed: boolean;
  /**
   * The offset that the key must have: the one of which the backend heard last, or another one. Absent: any.
   */
  readonly expects?: "known" | "other";
}

/** A key is set. */
export interface SetKey extends BackendChange {
  readonly mode?: "if_new" | "if_exists";
  readonly version?: number;
}

/** A change as the checker is told of it. */
interface ToldChange {
  readonly process: string;
  readonly f: "map-change";
  readonly channel: string;
  readonly change: string;
  readonly key: string;
  readonly value?: string;
}

/** The result of `map_publish` and `map_remove`. */
interface MapChangeResult {
  readonly epoch: string;
  readonly offset: number;
  readonly suppress_reason?: string;
}

/** The result of `map_read_state`. */
export interface MapStateResult {
  readonly epoch: string;
  readonly offset: number;
  readonly entries: readonly {
    readonly key: string;
    readonly data: string;
    readonly offset: number;
  }[];
}

/** A publication of the backend is JSON. */
type JsonRequest = PublicationRequest & { readonly data: JsonText };

function requestOf(
  data: JsonText,
  more: Partial<Omit<PublicationRequest, "data">> = {},
): JsonRequest {
  return { ...plainPublication(data), ...more };
}

export function ignoreAnswer(): void {
  // The answer needs no check here.
}
