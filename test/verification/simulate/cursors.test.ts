import { describe, expect, it } from "vitest";
import { complaintsOf } from "./complaints.ts";
import { CursorRules } from "./cursor-rules.ts";
import { PublicationLog } from "./publication-log.ts";
import { UnseenRules } from "./unseen-rules.ts";
import { World } from "./world.ts";

const channel = "mark:a";
const epoch = "epoch1";

function publisherOf(data: string): string | undefined {
  return data.startsWith("c1-") ? "ada" : undefined;
}

function rulesWith(publications: readonly string[]) {
  const log = new PublicationLog();
  for (const [index, data] of publications.entries())
    log.publish(channel, { data, incarnation: 1, atMs: 0, position: { epoch, offset: index + 1 } });
  let nowMs = 0;
  const rules = new CursorRules(log, publisherOf, () => nowMs);
  const passes = (ms: number): void => void (nowMs += ms);
  return { rules, complaints: log.complaints, known: () => rules.known(channel, "ada"), passes };
}

describe("the rules of marks", () => {
  it("[CU1] complain about a mark that goes back after it was told, and not about one that was under way", () => {
    const { rules, complaints, known } = rulesWith(["api-1", "api-2"]);
    rules.marks(channel, "ada", { epoch, offset: 2 }, true);
    const before = known();
    rules.marked(before, { read: 2, epoch });
    rules.marked(before, { read: 1, epoch });
    expect(complaints).toEqual([]);
    rules.marked(known(), { read: 1, epoch });
    expect(complaints).toEqual(["mark:a ada epoch1 is marked at 1 after 2"]);
  });

  it("[CU1] complain about a mark for which nobody has asked", () => {
    const { rules, complaints, known } = rulesWith(["api-1", "api-2"]);
    rules.marks(channel, "ada", { epoch, offset: 1 }, true);
    rules.marked(known(), { read: 2, epoch });
    expect(complaints).toEqual(["mark:a ada epoch1 is marked at 2, and was asked for 1"]);
  });

  it("[CU39] [CU43] complain about a shown mark for which nobody has asked, and about one that goes back", () => {
    const { rules, complaints } = rulesWith(["api-1", "api-2"]);
    rules.marks(channel, "ada", { epoch, offset: 2 }, true);
    rules.shown(channel, "ada", { read: 2, epoch }, { read: 1, epoch });
    rules.shown(channel, "ada", { read: 1, epoch }, { read: 2, epoch: "another" });
    expect(complaints).toEqual([]);
    rules.shown(channel, "ada", { read: 3, epoch }, { read: 2, epoch });
    rules.shown(channel, "ada", { read: 1, epoch }, { read: 2, epoch });
    expect(complaints).toEqual([
      "mark:a ada epoch1 is shown at 3, and was asked for 2",
      "mark:a ada epoch1 is shown at 1 after 2",
    ]);
  });

  it("[CU4] complain about a count that has the user's own publications, where nothing was lost", () => {
    const { rules, complaints, known } = rulesWith(["api-1", "c1-1", "c2-1"]);
    const answer = { read: 0, offset: 3, epoch };
    rules.counted(known(), { ...answer, unread: 2 });
    expect(complaints).toEqual([]);
    rules.counted(known(), { ...answer, unread: 1 });
    rules.counted(known(), { ...answer, unread: 4 });
    expect(complaints).toHaveLength(2);
  });

  it("[CU5] complain about a mark that was lost in its own epoch", () => {
    const { rules, complaints, known } = rulesWith(["api-1"]);
    rules.marks(channel, "ada", { epoch, offset: 1 }, true);
    rules.marked(known(), { read: 1, epoch });
    rules.counted(known(), { unread: 1, read: 0, offset: 1, epoch, reset: true });
    expect(complaints).toContain("mark:a ada epoch1 has a mark at 1, and was reset");
  });
});

describe("the rules of forgetting", () => {
  const longMs = 100_000;

  it("[CU30] complain about a mark that stands long after it was forgotten, and not about a later one", () => {
    const { rules, complaints, known, passes } = rulesWith(["api-1", "api-2"]);
    const mark = (offset: number): void => {
      rules.marks(channel, "ada", { epoch, offset }, false);
      rules.marked(known(), { read: offset, epoch });
      passes(1);
    };
    mark(1);
    const acknowledged = rules.forgets("ada");
    passes(1);
    acknowledged();
    rules.counted(known(), { unread: 1, read: 1, offset: 2, epoch });
    passes(longMs);
    rules.counted(known(), { unread: 2, read: 0, offset: 2, epoch });
    expect(complaints).toEqual([]);
    rules.counted(known(), { unread: 1, read: 1, offset: 2, epoch });
    expect(complaints).toEqual(["mark:a ada epoch1 is counted from 1, and was marked at 0"]);
    mark(2);
    rules.counted(known(), { unread: 0, read: 2, offset: 2, epoch });
    expect(complaints).toHaveLength(1);
    rules.counted(known(), { unread: 2, read: 0, offset: 2, epoch });
    expect(complaints.at(-1)).toBe("mark:a ada epoch1 is counted from 0 after a mark at 2");
  });

  it("[CU33] let a mark be lost that comes while a forgetting isn't acknowledged", () => {
    const { rules, complaints, known, passes } = rulesWith(["api-1"]);
    rules.forgets("ada");
    passes(longMs);
    rules.marks(channel, "ada", { epoch, offset: 1 }, false);
    rules.marked(known(), { read: 1, epoch });
    passes(1);
    rules.counted(known(), { unread: 1, read: 0, offset: 1, epoch });
    expect(complaints).toEqual([]);
  });
});

describe("the rules of what has arrived", () => {
  it("[CU10] complain about a publication that has arrived at no client of the user", () => {
    const { rules, complaints } = rulesWith([]);
    rules.arrived(channel, "ada", { epoch, offset: 2 });
    rules.proven(channel, "ada", { epoch, since: 1, offset: 2, by: "ping" });
    expect(complaints).toEqual([]);
    rules.proven(channel, "ada", { epoch, offset: 2, by: "ping" });
    rules.proven(channel, "eve", { epoch, since: 1, offset: 2, by: "ping" });
    expect(complaints).toHaveLength(2);
  });

  it("[CU11] take a client's word, and not a backend's", () => {
    const { rules, complaints } = rulesWith([]);
    rules.marks(channel, "ada", { epoch, offset: 2 }, true);
    rules.proven(channel, "ada", { epoch, offset: 2, by: "command" });
    expect(complaints).toEqual([]);
    rules.marks(channel, "ada", { epoch, offset: 3 }, false);
    rules.proven(channel, "ada", { epoch, offset: 3, by: "command" });
    expect(complaints).toHaveLength(1);
  });

  it("[CU10] complain about an answer that goes back", () => {
    const { rules, complaints, known } = rulesWith([]);
    rules.delivered(known(), { epoch, offset: 2 });
    rules.delivered(known(), { epoch, offset: 1 });
    expect(complaints).toEqual(["mark:a ada epoch1 has got 1 after 2"]);
  });
});

describe("the rules of what a backend is told", () => {
  const position = { epoch, offset: 1 };
  const members = new Map([["ada", { epoch, read: 0 }]]);
  const event = { object: `channel/${channel}`, number: 1, type: "unseen", channel, user: "ada" };
  const stretch = { epoch, from: 1, to: 1, count: 1, since_ms: 1_000 };
  const told = (time: number, more: object = {}): string =>
    JSON.stringify({ events: [{ ...event, ...stretch, time, ...more }] });

  let atMs = 0;
  function unseenRules() {
    const log = new PublicationLog();
    log.publish(channel, { data: "api-1", incarnation: 1, atMs: 1_000, position });
    const cursors = new CursorRules(
      log,
      () => undefined,
      () => atMs,
    );
    const unseen = new UnseenRules(
      log,
      cursors,
      () => undefined,
      () => atMs,
    );
    return { cursors, unseen, complaints: log.complaints };
  }

  it("[CU23] complain about a publication that nobody was told of, unless it has arrived or is read", () => {
    const { cursors, unseen, complaints } = unseenRules();
    unseen.checkAll(channel, members, position);
    expect(complaints).toEqual(["nobody was told that ada hasn't seen 1 of mark:a"]);
    cursors.arrived(channel, "ada", position);
    unseen.checkAll(channel, members, position);
    expect(complaints).toHaveLength(1);
  });

  it("[CU24] complain about an event that comes too early, or about a publication twice, and not about a repeated one", () => {
    const { unseen, complaints } = unseenRules();
    unseen.take(told(31_000));
    unseen.take(told(31_000));
    unseen.checkAll(channel, members, position);
    expect(complaints).toEqual([]);
    unseen.take(told(62_000, { number: 2 }));
    atMs = 30_999;
    unseen.take(told(30_999, { number: 3, user: "eve" }));
    expect(complaints).toHaveLength(2);
    atMs = 31_000;
    unseen.take(told(30_999, { number: 4, user: "joe" }));
    expect(complaints).toHaveLength(2);
  });

  it("[CU23] complain about an event of what was known to be seen, and not of what is seen later", () => {
    const { cursors, unseen, complaints } = unseenRules();
    unseen.take(told(31_000));
    atMs = 31_001;
    const known = cursors.known(channel, "ada");
    cursors.marks(channel, "ada", position, false);
    cursors.marked(known, { read: 1, epoch });
    cursors.isSure(channel, "ada", position);
    atMs = 41_000;
    cursors.isSure(channel, "ada", position);
    unseen.checkFalse(true);
    expect(complaints).toEqual([]);
    unseen.take(told(35_000, { number: 2, from: 1, to: 1 }));
    const twice = complaints.length;
    unseen.checkFalse(false);
    expect(complaints.slice(twice)).toHaveLength(1);
    unseen.checkFalse(true);
    expect(complaints.slice(twice)).toHaveLength(3);
  });
});

describe("a world with named audiences", () => {
  const named = "named:d";

  it("[CU20] [CU21] [CU23] has backends told of members, and of nobody else", () => {
    const world = new World({ channels: [named], gateways: 1 });
    const change = (method: "add_audience" | "remove_audience" | "set_audience", users: string[]) =>
      world.cursors.changeAudience(named, method, users);
    change("add_audience", ["ada", "eve"]);
    world.pass(100);
    change("remove_audience", ["eve"]);
    change("set_audience", ["ada", "joe"]);
    world.pass(100);
    world.backend.publish(named, false);
    world.pass(100);
    expect([...world.channel(named).members.keys()]).toEqual(["ada", "joe"]);
    expect(complaintsOf(world)).toEqual([]);
    world.unseen.checkFalse(true);
    expect(world.publicationLog.complaints).toEqual([]);
  });

  it("[CU30] forgets a user on each channel", () => {
    const world = new World({ channels: [named, channel], gateways: 1 });
    world.cursors.changeAudience(named, "add_audience", ["ada"]);
    for (const name of [named, channel]) world.backend.publish(name, false);
    world.pass(100);
    for (const name of [named, channel]) world.cursors.mark(name, "ada", 1, "");
    world.pass(5_000);
    for (const name of [named, channel]) expect(world.channel(name).marks.size).toBe(1);
    world.cursors.forget("ada");
    world.pass(1_000);
    for (const name of [named, channel]) expect(world.channel(name).marks.size).toBe(0);
    expect(world.channel(named).members.size).toBe(0);
    expect(complaintsOf(world)).toEqual([]);
  });
});

describe("a world with marks", () => {
  it("[CU12] knows what has arrived once a ping was answered, and not before", () => {
    const world = new World({ channels: [channel], gateways: 1 });
    const client = world.client({ user: "ada", isPinged: true });
    const offsets: number[] = [];
    const ask = (): void => {
      world.cursors.askDelivered(channel, "ada", ({ offset }) => offsets.push(offset));
      world.pass(100);
    };
    client.connect();
    client.subscribe(channel);
    world.pass(100);
    world.backend.publish(channel, false);
    world.pass(100);
    ask();
    client.connected?.socket?.stall(7_000);
    world.pass(5_000);
    ask();
    world.pass(2_500);
    ask();
    expect(offsets).toEqual([0, 0, 1]);
    expect(complaintsOf(world)).toEqual([]);
  });

  it("[CU1] [CU4] compares what clients and backends are answered", () => {
    const world = new World({ channels: [channel], gateways: 1 });
    const client = world.client({ user: "ada" });
    client.connect();
    client.subscribe(channel);
    world.pass(100);
    for (let count = 0; count < 3; count++) world.backend.publish(channel, false);
    client.publish(channel);
    world.pass(100);
    client.calls.mark(channel, 1, "known", false);
    client.calls.mark(channel, 2, "none", true);
    client.calls.countUnread(channel);
    world.cursors.countUnread(channel, "ada");
    world.pass(100);
    expect(world.channel(channel).marks).toEqual(new Map([["ada", { epoch, read: 3 }]]));
    world.channel(channel).crash();
    expect(complaintsOf(world)).toEqual([]);
  });
});
