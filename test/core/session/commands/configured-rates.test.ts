import { describe, expect, it } from "vitest";
import type { Refusal } from "../../../../src/access/refusal.ts";
import { limits } from "../../../../src/limits.ts";
import { CommandRateLimit } from "../../../../src/session/rate-limit.ts";
import { configured } from "../../../support/configured.ts";
import { publish, subscribe, unsubscribe } from "../frames.ts";
import { startMs } from "../channel-fixture.ts";
import { ManyChannelsFixture } from "../many-channels-fixture.ts";
import type { TestConnection } from "../test-connection.ts";

/** A limit of so many commands in 10 seconds. */
const per10s = (rate: number) => ({ enabled: true, buckets: [{ interval: "10s", rate }] });

function limited(commands: object, client: object = {}): ManyChannelsFixture {
  return new ManyChannelsFixture({
    client: { rate_limit: { client_command: { enabled: true, ...commands } }, ...client },
    channel: { namespaces: [{ name: "chat" }, { name: "news" }] },
  });
}

const ask = (method: string, id: number, channel = "room") =>
  `{"id":${id},"${method}":{"channel":"${channel}"}}`;

/** Whether each of so many commands was answered with something else than 111. */
function granted(
  fixture: ManyChannelsFixture,
  connection: TestConnection,
  command: string,
  count: number,
): readonly boolean[] {
  return Array.from({ length: count }, () => {
    const frames = fixture.ask(connection, command);
    return !frames.some((frame) => frame.includes(`"code":111`));
  });
}

describe("a connection with a configured rate", () => {
  it.each(["presence", "presence_stats", "history"])(
    "[B7] [B22] of %s is answered 111 for what is more, and for nothing else",
    (method) => {
      const fixture = limited({ [method]: per10s(2) });
      const connection = fixture.connected();
      expect(granted(fixture, connection, ask(method, 3), 4)).toStrictEqual([
        true,
        true,
        false,
        false,
      ]);
      for (const other of ["presence", "presence_stats", "history"].filter((one) => one !== method))
        expect(granted(fixture, connection, ask(other, 4), 9)).not.toContain(false);
      // Another connection has a rate of its own.
      expect(granted(fixture, fixture.connected(), ask(method, 3), 2)).not.toContain(false);
    },
  );

  it("[B7] [B21] must keep each of several, and takes nothing from one because of another", () => {
    const buckets = [
      { interval: "10s", rate: 4 },
      { interval: "1s", rate: 2 },
    ];
    const fixture = limited({ publish: { enabled: true, buckets } });
    const connection = fixture.connected();
    const one = publish(3, "room");
    expect(granted(fixture, connection, one, 5).filter(Boolean)).toHaveLength(2);
    fixture.nowMs += 1_000;
    expect(granted(fixture, connection, one, 5).filter(Boolean)).toHaveLength(2);
    fixture.nowMs += 1_000;
    expect(granted(fixture, connection, one, 5).filter(Boolean)).toHaveLength(0);
  });

  it("[B7] [B21] has that of a namespace there, and that of the command elsewhere", () => {
    const chat = { namespace_name: "chat", ...per10s(3) };
    const news = { namespace_name: "news", ...per10s(5) };
    const fixture = limited({ presence: { ...per10s(1), namespace_overrides: [chat, news] } });
    const connection = fixture.connected();
    const grantedOf = (channel: string) =>
      granted(fixture, connection, ask("presence", 3, channel), 9).filter(Boolean).length;
    expect(["chat:1", "news:1", "room", "none:1"].map(grantedOf)).toStrictEqual([3, 5, 1, 0]);
    // Each is of the namespace, whatever the channel and whether it is private.
    expect(["chat:2", "$news:2"].map(grantedOf)).toStrictEqual([0, 0]);
  });

  it("[B7] [B21] in one namespace alone has the default elsewhere", () => {
    const chat = { namespace_name: "chat", ...per10s(1) };
    const fixture = limited({ subscribe: { enabled: true, namespace_overrides: [chat] } });
    const connection = fixture.connected();
    expect(granted(fixture, connection, subscribe(3, "chat:1"), 3)).toStrictEqual([
      true,
      false,
      false,
    ]);
    const some = granted(fixture, connection, subscribe(4, "none:1"), limits.subscribesBurst + 1);
    expect(some.indexOf(false)).toBe(limits.subscribesBurst);
  });

  it("[B7] [B21] of all commands, or of subscribes, takes the place of the default", () => {
    const many = limited({ total: per10s(limits.commandsBurst + 100) });
    const first = many.connected();
    // One was the connect.
    expect(
      granted(many, first, unsubscribe(3, "a"), limits.commandsBurst + 100).indexOf(false),
    ).toBe(limits.commandsBurst + 99);
    const more = limited({ subscribe: per10s(limits.subscribesBurst + 10) });
    const second = more.connected();
    const some = granted(more, second, subscribe(3, "none:1"), limits.subscribesBurst + 11);
    expect(some.indexOf(false)).toBe(limits.subscribesBurst + 10);
    // Pongs don't count.
    second.session.tick(true, more.nowMs + 25_000);
    expect(more.ask(second, "{}")).toStrictEqual(["{}"]);
  });

  it("[B7] [B22] is closed 3013 if it goes on much faster, and not if it doesn't", () => {
    const fixture = limited({ publish: per10s(1) });
    const connection = fixture.connected();
    const one = publish(3, "room");
    const { commandsOverRateBurst: burst, commandsOverRatePerSecond: perSecond } = limits;
    expect(granted(fixture, connection, one, 1 + burst).filter(Boolean)).toHaveLength(1);
    expect(fixture.ask(connection, one)).toStrictEqual(["close 3013 too many requests"]);
    const patient = fixture.connected();
    for (let second = 0; second < 60; second++) {
      for (let tried = 0; tried < perSecond; tried++) fixture.send(patient, one);
      fixture.nowMs += 1_000;
    }
    expect(patient.takeSent().some((frame) => frame.startsWith("close"))).toBe(false);
  });

  it("[B7] [B22] [A13] is told apart from others in the log, by the name of the setting", () => {
    const fixture = limited({ publish: per10s(1) }, { channel_limit: 1 });
    const connection = fixture.connected();
    const reasons: string[] = [];
    Object.assign(connection.session.context, {
      refused: ({ rule, reason }: Refusal) => reasons.push(`${rule}: ${reason}`),
    });
    for (let id = 3; id < 5; id++) fixture.send(connection, publish(id, "room"));
    for (let id = 0; id < limits.newChannelsBurst + 1; id++)
      fixture.send(connection, ask("presence", 9, `new${id}`));
    expect([...new Set(reasons)]).toStrictEqual([
      "B22: client.rate_limit.client_command.publish is exceeded",
      "W1: channel.without_namespace: presence is off",
      "B7: the connection or its channel is over a limit for now",
    ]);
  });
});

describe("the buckets of a connection", () => {
  it("[B7] [S2] are full again as soon as they may be forgotten", () => {
    const rates = { total: per10s(3), history: per10s(2) };
    const config = configured({
      client: { rate_limit: { client_command: { enabled: true, ...rates } } },
    });
    const limit = new CommandRateLimit(config);
    const take = (nowMs: number) => limit.admit("history", "", "room", nowMs);
    expect(limit.isFull(startMs)).toBe(true);
    expect([1, 2, 3].map(() => take(startMs))).toStrictEqual(["granted", "granted", "over"]);
    expect(limit.isFull(startMs + limits.rateIntervalMsMax - 1)).toBe(false);
    expect(limit.isFull(startMs + limits.rateIntervalMsMax)).toBe(true);
  });
});
