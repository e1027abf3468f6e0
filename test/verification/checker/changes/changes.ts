import { Records } from "../../../support/records.ts";
import type { Complain, Violations } from "../violations.ts";
import type {
  ChangeAsked,
  ChangedShown,
  ChangedTold,
  ChangeDone,
  ChangeEvent,
  ChangesFollowed,
} from "./change-event.ts";

/**
 * Checks what is shown of publications that are changed: who asks after a change was acknowledged gets no older text, versions
 * only grow, and each subscriber gets each offset once (rules ED2, ED3, ED6, ED11 and ED14).
 */
export class Changes {
  readonly #violations: Violations;
  readonly #channels = new Records(() => new ChangedChannel());
  readonly #counts = { published: 0, changes: 0, shown: 0, reads: 0 };

  constructor(violations: Violations) {
    this.#violations = violations;
  }

  get counts(): ChangeCounts {
    return this.#counts;
  }

  take(event: ChangeEvent): void {
    const channel = this.#channels.of(event.channel);
    const complain = this.#violations.on(event.channel);
    switch (event.f) {
      case "change":
        if (event.type === "invoke") channel.asked.set(event.change, event);
        else if (event.type === "ok") this.#done(channel, event);
        return;
      case "change-follow":
        channel.follow(event, complain);
        return;
      case "change-show":
        this.#counts.shown++;
        channel.show(event, complain);
        return;
      case "change-leave":
        channel.followers.delete(event.process);
        return;
      case "change-read":
        this.#counts.reads++;
        for (const row of event.rows) channel.check(row, event, event.asked, complain);
    }
  }

  #done(channel: ChangedChannel, done: ChangeDone): void {
    const asked = channel.asked.get(done.change);
    if (asked === undefined) return;
    if (asked.method === "publish") this.#counts.published++;
    else this.#counts.changes++;
    channel.done(asked, done);
  }
}

/** What happened to publications that are changed. */
export interface ChangeCounts {
  readonly published: number;
  readonly changes: number;
  /** Publications that clients were shown. */
  readonly shown: number;
  /** Histories that were read. */
  readonly reads: number;
}

class ChangedChannel {
  readonly asked = new Map<string, ChangeAsked>();
  readonly followers = new Map<string, Follower>();
  /** The text of each publication, by its offset. */
  readonly #texts = new Map<number, string>();
  /** When it was acknowledged that a text is gone, µs. */
  readonly #gone = new Map<string, number>();
  /** The newest version of each publication that was acknowledged, and when. */
  readonly #versions = new Map<number, { readonly version: number; readonly time: number }[]>();

  done({ method, target, value }: ChangeAsked, { offset, version, time }: ChangeDone): void {
    const changed = target ?? offset;
    const before = this.#texts.get(changed);
    if (method !== "publish" && before !== undefined) this.#gone.set(before, time);
    if (value === undefined) this.#texts.delete(changed);
    else this.#texts.set(changed, value);
    if (version === undefined) return;
    const versions = this.#versions.get(changed) ?? [];
    this.#versions.set(changed, versions);
    versions.push({ version, time });
  }

  follow({ process, asked, epoch, offset, time }: ChangesFollowed, complain: Complain): void {
    if (this.followers.has(process)) complain("stray", process, time, "was subscribed twice");
    this.followers.set(process, { asked, epoch, offset });
  }

  show(shown: ChangedShown, complain: Complain): void {
    const { process, time, offset } = shown;
    const follower = this.followers.get(process);
    if (follower === undefined) {
      complain("stray", process, time, `was shown ${offset} without being subscribed`);
      return;
    }
    if (offset <= follower.offset)
      complain("doubled", process, time, `was shown ${offset} after ${follower.offset}`);
    else if (offset > follower.offset + 1)
      complain("hole", process, time, `was shown ${offset} after ${follower.offset}`);
    follower.offset = offset;
    this.check(shown, shown, follower.asked, complain);
  }

  /** @param asked when whoever was told of it asked for it, µs */
  check(
    { offset, value, version }: ChangedTold,
    { process, time }: { readonly process: string; readonly time: number },
    asked: number,
    complain: Complain,
  ): void {
    const gone = value === undefined ? undefined : this.#gone.get(value);
    if (gone !== undefined && gone < asked)
      complain("resurrected", process, time, `got ${value} at ${offset}, which was gone before`);
    if (version === undefined) return;
    const newer = this.#versions
      .get(offset)
      ?.find((known) => known.time < asked && known.version > version);
    if (newer !== undefined)
      complain(
        "regressed",
        process,
        time,
        `got version ${version} of ${offset} after ${newer.version}`,
      );
  }
}

/** A client that is subscribed. */
interface Follower {
  readonly asked: number;
  readonly epoch: string;
  /** Of the last publication that it was shown. */
  offset: number;
}
