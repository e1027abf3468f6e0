import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { disconnectCodes, errorCodes } from "../../../src/protocol/codes.ts";
import { json } from "../api/channel-config.ts";
import { publish, pushed, subscribe, subscribed, tooMany, unsubscribe } from "./frames.ts";
import type { Peer } from "./peer.ts";
import { Switchboard } from "./gateway-fixture.ts";
import { connectionToken, subscriptionToken } from "./verified-tokens.ts";
import { textOf } from "../../support/text-of.ts";

function channelsOf(peer: Peer): readonly string[] {
  return peer.saved.subscriptions.map(({ channel }) => channel);
}

describe("several channels of one connection", () => {
  it("[O6] are asked at once, and answered when each has answered", () => {
    const board = new Switchboard();
    const peer = board.connected();
    const frame = [subscribe(2, "a"), subscribe(3, "b"), subscribe(4, "c")].join("\n");
    expect(board.ask(peer, frame)).toStrictEqual([]);
    expect(board.channels.takeCalls()).toStrictEqual(["join a", "join b", "join c"]);
    board.channels.joined("c");
    board.channels.joined("a");
    expect(peer.hears()).toStrictEqual([subscribed(4), subscribed(2)]);
    board.channels.joined("b");
    expect(peer.hears()).toStrictEqual([subscribed(3)]);
  });

  it("[S1] are remembered as soon as they have begun, and taken up after sleep", () => {
    const board = new Switchboard();
    const peer = board.connected();
    board.say(peer, [subscribe(2, "a"), subscribe(3, "b"), subscribe(4, "c")].join("\n"));
    expect(channelsOf(peer)).toStrictEqual([]);
    board.channels.joined("c");
    board.channels.joined("a");
    expect(channelsOf(peer)).toStrictEqual(["a", "c"]);
    board.wake(peer);
    expect(board.channels.takeCalls()).toStrictEqual(["restore a", "restore c"]);
    peer.hears();
    board.channels.tell("a", "1");
    board.channels.tell("c", "2");
    expect(peer.hears()).toStrictEqual([pushed("a", "1"), pushed("c", "2")]);
    expect(board.ask(peer, subscribe(5, "a"))).toStrictEqual([
      `{"id":5,"error":{"code":105,"message":"already subscribed"}}`,
    ]);
  });

  it("[G2] are remembered when there are too many for an attachment", () => {
    const board = new Switchboard({ client: { channel_limit: 1_024 } });
    const channels = Array.from({ length: 900 }, (_, index) => `${"news".repeat(9)}${index}`);
    const peer = board.subscribed(...channels);
    expect(peer.row).toContain(channels[899]);
    expect(channelsOf(peer)).toStrictEqual(channels);
    board.wake(peer);
    expect(board.channels.takeCalls()).toHaveLength(900);
    for (const channel of channels.slice(1)) board.say(peer, unsubscribe(9, channel));
    expect(peer.row).toBeUndefined();
    expect(channelsOf(peer)).toStrictEqual([channels[0]]);
  });

  it("[O5] are told of a join only after their own reply", () => {
    const board = new Switchboard({ options: { join_leave: true, force_push_join_leave: true } });
    const peer = board.connected();
    board.say(peer, subscribe(2, "a"));
    board.channels.joined("a");
    expect(board.channels.takeCalls()).toStrictEqual(["join a", "announce a"]);
    expect(peer.hears()).toStrictEqual([
      subscribed(2),
      `{"push":{"channel":"a","join":{"info":{"user":"42","client":"c1"}}}}`,
    ]);
  });

  it("[C5] end by themselves, each at its own time", () => {
    const board = new Switchboard({ client: { ping_interval: "1h" } });
    const peer = board.connected();
    const { nowMs } = board;
    for (const [channel, seconds] of [
      ["a", 20],
      ["b", 10],
      ["c", 0],
    ] as const) {
      const expireAtSeconds = seconds === 0 ? 0 : nowMs / 1000 + seconds;
      board.say(peer, subscribe(2, channel), subscriptionToken({ channel, expireAtSeconds }));
      board.channels.joined(channel);
    }
    peer.hears();
    board.channels.takeCalls();
    expect(peer.session.dueAtMs).toBe(nowMs + 35_000);
    peer.session.tick(false, nowMs + 35_000);
    expect(board.channels.takeCalls()).toStrictEqual(["leave b"]);
    expect(peer.hears()).toStrictEqual([
      `{"push":{"channel":"b","unsubscribe":{"code":2501,"reason":"subscription expired"}}}`,
    ]);
    expect(channelsOf(peer)).toStrictEqual(["a", "c"]);
    expect(peer.session.dueAtMs).toBe(nowMs + 45_000);
  });
});

describe("leaving while a subscribe is under way", () => {
  it("[G5] by an unsubscribe leaves no subscription, and is answered after the subscribe", () => {
    const board = new Switchboard();
    const peer = board.connected();
    board.say(peer, `${subscribe(2, "a")}\n${unsubscribe(3, "a")}`);
    board.channels.joined("a");
    expect(peer.hears()).toStrictEqual([subscribed(2), `{"id":3,"unsubscribe":{}}`]);
    expect(board.channels.takeCalls()).toStrictEqual(["join a", "announce a", "leave a"]);
    expect(board.channels.known).toStrictEqual([]);
    expect(channelsOf(peer)).toStrictEqual([]);
  });

  it.each<[string, (peer: Peer) => void]>([
    ["the socket's end", (peer) => peer.session.ended()],
    ["a disconnect", (peer) => peer.session.disconnect(disconnectCodes.badRequest)],
  ])("[G5] by %s takes back every wish and every subscription, once", (_, goes) => {
    const board = new Switchboard();
    const peer = board.subscribed("a", "b");
    board.say(peer, [subscribe(3, "c"), subscribe(4, "d"), publish(5, "c")].join("\n"));
    goes(peer);
    goes(peer);
    const calls = board.channels.takeCalls();
    expect(calls.slice(0, 2)).toStrictEqual(["join c", "join d"]);
    expect(calls.slice(2).toSorted()).toStrictEqual(["leave a", "leave b", "leave c", "leave d"]);
    expect(board.channels.known).toStrictEqual([]);
    expect(peer.saved).toMatchObject({ phase: "closed", subscriptions: [] });
    expect(peer.hears().filter((frame) => !frame.startsWith("close"))).toStrictEqual([]);
  });

  it("[S4] carries out nothing of what waited when an earlier command closes", () => {
    const board = new Switchboard();
    const peer = board.connected();
    const frame = [subscribe(2, "a"), `{"id":3,"publish":{"channel":"a"}}`, publish(4, "a")];
    board.say(peer, frame.join("\n"));
    board.say(peer, `{"id":5,"sub_refresh":{"channel":"a","token":"t"}}`, {
      subscription: { outcome: "invalid", reason: "the signature is wrong" },
    });
    board.say(peer, publish(6, "a"));
    board.channels.joined("a");
    expect(peer.hears()).toStrictEqual([
      subscribed(2),
      `{"id":3,"error":{"code":107,"message":"bad request"}}`,
      "close 3500 invalid token",
    ]);
    expect(board.channels.takeCalls()).toStrictEqual([
      "join a",
      "announce a",
      "publish a 4",
      "leave a",
    ]);
  });
});

describe("a subscribe that fails", () => {
  it("[G5] is answered with the error, leaves nothing behind and can be tried again", () => {
    const board = new Switchboard();
    const peer = board.connected();
    board.say(peer, subscribe(2, "a"));
    board.channels.refused("a", errorCodes.unrecoverablePosition);
    expect(peer.hears()).toStrictEqual([
      `{"id":2,"error":{"code":112,"message":"unrecoverable position"}}`,
    ]);
    expect(board.channels.takeCalls()).toStrictEqual(["join a"]);
    board.say(peer, subscribe(3, "a"));
    board.channels.joined("a");
    expect(peer.hears()).toStrictEqual([subscribed(3)]);
    expect(channelsOf(peer)).toStrictEqual(["a"]);
  });

  it("[G1] frees its place", () => {
    const board = new Switchboard({ client: { channel_limit: 1 } });
    const peer = board.connected();
    board.say(peer, subscribe(2, "a"));
    board.channels.refused("a", errorCodes.internal);
    peer.hears();
    expect(board.ask(peer, subscribe(3, "b"))).toStrictEqual([]);
    board.channels.joined("b");
    expect(peer.hears()).toStrictEqual([subscribed(3)]);
  });
});

const limited = (id: number): string =>
  `{"id":${id},"error":{"code":106,"message":"limit exceeded"}}`;

describe("the number of a connection's channels", () => {
  it("[G1] is limited: one more is answered 106, and one less makes room", () => {
    const board = new Switchboard({ client: { channel_limit: 2 } });
    const peer = board.subscribed("a", "b");
    expect(board.ask(peer, subscribe(4, "c"))).toStrictEqual([limited(4)]);
    expect(board.channels.takeCalls()).toStrictEqual([]);
    board.say(peer, `${unsubscribe(5, "a")}\n${subscribe(6, "c")}`);
    board.channels.joined("c");
    expect(channelsOf(peer)).toStrictEqual(["b", "c"]);
  });

  it("[G1] counts those that are under way", () => {
    const board = new Switchboard({ client: { channel_limit: 2 } });
    const peer = board.connected();
    const frame = [subscribe(2, "a"), subscribe(3, "b"), subscribe(4, "c")].join("\n");
    expect(board.ask(peer, frame)).toStrictEqual([limited(4)]);
    expect(board.channels.takeCalls()).toStrictEqual(["join a", "join b"]);
  });

  it("[G1] is limited after sleep, too", () => {
    const board = new Switchboard({ client: { channel_limit: 2 } });
    const peer = board.subscribed("a", "b");
    board.wake(peer);
    expect(board.ask(peer, subscribe(4, "c"))).toStrictEqual([limited(4)]);
  });

  it.each([
    ["in a row", true, 11_000, 96],
    ["in an attachment", false, 5_000, 4],
  ])(
    "[B2] is limited by what can be remembered %s, those under way included",
    (_, storesRows, bytes, refused) => {
      const board = new Switchboard({ storesRows });
      const peer = board.connected();
      const info = json(`"${"x".repeat(bytes)}"`);
      let asked = 0;
      while (asked < 128 && peer.hears().length === 0) {
        asked++;
        const channel = `news${asked}`;
        board.say(peer, subscribe(asked, channel), subscriptionToken({ channel, info }));
      }
      expect(asked).toBe(refused);
      for (let number = 1; number < asked; number++) board.channels.joined(`news${number}`);
      expect(channelsOf(peer)).toHaveLength(asked - 1);
      expect((peer.row ?? "").length).toBeLessThanOrEqual(limits.sessionRowBytesMax);
    },
  );
});

const recover = (id: number, channel: string): string =>
  `{"id":${id},"subscribe":{"channel":"${channel}","recover":true,"epoch":"e"}}`;

describe("several large recoveries at once", () => {
  const options = { history_size: 100, history_ttl: "60s", force_recovery: true };
  const position = { epoch: "e", offset: 1 };
  const publications = [{ data: json(`"${"x".repeat(600_000)}"`), offset: 1 }];

  it("[F4] are answered 111 where they would be reason to cut the client, and work later", () => {
    const board = new Switchboard({ options });
    const peer = board.connected();
    // As a socket does whose other end has not read yet.
    const sent: string[] = [];
    peer.send = (frame) => {
      sent.push(textOf(frame));
      peer.backlog += frame.length;
    };
    board.say(peer, `${recover(2, "a")}\n${recover(3, "b")}`);
    board.channels.joined("a", { position, recovered: true, publications });
    board.channels.joined("b", { position, recovered: true, publications });
    expect(sent.map((frame) => frame.slice(0, 30))).toStrictEqual([
      `{"id":2,"subscribe":{"recovera`,
      tooMany(3).slice(0, 30),
    ]);
    expect(board.channels.takeCalls()).toStrictEqual(["join a", "join b", "announce a", "leave b"]);
    expect(board.channels.known).toStrictEqual(["c1 a"]);
    peer.backlog = 0;
    board.say(peer, recover(4, "b"));
    board.channels.joined("b", { position, recovered: true, publications });
    expect(channelsOf(peer)).toStrictEqual(["a", "b"]);
    expect(peer.session.closed).toBe(false);
  });

  it("[F4] are no reason to refuse one by itself that may wait for the client", () => {
    const board = new Switchboard({ options });
    const peer = board.connected();
    board.say(peer, recover(2, "a"));
    board.channels.joined("a", { position, recovered: true, publications });
    expect(peer.hears()[0]).toContain(`"recovered":true`);
  });

  it("[R4] tell the client that it missed something when in its format they are more than may wait for it", () => {
    const board = new Switchboard({ options, client: { queue_max_size: 100_000 } });
    const peer = board.connected();
    board.say(peer, recover(2, "a"));
    board.channels.joined("a", { position, recovered: true, publications });
    expect(peer.hears()).toStrictEqual([
      `{"id":2,"subscribe":{"recoverable":true,"epoch":"e","offset":1,"positioned":true,"was_recovering":true}}`,
    ]);
    expect(channelsOf(peer)).toStrictEqual(["a"]);
  });

  it("[R5] are answered 112 instead to who wants no subscription then", () => {
    const board = new Switchboard({ options, client: { queue_max_size: 100_000 } });
    const peer = board.connected();
    board.say(peer, recover(2, "a").replace(`"recover":true`, `"recover":true,"flag":2`));
    board.channels.joined("a", { position, recovered: true, publications });
    expect(peer.hears()[0]).toContain(`"code":112`);
    expect(board.channels.known).toStrictEqual([]);
  });

  it("[F4] are answered 111 also while the first of them waits for something else", () => {
    const board = new Switchboard({ options });
    const peer = board.subscribed("c");
    board.channels.collect("c");
    board.say(peer, publish(3, "c"));
    board.channels.published("c");
    board.say(peer, `${subscribe(4, "a")}\n${subscribe(5, "b")}`);
    board.channels.joined("a", { position, recovered: true, publications });
    board.channels.joined("b", { position, recovered: true, publications });
    board.channels.flush("c");
    expect(peer.hears().map((frame) => frame.slice(0, 30))).toStrictEqual([
      `{"id":3,"publish":{}}`,
      `{"id":4,"subscribe":{"recovera`,
      tooMany(5).slice(0, 30),
    ]);
  });
});

describe("a refresh while a subscribe is under way", () => {
  it("[S2] shows the new token's info there, and what the subscription token says", () => {
    const board = new Switchboard();
    const peer = board.connected();
    const token = subscriptionToken({ channel: "a", info: json(`"seat 7"`) });
    board.say(peer, subscribe(2, "a"), token);
    board.say(
      peer,
      `{"id":3,"refresh":{"token":"t"}}`,
      connectionToken("42", { info: json(`"new"`) }),
    );
    board.channels.joined("a");
    expect(board.channels.subscription("a").info).toStrictEqual({
      user: "42",
      client: "c1",
      connInfo: `"new"`,
      chanInfo: `"seat 7"`,
    });
  });
});

describe("a subscription of the client's that can't go on", () => {
  const lost = `{"push":{"channel":"a","unsubscribe":{"code":2500,"reason":"insufficient state"}}}`;

  it("[L3] ends with 2500, and the connection and its other channels stay", () => {
    const board = new Switchboard();
    const peer = board.subscribed("a", "b");
    board.channels.subscription("a").insufficientState();
    expect(peer.hears()).toStrictEqual([lost]);
    expect(board.channels.takeCalls()).toStrictEqual(["leave a"]);
    expect(channelsOf(peer)).toStrictEqual(["b"]);
    board.say(peer, subscribe(4, "a"));
    board.channels.joined("a");
    expect(channelsOf(peer)).toStrictEqual(["b", "a"]);
  });

  it("[L3] ends with 2500 after sleep, too", () => {
    const board = new Switchboard();
    const peer = board.subscribed("a", "b");
    board.wake(peer);
    board.channels.subscription("a").insufficientState();
    expect(peer.hears()).toStrictEqual([lost]);
  });

  it("[L7] forgets the position that was noted with it", () => {
    const board = new Switchboard();
    const peer = board.subscribed("a", "b");
    const cursor = { instance: 5, sequence: 7, position: { epoch: "e", offset: 3 } };
    expect(board.channels.subscription("a").keep(cursor)).toBe(true);
    expect(board.channels.subscription("b").keep({ ...cursor, sequence: 8 })).toBe(true);
    expect(peer.saved.cursors?.get("a")).toStrictEqual(cursor);
    board.wake(peer);
    expect(board.channels.subscription("a").cursor).toStrictEqual(cursor);
    board.channels.subscription("a").insufficientState();
    expect([...(peer.saved.cursors?.keys() ?? [])]).toStrictEqual(["b"]);
  });

  it("[L7] isn't noted where there is no room for another, and is where it was noted before", () => {
    const board = new Switchboard({ client: { channel_limit: 1_024 } });
    const channels = Array.from({ length: 300 }, (_, index) => `news${index}`);
    const peer = board.subscribed(...channels);
    const cursor = { instance: 5, sequence: 7, position: { epoch: "e", offset: 3 } };
    const keep = (channel: string): boolean => board.channels.subscription(channel).keep(cursor);
    const refused = channels.findIndex((channel) => !keep(channel));
    expect(refused).toBeGreaterThan(200);
    expect(keep("news0")).toBe(true);
    expect(peer.saved.cursors?.size).toBe(refused);
    board.say(peer, unsubscribe(3, "news0"));
    expect(keep(`news${refused}`)).toBe(true);
    expect(keep(`news${refused + 1}`)).toBe(false);
  });
});
