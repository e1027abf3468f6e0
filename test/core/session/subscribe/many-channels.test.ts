import { describe, expect, it } from "vitest";
import { limits } from "../../../../src/limits.ts";
import { disconnectCodes, errorCodes } from "../../../../src/protocol/codes.ts";
import { json } from "../../api/channel-config.ts";
import { publish, pushed, subscribe, subscribed, tooMany, unsubscribe } from "../frames.ts";
import type { TestConnection } from "../test-connection.ts";
import { ManyChannelsFixture } from "../many-channels-fixture.ts";
import { connectionToken, subscriptionToken } from "../verified-tokens.ts";
import { textOf } from "../../../support/text-of.ts";

function channelsOf(connection: TestConnection): readonly string[] {
  return connection.saved.subscriptions.map(({ channel }) => channel);
}

describe("several channels of one connection", () => {
  it("[S1] are stored as soon as they have begun, and restored after hibernation", () => {
    const fixture = new ManyChannelsFixture();
    const connection = fixture.connected();
    fixture.send(connection, [subscribe(2, "a"), subscribe(3, "b"), subscribe(4, "c")].join("\n"));
    expect(channelsOf(connection)).toStrictEqual([]);
    fixture.channels.acceptSubscribe("c");
    fixture.channels.acceptSubscribe("a");
    expect(channelsOf(connection)).toStrictEqual(["a", "c"]);
    fixture.wake(connection);
    expect(fixture.channels.takeCalls()).toStrictEqual(["restore a", "restore c"]);
    connection.takeSent();
    fixture.channels.push("a", "1");
    fixture.channels.push("c", "2");
    expect(connection.takeSent()).toStrictEqual([pushed("a", "1"), pushed("c", "2")]);
    expect(fixture.ask(connection, subscribe(5, "a"))).toStrictEqual([
      `{"id":5,"error":{"code":105,"message":"already subscribed"}}`,
    ]);
  });

  it("[G2] are remembered when there are too many for an attachment", () => {
    const fixture = new ManyChannelsFixture({ client: { channel_limit: 1_024 } });
    const channels = Array.from({ length: 900 }, (_, index) => `${"news".repeat(9)}${index}`);
    const connection = fixture.subscribed(...channels);
    expect(connection.row).toContain(channels[899]);
    expect(channelsOf(connection)).toStrictEqual(channels);
    fixture.wake(connection);
    expect(fixture.channels.takeCalls()).toHaveLength(900);
    for (const channel of channels.slice(1)) fixture.send(connection, unsubscribe(9, channel));
    expect(connection.row).toBeUndefined();
    expect(channelsOf(connection)).toStrictEqual([channels[0]]);
  });

  it("[C5] end by themselves, each at its own time", () => {
    const fixture = new ManyChannelsFixture({ client: { ping_interval: "1h" } });
    const connection = fixture.connected();
    const { nowMs } = fixture;
    for (const [channel, seconds] of [
      ["a", 20],
      ["b", 10],
      ["c", 0],
    ] as const) {
      const expireAtSeconds = seconds === 0 ? 0 : nowMs / 1000 + seconds;
      fixture.send(
        connection,
        subscribe(2, channel),
        subscriptionToken({ channel, expireAtSeconds }),
      );
      fixture.channels.acceptSubscribe(channel);
    }
    connection.takeSent();
    fixture.channels.takeCalls();
    expect(connection.session.dueAtMs(nowMs)).toBe(nowMs + 35_000);
    connection.session.tick(false, nowMs + 35_000);
    expect(fixture.channels.takeCalls()).toStrictEqual(["leave b"]);
    expect(connection.takeSent()).toStrictEqual([
      `{"push":{"channel":"b","unsubscribe":{"code":2501,"reason":"subscription expired"}}}`,
    ]);
    expect(channelsOf(connection)).toStrictEqual(["a", "c"]);
    expect(connection.session.dueAtMs(nowMs)).toBe(nowMs + 45_000);
  });
});

describe("leaving while a subscribe is under way", () => {
  it("[G5] by an unsubscribe leaves no subscription, and is answered after the subscribe", () => {
    const fixture = new ManyChannelsFixture();
    const connection = fixture.connected();
    fixture.send(connection, `${subscribe(2, "a")}\n${unsubscribe(3, "a")}`);
    fixture.channels.acceptSubscribe("a");
    expect(connection.takeSent()).toStrictEqual([subscribed(2), `{"id":3,"unsubscribe":{}}`]);
    expect(fixture.channels.takeCalls()).toStrictEqual(["join a", "announce a", "leave a"]);
    expect(fixture.channels.known).toStrictEqual([]);
    expect(channelsOf(connection)).toStrictEqual([]);
  });

  it.each<[string, (connection: TestConnection) => void]>([
    ["the socket's end", (connection) => connection.session.ended()],
    ["a disconnect", (connection) => connection.session.disconnect(disconnectCodes.badRequest)],
  ])("[G5] by %s takes back every wish and every subscription, once", (_, goes) => {
    const fixture = new ManyChannelsFixture();
    const connection = fixture.subscribed("a", "b");
    fixture.send(connection, [subscribe(3, "c"), subscribe(4, "d"), publish(5, "c")].join("\n"));
    goes(connection);
    goes(connection);
    const calls = fixture.channels.takeCalls();
    expect(calls.slice(0, 2)).toStrictEqual(["join c", "join d"]);
    expect(calls.slice(2).toSorted()).toStrictEqual(["leave a", "leave b", "leave c", "leave d"]);
    expect(fixture.channels.known).toStrictEqual([]);
    expect(connection.saved).toMatchObject({ phase: "closed", subscriptions: [] });
    expect(connection.takeSent().filter((frame) => !frame.startsWith("close"))).toStrictEqual([]);
  });

  it("[S4] carries out no waiting command when an earlier one closes the connection", () => {
    const fixture = new ManyChannelsFixture();
    const connection = fixture.connected();
    const frame = [subscribe(2, "a"), `{"id":3,"publish":{"channel":"a"}}`, publish(4, "a")];
    fixture.send(connection, frame.join("\n"));
    fixture.send(connection, `{"id":5,"sub_refresh":{"channel":"a","token":"t"}}`, {
      subscription: { outcome: "invalid", reason: "the signature is wrong" },
    });
    fixture.send(connection, publish(6, "a"));
    fixture.channels.acceptSubscribe("a");
    expect(connection.takeSent()).toStrictEqual([
      subscribed(2),
      `{"id":3,"error":{"code":107,"message":"bad request"}}`,
      "close 3500 invalid token",
    ]);
    expect(fixture.channels.takeCalls()).toStrictEqual([
      "join a",
      "announce a",
      "publish a 4",
      "leave a",
    ]);
  });
});

describe("a subscribe that fails", () => {
  it("[G5] is answered with the error, leaves nothing behind and can be tried again", () => {
    const fixture = new ManyChannelsFixture();
    const connection = fixture.connected();
    fixture.send(connection, subscribe(2, "a"));
    fixture.channels.refuseSubscribe("a", errorCodes.unrecoverablePosition);
    expect(connection.takeSent()).toStrictEqual([
      `{"id":2,"error":{"code":112,"message":"unrecoverable position"}}`,
    ]);
    expect(fixture.channels.takeCalls()).toStrictEqual(["join a"]);
    fixture.send(connection, subscribe(3, "a"));
    fixture.channels.acceptSubscribe("a");
    expect(connection.takeSent()).toStrictEqual([subscribed(3)]);
    expect(channelsOf(connection)).toStrictEqual(["a"]);
  });

  it("[G1] frees its place", () => {
    const fixture = new ManyChannelsFixture({ client: { channel_limit: 1 } });
    const connection = fixture.connected();
    fixture.send(connection, subscribe(2, "a"));
    fixture.channels.refuseSubscribe("a", errorCodes.internal);
    connection.takeSent();
    expect(fixture.ask(connection, subscribe(3, "b"))).toStrictEqual([]);
    fixture.channels.acceptSubscribe("b");
    expect(connection.takeSent()).toStrictEqual([subscribed(3)]);
  });
});

const limited = (id: number): string =>
  `{"id":${id},"error":{"code":106,"message":"limit exceeded"}}`;

describe("the number of a connection's channels", () => {
  it("[G1] is limited: one more is answered 106, and one less allows another", () => {
    const fixture = new ManyChannelsFixture({ client: { channel_limit: 2 } });
    const connection = fixture.subscribed("a", "b");
    expect(fixture.ask(connection, subscribe(4, "c"))).toStrictEqual([limited(4)]);
    expect(fixture.refusals).toMatchObject([
      { rule: "G1", reason: "client.channel_limit is reached" },
    ]);
    expect(fixture.channels.takeCalls()).toStrictEqual([]);
    fixture.send(connection, `${unsubscribe(5, "a")}\n${subscribe(6, "c")}`);
    fixture.channels.acceptSubscribe("c");
    expect(channelsOf(connection)).toStrictEqual(["b", "c"]);
  });

  it.each([
    ["in a row", true, 11_000, 96],
    ["in an attachment", false, 5_000, 4],
  ])(
    "[B2] is limited by the space for sessions %s, pending ones included",
    (_, storesRows, bytes, refused) => {
      const fixture = new ManyChannelsFixture({ storesRows });
      const connection = fixture.connected();
      const info = json(`"${"x".repeat(bytes)}"`);
      let asked = 0;
      while (asked < 128 && connection.takeSent().length === 0) {
        asked++;
        const channel = `news${asked}`;
        fixture.send(connection, subscribe(asked, channel), subscriptionToken({ channel, info }));
      }
      expect(asked).toBe(refused);
      for (let number = 1; number < asked; number++)
        fixture.channels.acceptSubscribe(`news${number}`);
      expect(channelsOf(connection)).toHaveLength(asked - 1);
      expect((connection.row ?? "").length).toBeLessThanOrEqual(limits.sessionRowBytesMax);
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
    const fixture = new ManyChannelsFixture({ options });
    const connection = fixture.connected();
    // As a socket does whose other end has not read yet.
    const sent: string[] = [];
    connection.send = (frame) => {
      sent.push(textOf(frame));
      connection.backlog += frame.length;
    };
    fixture.send(connection, `${recover(2, "a")}\n${recover(3, "b")}`);
    fixture.channels.acceptSubscribe("a", { position, recovered: true, publications });
    fixture.channels.acceptSubscribe("b", { position, recovered: true, publications });
    expect(sent.map((frame) => frame.slice(0, 30))).toStrictEqual([
      `{"id":2,"subscribe":{"recovera`,
      tooMany(3).slice(0, 30),
    ]);
    expect(fixture.channels.takeCalls()).toStrictEqual([
      "join a",
      "join b",
      "announce a",
      "leave b",
    ]);
    expect(fixture.channels.known).toStrictEqual(["c1 a"]);
    connection.backlog = 0;
    fixture.send(connection, recover(4, "b"));
    fixture.channels.acceptSubscribe("b", { position, recovered: true, publications });
    expect(channelsOf(connection)).toStrictEqual(["a", "b"]);
    expect(connection.session.closed).toBe(false);
  });

  it("[F4] are no reason to refuse one by itself that may wait for the client", () => {
    const fixture = new ManyChannelsFixture({ options });
    const connection = fixture.connected();
    fixture.send(connection, recover(2, "a"));
    fixture.channels.acceptSubscribe("a", { position, recovered: true, publications });
    expect(connection.takeSent()[0]).toContain(`"recovered":true`);
  });

  it("[R4] aren't recovered if in the client's format they exceed its queue", () => {
    const fixture = new ManyChannelsFixture({ options, client: { queue_max_size: 100_000 } });
    const connection = fixture.connected();
    fixture.send(connection, recover(2, "a"));
    fixture.channels.acceptSubscribe("a", { position, recovered: true, publications });
    expect(connection.takeSent()).toStrictEqual([
      `{"id":2,"subscribe":{"recoverable":true,"epoch":"e","offset":1,"positioned":true,"was_recovering":true}}`,
    ]);
    expect(channelsOf(connection)).toStrictEqual(["a"]);
  });

  it("[R5] are answered 112 instead to a client that wants no subscription then", () => {
    const fixture = new ManyChannelsFixture({ options, client: { queue_max_size: 100_000 } });
    const connection = fixture.connected();
    fixture.send(connection, recover(2, "a").replace(`"recover":true`, `"recover":true,"flag":2`));
    fixture.channels.acceptSubscribe("a", { position, recovered: true, publications });
    expect(connection.takeSent()[0]).toContain(`"code":112`);
    expect(fixture.channels.known).toStrictEqual([]);
  });
});

describe("a refresh while a subscribe is under way", () => {
  it("[S2] shows the new token's info there, and the subscription token's", () => {
    const fixture = new ManyChannelsFixture();
    const connection = fixture.connected();
    const token = subscriptionToken({ channel: "a", info: json(`"seat 7"`) });
    fixture.send(connection, subscribe(2, "a"), token);
    fixture.send(
      connection,
      `{"id":3,"refresh":{"token":"t"}}`,
      connectionToken("42", { info: json(`"new"`) }),
    );
    fixture.channels.acceptSubscribe("a");
    expect(fixture.channels.subscription("a").info).toStrictEqual({
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
    const fixture = new ManyChannelsFixture();
    const connection = fixture.subscribed("a", "b");
    fixture.channels.subscription("a").insufficientState();
    expect(connection.takeSent()).toStrictEqual([lost]);
    expect(fixture.channels.takeCalls()).toStrictEqual(["leave a"]);
    expect(channelsOf(connection)).toStrictEqual(["b"]);
    fixture.send(connection, subscribe(4, "a"));
    fixture.channels.acceptSubscribe("a");
    expect(channelsOf(connection)).toStrictEqual(["b", "a"]);
  });

  it("[L3] ends with 2500 after hibernation, too", () => {
    const fixture = new ManyChannelsFixture();
    const connection = fixture.subscribed("a", "b");
    fixture.wake(connection);
    fixture.channels.subscription("a").insufficientState();
    expect(connection.takeSent()).toStrictEqual([lost]);
  });

  it("[L7] forgets the position that was noted with it", () => {
    const fixture = new ManyChannelsFixture();
    const connection = fixture.subscribed("a", "b");
    const cursor = { instance: 5, sequence: 7, position: { epoch: "e", offset: 3 } };
    expect(fixture.channels.subscription("a").keep(cursor)).toBe(true);
    expect(fixture.channels.subscription("b").keep({ ...cursor, sequence: 8 })).toBe(true);
    expect(connection.saved.cursors?.get("a")).toStrictEqual(cursor);
    fixture.wake(connection);
    expect(fixture.channels.subscription("a").cursor).toStrictEqual(cursor);
    fixture.channels.subscription("a").insufficientState();
    expect([...(connection.saved.cursors?.keys() ?? [])]).toStrictEqual(["b"]);
  });

  it("[L7] isn't saved where there is no space for another one, and is where it was saved before", () => {
    const fixture = new ManyChannelsFixture({ client: { channel_limit: 1_024 } });
    const channels = Array.from({ length: 300 }, (_, index) => `news${index}`);
    const connection = fixture.subscribed(...channels);
    const cursor = { instance: 5, sequence: 7, position: { epoch: "e", offset: 3 } };
    const keep = (channel: string): boolean => fixture.channels.subscription(channel).keep(cursor);
    const refused = channels.findIndex((channel) => !keep(channel));
    expect(refused).toBeGreaterThan(200);
    expect(keep("news0")).toBe(true);
    expect(connection.saved.cursors?.size).toBe(refused);
    fixture.send(connection, unsubscribe(3, "news0"));
    expect(keep(`news${refused}`)).toBe(true);
    expect(keep(`news${refused + 1}`)).toBe(false);
  });
});
