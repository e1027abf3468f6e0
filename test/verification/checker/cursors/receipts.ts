import type { ViolationKind } from "../check-result.ts";
import type { Violations } from "../violations.ts";
import type { CursorChannel, ReceiptsFollower } from "./cursor-channel.ts";
import type { MarksListed, ReceiptEvent, ReceiptTold } from "./cursor-event.ts";

/**
 * Checks the receipts of channels (rules CU36 and CU39). They show no more than somebody has asked to mark. While a client
 * follows them, nobody's goes back. In the end each client shows what `marks` lists, and that is what was acknowledged.
 */
export class Receipts {
  readonly #violations: Violations;
  /** What clients were told of users, and how often all that a client shows was compared with all marks. */
  readonly counts = { receipts: 0, receiptStates: 0 };

  constructor(violations: Violations) {
    this.#violations = violations;
  }

  take(channel: CursorChannel, event: ReceiptEvent): void {
    switch (event.f) {
      case "receipts": {
        const shown = new Map(event.entries.map((entry) => [entry.user, entry]));
        for (const entry of event.entries) this.#compareWithAsked(channel, entry, event);
        channel.followers.set(event.process, { isFollowing: true, shown });
        break;
      }
      case "receipt": {
        const { user, epoch, read, atMs } = event;
        const isThere = epoch !== undefined && read !== undefined && atMs !== undefined;
        this.#change(channel, user, isThere ? { user, epoch, read, atMs } : undefined, event);
        break;
      }
      case "receipts-end": {
        const follower = channel.followers.get(event.process);
        if (follower !== undefined) follower.isFollowing = false;
        if (event.leaves === true) channel.followers.delete(event.process);
        break;
      }
      case "forget-user":
        channel.forgotten.add(event.user);
        break;
      case "marks":
        this.#compareMarks(channel, event);
        channel.listed = event;
        break;
    }
  }

  /** The history ends: compares what each client shows with what is marked. A client may have come back after that was listed. */
  finish(channel: CursorChannel): void {
    const { listed, followers } = channel;
    if (listed === undefined) return;
    const { time } = listed;
    for (const [process, follower] of followers)
      this.#compareState(channel, follower, listed, { process, time });
  }

  /** Nobody's receipt goes back in an epoch, or away, unless the user was forgotten. */
  #change(
    channel: CursorChannel,
    user: string,
    entry: ReceiptTold | undefined,
    event: Observed,
  ): void {
    const follower = channel.followers.get(event.process);
    if (follower?.isFollowing !== true) {
      this.#add("stray", channel, event, `${user} is shown without a subscription`);
      return;
    }
    const { shown } = follower;
    const before = shown.get(user);
    if (entry === undefined) {
      shown.delete(user);
      if (before !== undefined && !channel.forgotten.has(user))
        this.#add(
          "regressed",
          channel,
          event,
          `${user} isn't shown any more, after ${before.read}`,
        );
      return;
    }
    this.#compareWithAsked(channel, entry, event);
    shown.set(user, entry);
    const isBack = before?.epoch === entry.epoch && entry.read < before.read;
    if (isBack && !channel.forgotten.has(user))
      this.#add(
        "regressed",
        channel,
        event,
        `${user} is shown at ${entry.read}, after ${before.read}`,
      );
  }

  #compareWithAsked(channel: CursorChannel, entry: ReceiptTold, event: Observed): void {
    this.counts.receipts++;
    const { user, epoch, read } = entry;
    const { asked } = channel.user(user, epoch);
    if (read <= asked.offset) return;
    this.#add(
      "invented",
      channel,
      event,
      `${user} is shown at ${read}, of ${asked.offset} asked for`,
    );
  }

  /** No user is listed before what was acknowledged, and none is missing. */
  #compareMarks(channel: CursorChannel, event: MarksListed): void {
    const listed = new Map(event.marks.map(({ user, read }) => [user, read]));
    for (const { user, epoch, marked } of channel.users) {
      if (epoch !== event.epoch || channel.forgotten.has(user)) continue;
      const read = listed.get(user) ?? 0;
      if (read < marked.offset)
        this.#add(
          "regressed",
          channel,
          event,
          `${user} is listed at ${read}, after ${marked.offset}`,
        );
    }
  }

  #compareState(
    channel: CursorChannel,
    { isFollowing, shown }: ReceiptsFollower,
    { epoch, marks }: MarksListed,
    end: Observed,
  ): void {
    const { process } = end;
    if (!isFollowing) {
      this.#add("absent", channel, end, `${process} doesn't follow the receipts any more`);
      return;
    }
    this.counts.receiptStates++;
    const wanted = new Map(marks.map((mark) => [mark.user, lineOf({ ...mark, epoch })]));
    for (const user of new Set([...wanted.keys(), ...shown.keys()])) {
      const entry = shown.get(user);
      const has = entry === undefined ? "nothing" : lineOf(entry);
      const line = wanted.get(user) ?? "nothing";
      if (has === line) continue;
      this.#add(
        "diverged",
        channel,
        end,
        `${process} shows ${has} of ${user}, and there is ${line}`,
      );
    }
  }

  #add(
    kind: ViolationKind,
    { name }: CursorChannel,
    { process, time }: Observed,
    text: string,
  ): void {
    this.#violations.add({ kind, channel: name, process, time, text });
  }
}

interface Observed {
  readonly process: string;
  readonly time: number;
}

function lineOf({ epoch, read, atMs }: Omit<ReceiptTold, "user">): string {
  return `${read} of ${epoch} since ${atMs}`;
}
