import { describe, expect, it } from "vitest";
import type { EventTaken } from "../history-event.ts";
import { HistoryBuilder } from "../history-builder.ts";
import type { CursorEvent } from "./cursor-event.ts";

type Untimed<Each> = Each extends CursorEvent ? Omit<Each, "time" | "channel"> : never;

/** One channel whose members are Ann, with the clients `a1` and `a2`, and Bob, with `b1`. */
class Told {
  readonly history = new HistoryBuilder("stream", 100);
  #calls = 0;
  #events = 100;

  constructor(audience: "subscribed" | "named" = "subscribed") {
    const options = { audience, notifyAfterMs: 4_000, unreadMax: 5 } as const;
    this.note({ process: "prove", type: "info", f: "cursors", ...options });
    const { history } = this;
    history.connect("a1", "ann").connect("a2", "ann").connect("b1", "bob");
    history.subscribe("a1").subscribe("a2").subscribe("b1");
    if (audience === "named") this.name("ann").name("bob");
    this.audience("ann", "bob");
  }

  note(event: Untimed<CursorEvent>): this {
    this.history.add({ ...event, channel: this.history.channel });
    return this;
  }

  name(user: string): this {
    return this.note({ process: "backend", type: "invoke", f: "member", user });
  }

  audience(...users: readonly string[]): this {
    return this.note({ process: "backend", type: "ok", f: "audience", users });
  }

  /** Publishes v1, v2, …, of which these clients get each. */
  publish(from: number, to: number, ...clients: readonly string[]): this {
    for (let offset = from; offset <= to; offset++) {
      this.history.publish(`v${offset}`);
      for (const client of clients) this.history.deliver(client, offset, `v${offset}`);
    }
    return this;
  }

  /** A client of Bob publishes, and all clients get that. */
  publishOwn(offset: number): this {
    const { history } = this;
    const value = `v${offset}`;
    history.invoke(value, "b1");
    for (const client of ["a1", "a2", "b1"]) history.deliver(client, offset, value);
    history.acknowledgeUnplaced(value, "b1");
    return this;
  }

  mark(user: string, offset: number, read = offset, own = true): this {
    const call = this.#next();
    const mark = { process: "p", f: "mark", user, call, epoch: "e1" } as const;
    return this.note({ ...mark, type: "invoke", offset, own }).note({ ...mark, type: "ok", read });
  }

  unread(user: string, unread: number, read: number, more: UnreadPart = {}): this {
    const { offset = 4, ...rest } = more;
    const count = { process: "p", f: "unread", user, call: this.#next() } as const;
    const answer = { unread, read, offset, epoch: "e1", ...rest };
    return this.note({ ...count, type: "invoke" }).note({ ...count, type: "ok", ...answer });
  }

  delivered(user: string, offset: number, since = 0): this {
    const question = { process: "p", f: "delivered", user, call: this.#next() } as const;
    const answer = { epoch: "e1", since, offset, by: "ping" } as const;
    return this.note({ ...question, type: "invoke" }).note({ ...question, type: "ok", ...answer });
  }

  pong(process: string): this {
    return this.note({ process, type: "ok", f: "pong" });
  }

  pass(seconds: number): this {
    this.history.pass(seconds);
    return this;
  }

  unseen(user: string, from: number, to: number, more: Partial<EventTaken> = {}): this {
    return this.#event("unseen", { user, from, to, count: to - from + 1, ...more });
  }

  seen(user: string, from: number, to: number): this {
    return this.#event("seen", { user, from, to });
  }

  /** Everything must have been told. */
  over(): readonly string[] {
    const told = { process: "prove", type: "info", f: "told" } as const;
    this.history.add({ ...told, what: "connections" }).add({ ...told, what: "everything" });
    return this.lines();
  }

  lines(): readonly string[] {
    return this.history.check().violations.map(({ kind, text }) => `${kind} ${text}`);
  }

  #event(event: string, about: Partial<EventTaken>): this {
    const first = this.#events === 100 ? { first: true } : {};
    const common = { process: "events", type: "ok", f: "event", object: "channel/a" } as const;
    const { channel } = this.history;
    const number = ++this.#events;
    this.history.add({ ...common, number, event, ...first, channel, epoch: "e1", ...about });
    return this;
  }

  #next(): string {
    return `call-${++this.#calls}`;
  }
}

interface UnreadPart {
  readonly offset?: number;
  readonly capped?: boolean;
  readonly reset?: boolean;
}

describe("what has arrived", () => {
  it("[CU10] is what some client of the user has received, or has marked", () => {
    const told = new Told().publish(1, 2, "a1", "b1");
    told.history.detach("a1").detach("a2").recover("a2", 0).deliver("a2", 1, "v1", "v2");
    told.publish(3, 4, "a2", "b1");
    told.delivered("ann", 4).delivered("bob", 4, 2);
    expect(told.lines()).toEqual([]);
    const marked = new Told().publish(1, 4, "b1").mark("ann", 3).delivered("ann", 3);
    expect(marked.lines()).toEqual([]);
  });

  it("[CU10] is violated if it goes further than what the clients have received", () => {
    const told = new Told().publish(1, 2, "a1", "b1").publish(3, 4, "b1").delivered("ann", 3);
    told.history.deliver("a1", 3, "v3").deliver("a1", 4, "v4");
    expect(told.lines()).toEqual([
      "unproven ann is said to have got 0 to 3 by ping, and no client has received 3",
    ]);
  });

  it("[CU10] is violated if it covers a hole, or what a backend alone has marked", () => {
    const told = new Told().publish(1, 4, "b1").mark("ann", 3, 3, false).delivered("ann", 3, 1);
    expect(told.lines()).toEqual([
      "unproven ann is said to have got 1 to 3 by ping, and no client has received 2",
    ]);
  });

  it("[CU10] is violated if it goes back", () => {
    const told = new Told().publish(1, 4, "a1", "b1").delivered("ann", 4).delivered("ann", 3);
    expect(told.lines()).toEqual(["regressed ann is said to have got 3, after 4"]);
  });
});

describe("marks", () => {
  it("[CU1] only go forward, however late they come", () => {
    const told = new Told().publish(1, 4, "a1", "a2", "b1").mark("ann", 4).mark("ann", 2, 4);
    expect(told.unread("ann", 0, 4).lines()).toEqual([]);
  });

  it("[CU1] are violated if one that was acknowledged goes back", () => {
    const told = new Told().publish(1, 4, "a1", "a2", "b1").mark("ann", 4).mark("ann", 2);
    expect(told.unread("ann", 1, 3).lines()).toEqual([
      "regressed ann is marked at 2, after 4",
      "regressed ann is marked at 3, after 4",
    ]);
  });

  it("[CU1] are violated if one is answered for which nobody has asked", () => {
    const told = new Told().publish(1, 4, "a1", "a2", "b1").mark("ann", 2, 3);
    expect(told.lines()).toEqual(["invented ann is marked at 3, of 2 asked for"]);
  });

  it("[CU5] are violated if one of the epoch is said to be none", () => {
    const told = new Told().publish(1, 4, "a1", "a2", "b1").mark("ann", 2);
    expect(told.unread("ann", 2, 2, { reset: true }).lines()).toEqual([
      "regressed ann is said to have marked nothing, after 2",
    ]);
  });
});

describe("counts of unread publications", () => {
  it("[CU4] leave out what the user has published, and are capped", () => {
    const told = new Told().publish(1, 3, "a1", "a2", "b1").publishOwn(4).mark("bob", 1);
    told.unread("bob", 2, 1).unread("ann", 4, 0);
    told.publish(5, 7, "a1", "a2", "b1").unread("ann", 5, 0, { offset: 7, capped: true });
    told.history.settle();
    expect(told.unread("bob", 5, 1, { offset: 7 }).lines()).toEqual([]);
  });

  it.each([
    ["lacks one", "ann", 3, "3 unread after 0 of 4, and 4 of others are there"],
    ["has one of the user's own", "bob", 4, "4 unread after 0 of 4, and 3 of others are there"],
  ])("[CU4] are violated if one %s", (_, user, unread, text) => {
    const told = new Told().publish(1, 3, "a1", "a2", "b1").publishOwn(4).unread(user, unread, 0);
    expect(told.lines()).toEqual([`miscounted ${user} is said to have ${text}`]);
  });

  it("[CU4] are violated if one is of less than there is, when all has settled", () => {
    const told = new Told().publish(1, 4, "a1", "a2", "b1");
    told.history.settle();
    expect(told.unread("ann", 3, 0, { offset: 3 }).lines()).toEqual([
      "miscounted ann is said to have 3 unread after 0 of 3, and the newest is 4",
    ]);
  });
});

describe("audiences", () => {
  it("[CU20] [CU22] are violated by who isn't a member any more, or never becomes one", () => {
    const told = new Told();
    told.history.connect("c1", "cat").subscribe("c1").settle();
    expect(told.audience("ann", "gus").lines()).toEqual([
      "invented gus is a member, and nobody has made the user one",
      "forgotten bob is no member any more",
      "absent bob subscribes, and is no member",
      "absent cat subscribes, and is no member",
    ]);
  });
});

describe("what wasn't seen", () => {
  it("[CU23] [CU26] is told once, and again when it was seen", () => {
    const told = new Told().publish(1, 2, "b1").pass(5).unseen("ann", 1, 2);
    told.publish(3, 3, "b1").pass(5).unseen("ann", 3, 3);
    told.history.deliver("a2", 1, "v1", "v2", "v3");
    expect(told.seen("ann", 1, 3).over()).toEqual([]);
  });

  it("[CU23] may be what arrived only after it was told, or was published by the user", () => {
    const told = new Told().publish(1, 2, "a1", "a2", "b1").publishOwn(3).pass(5);
    told.unseen("ann", 1, 2).unseen("bob", 1, 2);
    // The clients' pongs may be lost.
    expect(told.lines()).toEqual([]);
  });

  it("[CU23] is violated if nobody is told of it", () => {
    const told = new Told().publish(1, 4, "b1").pass(5).unseen("ann", 1, 3);
    expect(told.over()).toEqual(["untold nobody was told that ann hasn't seen 4"]);
  });

  it("[CU23] is violated if nobody is told of what was seen very late", () => {
    const told = new Told().publish(1, 2, "b1").pass(130);
    told.history.deliver("a1", 1, "v1", "v2");
    expect(told.over()).toEqual(
      [1, 2].map((v) => `untold nobody was told that ann hasn't seen ${v}`),
    );
  });

  it("[CU24] is violated if it is told twice", () => {
    const told = new Told().publish(1, 4, "b1").pass(5).unseen("ann", 1, 3).unseen("ann", 3, 4);
    expect(told.over()).toEqual([
      "mistold ann was said not to have seen 3 to 4, and 1 to 3 before",
    ]);
  });

  it("[CU23] is violated if it is told too early", () => {
    const told = new Told().publish(1, 4, "b1").pass(2).unseen("ann", 1, 4);
    expect(told.over()).toEqual([
      "mistold ann was said not to have seen 1 to 4, 2003 ms after 4 was published",
    ]);
  });

  it("[CU23] is violated if it was read before", () => {
    const told = new Told().publish(1, 4, "b1").mark("ann", 2).pass(5).unseen("ann", 2, 4);
    expect(told.over()).toEqual(["mistold ann was said not to have seen 2 to 4, and had marked 2"]);
  });

  it("[CU16] may be around a proof that claims nothing", () => {
    const told = new Told().publish(1, 4, "b1").delivered("ann", 2, 2);
    expect(told.pass(5).unseen("ann", 1, 4).over()).toEqual([]);
  });

  it("[CU23] is violated if it was said to have arrived before", () => {
    const told = new Told().publish(1, 2, "a1", "b1").publish(3, 4, "b1").delivered("ann", 2, 0);
    expect(told.pass(5).unseen("ann", 2, 4).over()).toEqual([
      "mistold ann was said not to have seen 2 to 4, and was said to have got 0 to 2",
    ]);
  });

  it("[CU12] [CU25] is violated if a client has received it, and has answered pings before and after", () => {
    const told = new Told().publish(1, 2, "a1", "b1").pass(2).pong("a1").pass(2).pong("a1").pass(1);
    told.unseen("ann", 1, 2);
    expect(told.lines()).toEqual([]);
    told.pass(1).pong("a1").pass(2).pong("a1");
    expect(told.lines()).toEqual([
      "mistold ann was said not to have seen 1 to 2, and had received 1 and answered two pings since",
    ]);
  });

  it("[CU12] may have been received by a client whose connection has broken since", () => {
    const told = new Told().publish(1, 2, "a1", "b1").pass(2).pong("a1").pass(2).pong("a1");
    told.history.detach("a1").recover("a1", 2);
    told.pass(2).unseen("ann", 1, 2).pass(2).pong("a1").pass(2).pong("a1");
    expect(told.lines()).toEqual([]);
  });

  it("[CU4] [CU23] is violated if it begins with what the user has published, or is miscounted", () => {
    const told = new Told().publish(1, 3, "a1", "a2", "b1").publishOwn(4).pass(5);
    told.unseen("bob", 1, 4).unseen("ann", 1, 3, { count: 2 });
    expect(told.over()).toEqual([
      "mistold ann was said not to have seen 1 to 3, 2 of them, and 3 are there",
      "mistold bob was said not to have seen 1 to 4, and has published 4",
    ]);
  });

  it("[CU21] is violated for somebody who is no member", () => {
    const told = new Told("named").publish(1, 1, "a1", "b1").pass(5).unseen("gus", 1, 1);
    expect(told.over()).toEqual([
      "mistold gus was said not to have seen 1 to 1, and is no member of stream:a",
    ]);
  });

  it("[CU26] is violated if it is seen by nobody, or otherwise than it was told", () => {
    const told = new Told().publish(1, 4, "b1").pass(5).unseen("ann", 1, 4).seen("ann", 2, 4);
    expect(told.over()).toEqual([
      "mistold ann is said to have seen 2 to 4, and 1 to 4 was unseen",
      "mistold ann is said to have seen 2 to 4, and has neither got nor read 2",
    ]);
  });

  it("[CU26] is violated if it is read, and that is never told", () => {
    const told = new Told().publish(1, 4, "b1").pass(5).unseen("ann", 1, 4).mark("ann", 4);
    expect(told.over()).toEqual([
      "untold ann has marked 4, and was never told to have seen 1 to 4",
    ]);
  });
});
