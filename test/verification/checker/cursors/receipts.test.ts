import { describe, expect, it } from "vitest";
import { HistoryBuilder } from "../history-builder.ts";
import type { CursorEvent, ReceiptTold } from "./cursor-event.ts";

type Untimed<Each> = Each extends CursorEvent ? Omit<Each, "time" | "channel"> : never;

/** A channel whose receipts are followed by `a1`. */
class Shown {
  readonly history = new HistoryBuilder("stream", 100);
  #calls = 0;

  constructor() {
    const options = { audience: "subscribed", notifyAfterMs: 4_000, unreadMax: 5 } as const;
    this.note({ process: "prove", type: "info", f: "cursors", ...options });
  }

  note(event: Untimed<CursorEvent>): this {
    this.history.add({ ...event, channel: this.history.channel });
    return this;
  }

  mark(user: string, offset: number, epoch = "e1"): this {
    const mark = { process: "p", f: "mark", user, call: `call-${++this.#calls}`, epoch } as const;
    this.note({ ...mark, type: "invoke", offset, own: true });
    return this.note({ ...mark, type: "ok", read: offset });
  }

  follow(...entries: readonly ReceiptTold[]): this {
    return this.note({ process: "a1", type: "ok", f: "receipts", entries });
  }

  change(user: string, told: Partial<ReceiptTold> = {}): this {
    return this.note({ process: "a1", type: "ok", f: "receipt", ...told, user });
  }

  leave(leaves = false): this {
    return this.note({ process: "a1", type: "info", f: "receipts-end", leaves });
  }

  forget(user: string): this {
    return this.note({ process: "backend", type: "invoke", f: "forget-user", user });
  }

  list(...marks: readonly ReceiptTold[]): this {
    const listed = marks.map(({ user, read, atMs }) => ({ user, read, atMs }));
    return this.note({ process: "backend", type: "ok", f: "marks", epoch: "e1", marks: listed });
  }

  lines(): readonly string[] {
    return this.history.check().violations.map(({ kind, text }) => `${kind} ${text}`);
  }
}

function readBy(user: string, offset: number, epoch = "e1"): ReceiptTold {
  return { user, epoch, read: offset, atMs: 100 + offset };
}

describe("receipts", () => {
  it("[CU36] [CU39] show what users have marked, and in the end what marks lists", () => {
    const shown = new Shown().mark("ann", 2).follow(readBy("ann", 2)).mark("bob", 1);
    shown.change("bob", readBy("bob", 1)).mark("ann", 4).change("ann", readBy("ann", 4));
    shown.list(readBy("ann", 4), readBy("bob", 1));
    const { violations, counts } = shown.history.check();
    expect(violations).toEqual([]);
    expect(counts).toMatchObject({ receipts: 3, receiptStates: 1 });
  });

  it("[CU39] may show a mark that somebody has asked for and that nobody has acknowledged yet", () => {
    const asked = { process: "p", f: "mark", user: "ann", call: "x", own: true } as const;
    const shown = new Shown().follow().note({ ...asked, type: "invoke", epoch: "e1", offset: 3 });
    expect(shown.change("ann", readBy("ann", 3)).lines()).toEqual([]);
  });

  it("[CU39] are violated if they show more than somebody has asked to mark in the epoch", () => {
    const shown = new Shown().mark("ann", 2).mark("ann", 7, "e0").follow(readBy("ann", 3));
    shown
      .change("bob", readBy("bob", 1))
      .mark("bob", 1)
      .change("ann", readBy("ann", 7, "e0"));
    expect(shown.lines()).toEqual([
      "invented ann is shown at 3, of 2 asked for",
      "invented bob is shown at 1, of 0 asked for",
    ]);
  });

  it("[CU43] are violated if a user's goes back while a client follows them", () => {
    const shown = new Shown()
      .mark("ann", 5)
      .follow(readBy("ann", 5))
      .change("ann", readBy("ann", 4));
    expect(shown.lines()).toEqual(["regressed ann is shown at 4, after 5"]);
  });

  it("[CU39] may be behind in another subscription, and in another epoch", () => {
    const shown = new Shown().mark("ann", 5).mark("ann", 1, "e2").follow(readBy("ann", 5)).leave();
    shown.follow(readBy("ann", 4)).change("ann", readBy("ann", 1, "e2"));
    expect(shown.lines()).toEqual([]);
  });

  it("[CU39] are violated if a user's goes away who wasn't forgotten", () => {
    const shown = new Shown().mark("ann", 5).follow(readBy("ann", 5)).change("ann");
    expect(shown.lines()).toEqual(["regressed ann isn't shown any more, after 5"]);
  });

  it("[CU39] may lose a user who was forgotten, and begin anew", () => {
    const shown = new Shown().mark("ann", 5).follow(readBy("ann", 5)).forget("ann").change("ann");
    shown.change("ann", readBy("ann", 2)).list(readBy("ann", 2));
    expect(shown.lines()).toEqual([]);
  });

  it("[CU39] are violated if a client shows others in the end than marks lists", () => {
    const marks = [readBy("ann", 2), readBy("bob", 3), readBy("cat", 4)] as const;
    const shown = new Shown().mark("ann", 2).mark("bob", 3).mark("cat", 4).mark("dan", 1);
    shown
      .forget("dan")
      .follow(marks[0], readBy("bob", 2), readBy("dan", 1))
      .list(...marks);
    expect(shown.lines()).toEqual([
      "diverged a1 shows 2 of e1 since 102 of bob, and there is 3 of e1 since 103",
      "diverged a1 shows nothing of cat, and there is 4 of e1 since 104",
      "diverged a1 shows 1 of e1 since 101 of dan, and there is nothing",
    ]);
  });

  it("[CU35] are compared with a list that has what was acknowledged", () => {
    const shown = new Shown().mark("ann", 2).mark("bob", 3).follow(readBy("ann", 1));
    expect(shown.list(readBy("ann", 1)).lines()).toEqual([
      "regressed ann is listed at 1, after 2",
      "regressed bob is listed at 0, after 3",
    ]);
  });

  it("[CU41] are violated if a client doesn't follow them in the end, unless it has left", () => {
    const shown = new Shown().follow().leave().list();
    expect(shown.lines()).toEqual(["absent a1 doesn't follow the receipts any more"]);
    expect(new Shown().follow().leave(true).list().lines()).toEqual([]);
  });

  it("[CU41] are violated if a client is told of them without a subscription", () => {
    const shown = new Shown().mark("ann", 5).follow().leave().change("ann", readBy("ann", 5));
    expect(shown.lines()).toEqual(["stray ann is shown without a subscription"]);
  });
});
