import { describe, expect, it } from "vitest";
import { errorCodes, unsubscribeCodes } from "../../../src/protocol/codes.ts";
import type { Publication } from "../../../src/protocol/publication.ts";
import { json } from "../api/channel-config.ts";
import { ManyChannelsFixture } from "./many-channels-fixture.ts";
import { subscriptionToken } from "./verified-tokens.ts";

const open = { subscription_type: "map", allow_subscribe_for_client: true };
const namespaces = [
  {
    ...open,
    name: "kept",
    map: { mode: "recoverable", key_ttl: "1m", min_page_size: 1 },
    allowed_delta_types: ["fossil"],
    allow_tags_filter: true,
  },
  { ...open, name: "brief", map: { mode: "ephemeral", key_ttl: "1m", min_page_size: 1 } },
  {
    ...open,
    name: "asked",
    map: { mode: "persistent" },
    subscribe_proxy_enabled: true,
  },
  { name: "plain", allow_subscribe_for_client: true },
];
const channel = {
  proxy: { subscribe: { endpoint: "https://backend.example/hooks" } },
  namespaces,
};

function newFixture(more: object = {}): ManyChannelsFixture {
  return new ManyChannelsFixture({ channel, ...more });
}

/** A subscribe of a map, as the SDK sends it. */
function ask(id: number, name: string, fields: object = {}): string {
  const subscribe = { channel: name, type: 1, phase: 2, flag: 1, ...fields };
  return JSON.stringify({ id, subscribe });
}

function entry(key: string, offset: number, more: Partial<Publication> = {}): Publication {
  return { key, data: json(`"${key}${offset}"`), offset, ...more };
}

const at = (offset: number, epoch = "e") => ({ epoch, offset });
const error = (id: number, code: number, message: string, temporary = "") =>
  `{"id":${id},"error":{"code":${code},"message":"${message}"${temporary}}}`;
const denied = (id: number) => error(id, 103, "permission denied");
const parallel = (id: number) => error(id, 113, "concurrent pagination", ',"temporary":true');
const lost = (id: number) => error(id, 112, "unrecoverable position");
const malformed = (id: number) => error(id, 107, "bad request");

const emptyPage = { outcome: "page", publications: [], position: at(1) } as const;
const unsubscribed =
  '{"push":{"channel":"kept:a","unsubscribe":{"code":2000,"reason":"server unsubscribe"}}}';

describe("a client that synchronises a map", () => {
  it("[Z15] gets a small map and its subscription in one reply", () => {
    const fixture = newFixture();
    const { channels } = fixture;
    const connection = fixture.connected();
    fixture.send(connection, ask(2, "kept:a"));
    expect(channels.pageOf("kept:a")).toStrictEqual({ cursor: "", limit: 100 });
    channels.answerPage("kept:a", {
      outcome: "page",
      publications: [entry("a", 1), entry("b", 2, { tags: { t: "v" } })],
      cursor: "",
      position: at(2),
    });
    expect(channels.optionsOf("kept:a")).toStrictEqual({
      positioned: true,
      mode: "stream",
      orFail: true,
      since: at(2),
    });
    expect(connection.takeSent()).toStrictEqual([]);
    channels.acceptSubscribe("kept:a", {
      position: at(3),
      recovered: true,
      publications: [entry("a", 3, { removed: true, data: json('""') })],
    });
    expect(connection.takeSent()).toStrictEqual([
      '{"id":2,"subscribe":{"recoverable":true,"epoch":"e",' +
        '"publications":[{"offset":3,"key":"a","removed":true}],"offset":3,"type":1,' +
        '"state":[{"data":"a1","offset":1,"key":"a"},{"data":"b2","offset":2,"tags":{"t":"v"},"key":"b"}]}}',
    ]);
    expect(channels.takeCalls()).toStrictEqual(["page kept:a", "join kept:a", "announce kept:a"]);
    expect(connection.saved.subscriptions).toMatchObject([
      { channel: "kept:a", recoverable: true },
    ]);
    expect(fixture.ask(connection, ask(3, "kept:a"))).toStrictEqual([
      error(3, 105, "already subscribed"),
    ]);
  });

  it("[Z15] gets a large map in pages as of the first one, and then what was changed since", () => {
    const fixture = newFixture();
    const { channels } = fixture;
    const connection = fixture.connected();
    fixture.send(connection, ask(2, "kept:a", { limit: 2 }));
    expect(channels.pageOf("kept:a")).toStrictEqual({ cursor: "", limit: 2 });
    channels.answerPage("kept:a", {
      outcome: "page",
      publications: [entry("a", 1), entry("b", 2)],
      cursor: "b",
      position: at(9),
    });
    expect(connection.takeSent()).toStrictEqual([
      '{"id":2,"subscribe":{"epoch":"e","offset":9,"type":1,"phase":2,"cursor":"b",' +
        '"state":[{"data":"a1","offset":1,"key":"a"},{"data":"b2","offset":2,"key":"b"}]}}',
    ]);
    fixture.send(connection, ask(3, "kept:a", { limit: 2, cursor: "b", ...at(9) }));
    expect(channels.pageOf("kept:a")).toStrictEqual({ cursor: "b", limit: 2, since: at(9) });
    channels.answerPage("kept:a", {
      outcome: "page",
      publications: [entry("d", 4)],
      cursor: "",
      position: at(12),
    });
    expect(channels.optionsOf("kept:a").since).toStrictEqual(at(9));
    channels.acceptSubscribe("kept:a", {
      position: at(10),
      recovered: true,
      publications: [entry("c", 10)],
    });
    expect(connection.takeSent()).toStrictEqual([
      '{"id":3,"subscribe":{"recoverable":true,"epoch":"e","publications":[{"data":"c10","offset":10,"key":"c"}],' +
        '"offset":10,"type":1,"state":[{"data":"d4","offset":4,"key":"d"}]}}',
    ]);
  });

  it("[Z15] of an ephemeral map is told no offset, and not that it can recover", () => {
    const fixture = newFixture();
    const { channels } = fixture;
    const connection = fixture.connected();
    fixture.send(connection, ask(2, "brief:a"));
    channels.answerPage("brief:a", {
      outcome: "page",
      publications: [entry("a", 1)],
      cursor: "a",
      position: at(7),
    });
    fixture.send(connection, ask(3, "brief:a", { cursor: "a", epoch: "e" }));
    channels.answerPage("brief:a", {
      outcome: "page",
      publications: [entry("b", 2)],
      cursor: "",
      position: at(7),
    });
    expect(channels.optionsOf("brief:a")).toMatchObject({ positioned: true, since: at(7) });
    channels.acceptSubscribe("brief:a", {
      position: at(8),
      recovered: true,
      publications: [entry("a", 8)],
    });
    expect(connection.takeSent()).toStrictEqual([
      '{"id":2,"subscribe":{"epoch":"e","type":1,"phase":2,"cursor":"a","state":[{"data":"a1","key":"a"}]}}',
      '{"id":3,"subscribe":{"epoch":"e","publications":[{"data":"a8","key":"a"}],"type":1,' +
        '"state":[{"data":"b2","key":"b"}]}}',
    ]);
  });

  it("[Z15] that is too far behind reads the stream in pages before it is subscribed", () => {
    const fixture = newFixture();
    const { channels } = fixture;
    const connection = fixture.connected();
    fixture.send(connection, ask(2, "kept:a"));
    channels.answerPage("kept:a", {
      outcome: "page",
      publications: [entry("a", 1)],
      cursor: "",
      position: at(1),
    });
    channels.refuseSubscribe("kept:a", { ...errorCodes.unrecoverablePosition });
    fixture.send(connection, ask(3, "kept:a", { phase: 1, limit: 2, ...at(1) }));
    channels.refuseSubscribe("kept:a", { ...errorCodes.unrecoverablePosition });
    expect(channels.streamOf("kept:a")).toStrictEqual({ since: at(1), limit: 2 });
    channels.answerStream("kept:a", {
      outcome: "history",
      publications: [entry("b", 2), entry("b", 3)],
      position: at(400),
    });
    fixture.send(connection, ask(4, "kept:a", { phase: 1, limit: 2, ...at(3) }));
    expect(channels.optionsOf("kept:a").since).toStrictEqual(at(3));
    channels.acceptSubscribe("kept:a", {
      position: at(4),
      recovered: true,
      publications: [entry("b", 4)],
    });
    expect(connection.takeSent()).toStrictEqual([
      '{"id":2,"subscribe":{"epoch":"e","offset":1,"type":1,"phase":2,"state":[{"data":"a1","offset":1,"key":"a"}]}}',
      '{"id":3,"subscribe":{"epoch":"e","publications":[{"data":"b2","offset":2,"key":"b"},{"data":"b3","offset":3,"key":"b"}],' +
        '"offset":3,"type":1,"phase":1}}',
      '{"id":4,"subscribe":{"recoverable":true,"epoch":"e","publications":[{"data":"b4","offset":4,"key":"b"}],"offset":4,"type":1}}',
    ]);
  });

  it("[Z15] is answered 112 if the stream doesn't reach back, or the epoch is another meanwhile", () => {
    const fixture = newFixture();
    const { channels } = fixture;
    const connection = fixture.connected();
    const page = { outcome: "page", publications: [entry("a", 1)], cursor: "a" } as const;
    fixture.send(connection, ask(2, "kept:a"));
    channels.answerPage("kept:a", { ...page, position: at(1) });
    connection.takeSent();
    expect(fixture.ask(connection, ask(3, "kept:a", { cursor: "a", ...at(1, "f") }))).toStrictEqual(
      [lost(3)],
    );
    fixture.send(connection, ask(4, "kept:a"));
    channels.answerPage("kept:a", { ...page, position: at(1) });
    connection.takeSent();
    fixture.send(connection, ask(5, "kept:a", { cursor: "a", ...at(1) }));
    channels.answerPage("kept:a", { ...page, position: at(2, "f") });
    expect(connection.takeSent()).toStrictEqual([lost(5)]);
    fixture.send(connection, ask(6, "kept:a", { phase: 1, recover: true, ...at(1) }));
    channels.refuseSubscribe("kept:a", { ...errorCodes.unrecoverablePosition });
    channels.answerStream("kept:a", { outcome: "failed", error: errorCodes.unrecoverablePosition });
    expect(connection.takeSent()).toStrictEqual([lost(6)]);
    fixture.send(connection, ask(7, "brief:a"));
    channels.answerPage("brief:a", { ...page, cursor: "", position: at(1) });
    channels.refuseSubscribe("brief:a", { ...errorCodes.unrecoverablePosition });
    expect(connection.takeSent()).toStrictEqual([lost(7)]);
    expect(connection.session.subscriptions.size).toBe(0);
  });

  it("[Z15] recovers from its position, and is told the top", () => {
    const fixture = newFixture();
    const { channels } = fixture;
    const connection = fixture.connected();
    fixture.send(connection, ask(2, "kept:a", { phase: 1, recover: true, ...at(3) }));
    expect(channels.optionsOf("kept:a")).toMatchObject({ since: at(3), orFail: true });
    channels.acceptSubscribe("kept:a", {
      position: at(4),
      recovered: true,
      publications: [entry("a", 4)],
    });
    expect(connection.takeSent()).toStrictEqual([
      '{"id":2,"subscribe":{"recoverable":true,"epoch":"e","publications":[{"data":"a4","offset":4,"key":"a"}],' +
        '"recovered":true,"offset":4,"was_recovering":true,"type":1}}',
    ]);
  });

  it("[Z15] gets fewer entries in a page than it asked for, if more don't fit into a reply", () => {
    const fixture = newFixture({ client: { queue_max_size: 65_536 } });
    const { channels } = fixture;
    const connection = fixture.connected();
    fixture.send(connection, ask(2, "kept:a"));
    const large = json(`"${"x".repeat(25_000)}"`);
    const publications = ["a", "b", "c", "d"].map((key) => entry(key, 1, { data: large }));
    channels.answerPage("kept:a", { outcome: "page", publications, cursor: "", position: at(1) });
    channels.acceptSubscribe("kept:a", { position: at(1), recovered: true });
    const [page = ""] = connection.takeSent();
    expect(page).toContain('"phase":2,"cursor":"b","state":[{"data":"xxx');
    expect(page.length).toBeLessThan(65_536);
    expect(channels.takeCalls()).toStrictEqual(["page kept:a", "join kept:a", "leave kept:a"]);
    fixture.send(connection, ask(3, "kept:a", { cursor: "b", ...at(1) }));
    expect(channels.pageOf("kept:a")).toMatchObject({ cursor: "b", since: at(1) });
    channels.answerPage("kept:a", {
      outcome: "page",
      publications: publications.slice(2),
      cursor: "",
      position: at(1),
    });
    channels.acceptSubscribe("kept:a", { position: at(1), recovered: true });
    expect(connection.takeSent()[0]).toContain('{"recoverable":true');
  });

  it("[Z15] [D4] gets the entries and the changes that its filter lets through", () => {
    const fixture = newFixture();
    const { channels } = fixture;
    const connection = fixture.connected();
    const tf = { key: "t", cmp: "eq", val: "v" };
    const tags = { t: "v" };
    fixture.send(connection, ask(2, "kept:a", { tf, delta: "fossil" }));
    channels.answerPage("kept:a", {
      outcome: "page",
      publications: [entry("a", 1), entry("b", 2, { tags })],
      cursor: "",
      position: at(2),
    });
    channels.acceptSubscribe("kept:a", {
      position: at(4),
      recovered: true,
      publications: [entry("a", 3), entry("c", 4, { tags })],
    });
    expect(connection.takeSent()).toStrictEqual([
      '{"id":2,"subscribe":{"recoverable":true,"epoch":"e",' +
        '"publications":[{"data":"c4","offset":4,"tags":{"t":"v"},"key":"c"}],"offset":4,"type":1,' +
        '"state":[{"data":"b2","offset":2,"tags":{"t":"v"},"key":"b"}]}}',
    ]);
  });

  it("[Z19] with deltas gets the state as texts, from which the deltas are made", () => {
    const fixture = newFixture();
    const { channels } = fixture;
    const connection = fixture.connected();
    fixture.send(connection, ask(2, "kept:a", { delta: "fossil" }));
    channels.answerPage("kept:a", {
      outcome: "page",
      publications: [entry("a", 1)],
      cursor: "",
      position: at(1),
    });
    channels.acceptSubscribe("kept:a", {
      position: at(2),
      recovered: true,
      publications: [entry("a", 2)],
    });
    expect(connection.takeSent()).toStrictEqual([
      '{"id":2,"subscribe":{"recoverable":true,"epoch":"e",' +
        String.raw`"publications":[{"data":"\"a2\"","offset":2,"key":"a"}],"offset":2,"delta":true,"type":1,` +
        String.raw`"state":[{"data":"\"a1\"","offset":1,"key":"a"}]}}`,
    ]);
  });
});

describe("a subscription to a map with deltas", () => {
  it("[Z19] stores nothing for a change that it is sent, because each change brings its base", () => {
    const fixture = newFixture();
    const { channels } = fixture;
    const connection = fixture.connected();
    fixture.send(connection, ask(2, "kept:a", { phase: 0, delta: "fossil" }));
    channels.acceptSubscribe("kept:a", { position: at(0) });
    const before = connection.attachment;
    const subscription = channels.subscription("kept:a");
    expect(subscription.delta).toBe(true);
    subscription.noteSent(entry("a", 1));
    expect(subscription.deltaBase).toBeUndefined();
    expect(connection.attachment).toBe(before);
  });
});

describe("a request of a map's flow", () => {
  it("[Z15] is refused while another one is being answered", () => {
    const fixture = newFixture();
    const connection = fixture.connected();
    fixture.send(connection, ask(2, "kept:a"));
    expect(fixture.ask(connection, ask(3, "kept:a"))).toStrictEqual([parallel(3)]);
    fixture.channels.answerPage("kept:a", {
      outcome: "page",
      publications: [],
      cursor: "k",
      position: at(1),
    });
    expect(connection.takeSent()).toStrictEqual([
      '{"id":2,"subscribe":{"epoch":"e","offset":1,"type":1,"phase":2,"cursor":"k"}}',
    ]);
  });

  it("[Z16] is answered with a temporary error after an eviction, and the client starts again", () => {
    const fixture = newFixture();
    const { channels } = fixture;
    const connection = fixture.connected();
    const page = { outcome: "page", publications: [], cursor: "k", position: at(1) } as const;
    fixture.send(connection, ask(2, "kept:a"));
    channels.answerPage("kept:a", page);
    connection.takeSent();
    fixture.wake(connection);
    expect(fixture.ask(connection, ask(3, "kept:a", { cursor: "k", ...at(1) }))).toStrictEqual([
      parallel(3),
    ]);
    expect(fixture.ask(connection, ask(4, "kept:a", { phase: 1, ...at(1) }))).toStrictEqual([
      parallel(4),
    ]);
    expect(fixture.ask(connection, ask(5, "kept:a", { cursor: "k" }))).toStrictEqual([denied(5)]);
    fixture.send(connection, ask(6, "kept:a"));
    expect(channels.pageOf("kept:a")).toStrictEqual({ cursor: "", limit: 100 });
  });

  it("[Z15] that asks for neither the state nor the stream begins at the top", () => {
    const fixture = newFixture();
    const { channels } = fixture;
    const connection = fixture.connected();
    fixture.send(connection, ask(2, "kept:a", { phase: 0 }));
    expect(channels.optionsOf("kept:a")).toStrictEqual({
      positioned: true,
      mode: "stream",
      orFail: true,
    });
    channels.acceptSubscribe("kept:a", { position: at(3) });
    expect(connection.takeSent()).toStrictEqual([
      '{"id":2,"subscribe":{"recoverable":true,"epoch":"e","offset":3,"type":1}}',
    ]);
  });

  it("[Z15] with an unknown phase, or for a stream that the map hasn't, is answered 107", () => {
    const fixture = newFixture();
    const connection = fixture.connected();
    expect(fixture.ask(connection, ask(2, "kept:a", { phase: 3 }))).toStrictEqual([malformed(2)]);
    const stream = { phase: 1, recover: true, ...at(1) };
    expect(fixture.ask(connection, ask(3, "brief:a", stream))).toStrictEqual([malformed(3)]);
    expect(connection.session.subscriptions.size).toBe(0);
  });

  it("[A1] is answered 103 if the namespace's channels are of another type", () => {
    const fixture = newFixture();
    const connection = fixture.connected();
    expect(fixture.ask(connection, ask(2, "plain:a"))).toStrictEqual([denied(2)]);
    const plain = '{"id":3,"subscribe":{"channel":"kept:a"}}';
    expect(fixture.ask(connection, plain)).toStrictEqual([denied(3)]);
    expect(fixture.ask(connection, ask(4, "kept:a", { type: 2 }))).toStrictEqual([denied(4)]);
    expect(fixture.ask(connection, ask(5, "none:a"))).toStrictEqual([
      error(5, 102, "unknown channel"),
    ]);
  });

  it("[Z17] that comes too late closes the connection with 3008, and so does one that never comes", () => {
    for (const comes of [true, false]) {
      const fixture = newFixture();
      const connection = fixture.connected();
      fixture.send(connection, ask(2, "kept:a"));
      const position = at(1);
      fixture.channels.answerPage("kept:a", {
        outcome: "page",
        publications: [],
        cursor: "k",
        position,
      });
      connection.takeSent();
      if (comes) {
        fixture.nowMs += 5_001;
        fixture.send(connection, ask(3, "kept:a", { cursor: "k", ...position }));
      } else fixture.pass(connection, 25_000);
      expect(connection.takeSent()).toStrictEqual(["close 3008 slow"]);
      expect(fixture.channels.takeCalls()).toStrictEqual(["page kept:a"]);
    }
  });

  it("[Z15] [Q2] asks for permission with the first one only", () => {
    const fixture = newFixture();
    const { channels, backend } = fixture;
    const connection = fixture.connected();
    fixture.send(connection, ask(2, "asked:a"));
    backend.answer({ result: { data: { from: "backend" } } });
    const page = { outcome: "page", publications: [], position: at(0) } as const;
    channels.answerPage("asked:a", { ...page, cursor: "k" });
    fixture.send(connection, ask(3, "asked:a", { cursor: "k", epoch: "e" }));
    channels.answerPage("asked:a", { ...page, cursor: "" });
    channels.acceptSubscribe("asked:a", { position: at(0), recovered: true });
    expect(backend.takeAsked()).toHaveLength(1);
    expect(connection.takeSent()).toStrictEqual([
      '{"id":2,"subscribe":{"epoch":"e","type":1,"phase":2,"cursor":"k"}}',
      '{"id":3,"subscribe":{"recoverable":true,"epoch":"e","data":{"from":"backend"},"type":1}}',
    ]);
    const token = subscriptionToken({ channel: "kept:a" });
    fixture.send(connection, ask(4, "kept:a"), token);
    channels.answerPage("kept:a", { ...page, cursor: "k" });
    connection.takeSent();
    fixture.send(connection, ask(5, "kept:a", { cursor: "k", epoch: "e" }));
    expect(channels.pageOf("kept:a")).toMatchObject({ cursor: "k" });
  });

  const ended = [
    ["between two pages", "k", false, false],
    ["while a page is read", "k", true, false],
    ["while it begins", "", false, true],
  ] as const;

  it.each(ended)(
    "[U2] [G5] comes to nothing if an order ends the subscription %s",
    (_, cursor, isReading, isBeginning) => {
      const fixture = newFixture();
      const { channels } = fixture;
      const connection = fixture.connected();
      const end = (): void => connection.session.unsubscribe("kept:a", unsubscribeCodes.server);
      fixture.send(connection, ask(2, "kept:a"));
      if (isReading) end();
      channels.answerPage("kept:a", { ...emptyPage, cursor });
      if (!isReading) end();
      if (isBeginning) channels.acceptSubscribe("kept:a", { position: at(1), recovered: true });
      const page = '{"id":2,"subscribe":{"epoch":"e","offset":1,"type":1,"phase":2,"cursor":"k"}}';
      expect(connection.takeSent()).toStrictEqual(
        isReading || isBeginning ? [unsubscribed, denied(2)] : [page, unsubscribed],
      );
      expect(channels.known).toStrictEqual([]);
      expect(connection.session.subscriptions.size).toBe(0);
      const next = ask(3, "kept:a", { cursor: "k", ...at(1) });
      expect(fixture.ask(connection, next)).toStrictEqual([parallel(3)]);
      fixture.send(connection, ask(4, "kept:a"));
      channels.answerPage("kept:a", { ...emptyPage, cursor: "" });
      channels.acceptSubscribe("kept:a", { position: at(1), recovered: true });
      expect(connection.takeSent()).toStrictEqual([
        '{"id":4,"subscribe":{"recoverable":true,"epoch":"e","offset":1,"type":1}}',
      ]);
    },
  );

  it("[G1] [G5] takes a place of the connection, until the client unsubscribes or is gone", () => {
    const fixture = newFixture({ client: { channel_limit: 1 } });
    const { channels } = fixture;
    const connection = fixture.connected();
    const page = { outcome: "page", publications: [], cursor: "k", position: at(1) } as const;
    fixture.send(connection, ask(2, "kept:a"));
    channels.answerPage("kept:a", page);
    connection.takeSent();
    expect(fixture.ask(connection, ask(3, "kept:b"))).toStrictEqual([
      error(3, 106, "limit exceeded"),
    ]);
    expect(fixture.ask(connection, '{"id":4,"unsubscribe":{"channel":"kept:a"}}')).toStrictEqual([
      '{"id":4,"unsubscribe":{}}',
    ]);
    fixture.send(connection, ask(5, "kept:b"));
    connection.session.ended();
    channels.answerPage("kept:b", page);
    expect(connection.takeSent()).toStrictEqual([]);
    expect(channels.takeCalls()).toStrictEqual(["page kept:a", "page kept:b"]);
  });
});
