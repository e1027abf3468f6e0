import type { CursorRules } from "./cursor-rules.ts";
import { isNamed, notifyAfterMs } from "./cursor-kinds.ts";
import type { ModelMark } from "./model-state.ts";
import type { PublicationLog } from "./publication-log.ts";
import type { StreamPosition } from "../../../src/protocol/publication.ts";

/**
 * What a backend may be told of members who haven't seen something (rules CU23 to CU26): of each publication once, not too
 * early, and of all that nobody can have seen.
 */
export class UnseenRules {
  readonly #publications: PublicationLog;
  readonly #cursors: CursorRules;
  readonly #publisherOf: (data: string) => string | undefined;
  readonly #nowMs: () => number;
  /** By object and number. */
  readonly #events = new Map<string, UnseenEvent>();
  #batches = 0;

  constructor(
    publications: PublicationLog,
    cursors: CursorRules,
    publisherOf: (data: string) => string | undefined,
    nowMs: () => number,
  ) {
    this.#publications = publications;
    this.#cursors = cursors;
    this.#publisherOf = publisherOf;
    this.#nowMs = nowMs;
  }

  /** The receiver of events is sent a batch. @returns whether it is acknowledged: every third one is repeated */
  take(body: string): boolean {
    const { events }: { readonly events: readonly UnseenEvent[] } = JSON.parse(body);
    for (const event of events) {
      const name = `${event.object} ${event.number}`;
      const known = this.#events.get(name);
      if (known === undefined) this.#judge(event);
      else if (JSON.stringify(known) !== JSON.stringify(event))
        this.#complain(`event ${name} is another one when it is repeated`);
      this.#events.set(name, event);
    }
    return ++this.#batches % 3 > 0;
  }

  #judge(event: UnseenEvent): void {
    if (event.type !== "unseen") return;
    const { channel, user, epoch, from, to, time, since_ms: sinceMs = 0 } = event;
    const what = `${user} is said not to have seen ${from} to ${to} of ${channel} ${epoch}`;
    // By a clock that was set back meanwhile it seems to be too early.
    const published = this.#publications
      .list(channel)
      .find(({ position }) => position?.epoch === epoch && position.offset === from);
    const isEarly = this.#nowMs() - (published?.atMs ?? 0) < notifyAfterMs;
    if (isEarly && time < sinceMs + notifyAfterMs)
      this.#complain(`${what} after ${time - sinceMs} ms`);
    for (const other of this.#events.values()) {
      if (other.type !== "unseen" || other.user !== user || other.channel !== channel) continue;
      if (other.epoch === epoch && other.from <= to && from <= other.to)
        this.#complain(`${what}, and ${other.from} to ${other.to} before`);
    }
  }

  /**
   * No backend was told of what was known to be seen. Without faults an object knows what has arrived; a mark that was
   * answered is known always. The clocks of objects have to be right.
   *
   * @param knows whether nothing has kept the objects from knowing what has arrived
   */
  checkFalse(knows: boolean): void {
    for (const { type, channel, user, epoch, from, to, time } of this.#events.values()) {
      if (isNamed(channel) && !this.#cursors.wasNamed(channel, user))
        this.#complain(`${user} was never named for ${channel}, and an event tells of the user`);
      if (type !== "unseen") continue;
      const what = `${user} was said at ${time} not to have seen ${from} to ${to} of ${channel}`;
      const read = this.#cursors.readBefore(channel, user, epoch, time);
      if (read >= from) this.#complain(`${what}, and had read ${read}`);
      if (!knows) continue;
      for (const { data, position } of this.#publications.list(channel)) {
        if (position?.epoch !== epoch || position.offset < from || position.offset > to) continue;
        // Between two of others there may be the user's own.
        if (this.#publisherOf(data) === user) continue;
        if (this.#cursors.hadToKnow(channel, user, position, time))
          this.#complain(`${what}, and was known to have got ${position.offset}`);
      }
    }
  }

  /** In the end a backend was told of everything that a member can't have seen. */
  checkAll(
    channel: string,
    members: ReadonlyMap<string, ModelMark>,
    top: StreamPosition | undefined,
  ): void {
    for (const [user, { epoch, read }] of members) {
      const after = epoch === top?.epoch ? read : 0;
      for (const { data, position } of this.#publications.list(channel)) {
        if (position === undefined || position.epoch !== top?.epoch) continue;
        if (position.offset <= after || this.#publisherOf(data) === user) continue;
        if (this.#cursors.mayHaveSeen(channel, user, position)) continue;
        if (!this.#isTold(channel, user, position))
          this.#complain(
            `nobody was told that ${user} hasn't seen ${position.offset} of ${channel}`,
          );
      }
    }
  }

  #isTold(channel: string, user: string, { epoch, offset }: StreamPosition): boolean {
    for (const event of this.#events.values()) {
      if (event.type !== "unseen" || event.channel !== channel || event.user !== user) continue;
      if (event.epoch === epoch && event.from <= offset && offset <= event.to) return true;
    }
    return false;
  }

  #complain(what: string): void {
    this.#publications.complain(what);
  }
}

/** An event as the receiver is sent it. */
interface UnseenEvent {
  readonly object: string;
  readonly number: number;
  readonly time: number;
  readonly type: "unseen" | "seen";
  readonly channel: string;
  readonly user: string;
  readonly epoch: string;
  readonly from: number;
  readonly to: number;
  readonly since_ms?: number;
}
