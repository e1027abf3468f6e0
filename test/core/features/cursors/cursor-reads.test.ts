import { describe, expect, it } from "vitest";
import { limits } from "../../../../src/limits.ts";
import { ManyChannelsFixture } from "../../session/many-channels-fixture.ts";

const most = limits.readsUnderWayMax;
const names = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);
const rpc = (method: string, data: object) => JSON.stringify({ id: 2, rpc: { method, data } });
const unread = (...channels: readonly string[]) => rpc("dormouse.unread", { channels });
const asked = (method: string, channels: readonly string[]) =>
  channels.map((channel) => `${method} ${channel}`);

describe("questions about what users have read", () => {
  it("[B16] ask as many channels at once as reads may be under way, and others wait", () => {
    const { fixture, connection } = withCursors();
    const channels = names("a", most + 2);
    fixture.send(connection, [unread(...channels), unread("b"), unread("c")].join("\n"));
    expect(fixture.channels.takeCalls()).toStrictEqual(asked("unread", channels.slice(0, most)));
    fixture.channels.answerCursors("a0");
    expect(fixture.channels.takeCalls()).toStrictEqual([`unread a${most}`]);
    fixture.channels.answerCursors("a1");
    expect(fixture.channels.takeCalls()).toStrictEqual([`unread a${most + 1}`]);
    for (const channel of channels.slice(2)) fixture.channels.answerCursors(channel);
    expect(fixture.channels.takeCalls()).toStrictEqual(["unread b", "unread c"]);
    expect(connection.takeSent()).toHaveLength(1);
  });

  it.each(["rpc", "send"])("[B16] are counted one by one where each asks one, by %s", (by) => {
    const { fixture, connection } = withCursors();
    const call = { method: "dormouse.marks", data: { channel: "a", offset: 0 } };
    const command = by === "rpc" ? { id: 2, rpc: call } : { send: { data: call } };
    const frame = names("", most + 2).map(() => JSON.stringify(command));
    fixture.send(connection, frame.join("\n"));
    const all = asked("marks", names("", most).fill("a"));
    expect(fixture.channels.takeCalls()).toStrictEqual(all);
    fixture.channels.answerCursors("a");
    expect(fixture.channels.takeCalls()).toStrictEqual(["marks a"]);
  });

  it("[B29] end with their connection", () => {
    const { fixture, connection } = withCursors();
    const channels = names("a", most + 2);
    fixture.send(connection, [unread(...channels), unread("b")].join("\n"));
    fixture.channels.takeCalls();
    connection.session.ended();
    for (const channel of channels.slice(0, most)) fixture.channels.answerCursors(channel);
    expect(fixture.channels.takeCalls()).toStrictEqual(["leave a"]);
  });
});

/** A client of a gateway whose channels keep what users have read. */
function withCursors() {
  const fixture = new ManyChannelsFixture({
    options: {
      allow_history_for_client: true,
      history_size: 5,
      history_ttl: "60s",
      cursors: { enabled: true, receipts: "subscriber" },
    },
  });
  const connection = fixture.subscribed("a");
  return { fixture, connection };
}
