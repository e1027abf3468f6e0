import { describe, expect, it } from "vitest";
import { limits } from "../../../../src/limits.ts";
import { subscribe, tooMany, unsubscribe } from "../frames.ts";
import { ManyChannelsFixture } from "../many-channels-fixture.ts";

const rpc = (id: number): string => `{"id":${id},"rpc":{}}`;

describe("a connection that asks too fast", () => {
  it("[B7] is answered 111, recovers as time passes, and is closed 3013 if it continues", () => {
    const fixture = new ManyChannelsFixture();
    const connection = fixture.connected();
    // One was the connect.
    for (let id = 2; id <= limits.commandsBurst; id++) fixture.send(connection, rpc(id));
    expect(connection.takeSent().some((frame) => frame.includes(`"code":111`))).toBe(false);
    expect(fixture.ask(connection, rpc(6_000))).toStrictEqual([tooMany(6_000)]);
    fixture.nowMs += 1_000;
    expect(fixture.ask(connection, rpc(6_001))[0]).toContain(`"code":108`);
    for (let id = 0; id < limits.commandsPerSecond - 2; id++)
      fixture.send(connection, rpc(7_000 + id));
    connection.takeSent();
    for (let id = 0; id < limits.commandsBurst; id++) fixture.send(connection, rpc(8_000 + id));
    expect(connection.takeSent().every((frame) => frame.includes(`"code":111`))).toBe(true);
    expect(fixture.ask(connection, `${rpc(9_000)}\n${rpc(9_001)}`).at(-1)).toBe(
      "close 3013 too many requests",
    );
  });

  it("[B7] is answered 111 for subscribes alone, and closed 3013 if it continues", () => {
    const fixture = new ManyChannelsFixture({ client: { channel_limit: 1 } });
    const connection = fixture.connected();
    const frames = (count: number): void => {
      for (let id = 0; id < count; id++)
        fixture.send(connection, subscribe(10 + id, `news${id % 9}`));
    };
    frames(limits.subscribesBurst);
    expect(connection.takeSent().every((frame) => frame.includes(`"code":106`))).toBe(true);
    expect(fixture.ask(connection, subscribe(3, "a"))).toStrictEqual([tooMany(3)]);
    expect(fixture.ask(connection, unsubscribe(4, "a"))).toStrictEqual([
      `{"id":4,"unsubscribe":{}}`,
    ]);
    frames(limits.subscribesBurst - 1);
    expect(connection.takeSent().every((frame) => frame.includes(`"code":111`))).toBe(true);
    expect(fixture.ask(connection, subscribe(5, "a"))).toStrictEqual([
      "close 3013 too many requests",
    ]);
    expect(fixture.channels.known).toStrictEqual([]);
  });

  it("[B8] is answered 111 for further channels, not for those that it named before or follows", () => {
    const fixture = new ManyChannelsFixture();
    const connection = fixture.subscribed("home");
    const burst = fixture.config.client.channelLimit + limits.newChannelsBurst - 1;
    const ask = (id: number, channel: string): readonly string[] =>
      fixture.ask(connection, `{"id":${id},"presence":{"channel":"${channel}"}}`);
    for (let id = 0; id < burst; id++) {
      expect(ask(10 + id, `new${id}`)[0]).toContain(`"code":108`);
    }
    expect(ask(3, "one too many")).toStrictEqual([tooMany(3)]);
    for (const known of ["home", "new0", `new${burst - 1}`]) {
      expect(ask(4, known)[0]).toContain(`"code":108`);
    }
    for (const method of ["subscribe", "publish", "history", "presence_stats"]) {
      const asked = `{"id":5,"${method}":{"channel":"${method}","data":1}}`;
      expect(fixture.ask(connection, asked)).toStrictEqual([tooMany(5)]);
    }
    // As many were refused as is granted in a second.
    fixture.nowMs += 2_000;
    expect(ask(6, "later")[0]).toContain(`"code":108`);
  });

  it("[B8] is closed 3013 if it goes on to name further channels", () => {
    const fixture = new ManyChannelsFixture({ client: { channel_limit: 1 } });
    const connection = fixture.connected();
    // Besides the one channel that it may have.
    const burst = 1 + limits.newChannelsBurst;
    for (let id = 0; id < 2 * burst; id++)
      fixture.send(connection, `{"id":1,"presence":{"channel":"new${id}"}}`);
    expect(connection.takeSent().filter((frame) => frame.includes(`"code":111`))).toHaveLength(
      burst,
    );
    expect(fixture.ask(connection, `{"id":1,"presence":{"channel":"the last"}}`)).toStrictEqual([
      "close 3013 too many requests",
    ]);
  });

  it("[B7] may answer our pings all the same", () => {
    const fixture = new ManyChannelsFixture();
    const connection = fixture.connected();
    for (let id = 2; id <= 2 * limits.commandsBurst; id++) fixture.send(connection, rpc(id));
    connection.takeSent();
    connection.session.tick(true, fixture.nowMs + 25_000);
    expect(fixture.ask(connection, "{}")).toStrictEqual(["{}"]);
  });

  it("[W1] is closed 3508 for a send, which has no number that an error could be for", () => {
    const fixture = new ManyChannelsFixture();
    const connection = fixture.connected();
    for (let id = 2; id <= limits.commandsBurst; id++) fixture.send(connection, rpc(id));
    connection.takeSent();
    expect(fixture.ask(connection, `{"send":{"data":1}}`)).toStrictEqual([
      "close 3508 not available",
    ]);
  });
});
