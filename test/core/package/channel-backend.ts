import type { ChatBackend } from "../../../package/ai/index.ts";
import type { MapAppendRequest, MapChange } from "../../../src/features/maps/map-call.ts";
import { plainMapPublish } from "../../../src/features/maps/map-call.ts";
import { trustedJsonText } from "../../../src/protocol/json/text.ts";
import { payloadJson } from "../../../src/protocol/payload.ts";
import { NodeSql } from "../../../package/test/node-sql.ts";
import { CountingSql } from "../../support/counting-sql.ts";
import { growingMap } from "../features/maps/growth/growing-map.ts";

type Method = keyof ChatBackend;
type Of<Name extends Method> = Parameters<ChatBackend[Name]>[0];

/** A call of a chat's channel. */
interface ChannelCall {
  readonly method: Method;
  /** What an append adds. */
  readonly text?: string;
  /** How many calls were answered one after the other before it was sent, and it itself: round trips. */
  readonly trip: number;
  /** The rows that it has changed. */
  readonly rows: number;
}

/** The channel of one chat, in this process. It counts the calls that come for it. */
export class ChannelBackend implements ChatBackend {
  readonly calls: ChannelCall[] = [];
  readonly #sql = new CountingSql(new NodeSql());
  readonly #growing = growingMap(this.#sql, { appendWindowMs: 250 });
  readonly #begunMs = performance.now();
  #trips = 0;

  constructor() {
    // The chat is no new one: what a channel writes once isn't counted.
    this.#growing.channel.position(0);
  }

  map_publish: ChatBackend["map_publish"] = (params) =>
    this.#answer("map_publish", () => this.#publish(params));

  batch: ChatBackend["batch"] = (commands) =>
    this.#answer("batch", () =>
      commands.map((command) => ({
        result:
          "map_publish" in command
            ? this.#publish(command.map_publish)
            : this.#read(command.map_read_state),
      })),
    );

  map_remove: ChatBackend["map_remove"] = ({ key }) => {
    const request = { key, idempotencyKey: "" };
    return this.#answer("map_remove", () => this.#change({ method: "map_remove", request }));
  };

  map_append: ChatBackend["map_append"] = ({ key, text = "", at, final = false }) => {
    const request: Partial<MapAppendRequest> = { key, final, ...(at !== undefined && { at }) };
    const append = () => {
      const appended = this.#growing.append(text, request);
      if (appended.outcome === "not-appended")
        return { length: appended.length, suppressed: true, suppress_reason: appended.reason };
      if (appended.outcome !== "appended") throw new Error(appended.outcome);
      return { length: appended.length, ...appended.position };
    };
    return this.#answer("map_append", append, text);
  };

  map_read_state: ChatBackend["map_read_state"] = (params) =>
    this.#answer("map_read_state", () => this.#read(params));

  #publish({ key, data, key_mode = "", if_offset, idempotency_key = "" }: Of<"map_publish">) {
    const request = {
      ...plainMapPublish(key, trustedJsonText(JSON.stringify(data))),
      keyMode: key_mode,
      idempotencyKey: idempotency_key,
      ...(if_offset !== undefined && { ifOffset: if_offset }),
    };
    return this.#change({ method: "map_publish", request });
  }

  #read({ key = "", limit = 0 }: Of<"map_read_state">) {
    const query = { key, cursor: "", limit, asc: false };
    const read = this.#growing.map.readState(query, this.#growing.nowMs);
    if (read.outcome !== "state") throw new Error(read.outcome);
    const entries = read.entries.map(({ key: own, data, offset }) => ({
      key: own,
      offset,
      data: JSON.parse(payloadJson(data)),
    }));
    return { entries, ...read.position };
  }

  #change(change: MapChange) {
    const changed = this.#growing.map.change(change, undefined, this.#growing.nowMs);
    if (changed.outcome === "changed") return changed.position;
    if (changed.outcome !== "suppressed") throw new Error(changed.outcome);
    return { ...changed.position, suppressed: true, suppress_reason: changed.reason };
  }

  /** Carries a call out when all that is sent at the same time was sent. */
  async #answer<Result>(method: Method, work: () => Result, text?: string): Promise<Result> {
    const trip = this.#trips + 1;
    await new Promise((resolve) => setImmediate(resolve));
    this.#growing.pass(performance.now() - this.#begunMs - this.#growing.nowMs);
    const before = this.#sql.changes;
    const result = work();
    const rows = this.#sql.changes - before;
    this.calls.push({ method, trip, rows, ...(text !== undefined && { text }) });
    this.#trips = Math.max(this.#trips, trip);
    return result;
  }
}
