import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { subscribe, tooMany, unsubscribe } from "./frames.ts";
import { Switchboard } from "./gateway-fixture.ts";

const rpc = (id: number): string => `{"id":${id},"rpc":{}}`;

describe("a connection that asks too fast", () => {
  it("[B7] is answered 111, is forgiven as time passes, and closed 3013 if it goes on", () => {
    const board = new Switchboard();
    const peer = board.connected();
    // One was the connect.
    for (let id = 2; id <= limits.commandsBurst; id++) board.say(peer, rpc(id));
    expect(peer.hears().some((frame) => frame.includes(`"code":111`))).toBe(false);
    expect(board.ask(peer, rpc(6_000))).toStrictEqual([tooMany(6_000)]);
    board.nowMs += 1_000;
    expect(board.ask(peer, rpc(6_001))[0]).toContain(`"code":108`);
    for (let id = 0; id < limits.commandsPerSecond - 2; id++) board.say(peer, rpc(7_000 + id));
    peer.hears();
    for (let id = 0; id < limits.commandsBurst; id++) board.say(peer, rpc(8_000 + id));
    expect(peer.hears().every((frame) => frame.includes(`"code":111`))).toBe(true);
    expect(board.ask(peer, `${rpc(9_000)}\n${rpc(9_001)}`).at(-1)).toBe(
      "close 3013 too many requests",
    );
  });

  it("[B7] is answered 111 for subscribes alone, and closed 3013 if it goes on", () => {
    const board = new Switchboard({ client: { channel_limit: 1 } });
    const peer = board.connected();
    const frames = (count: number): void => {
      for (let id = 0; id < count; id++) board.say(peer, subscribe(10 + id, `news${id}`));
    };
    frames(limits.subscribesBurst);
    expect(peer.hears().every((frame) => frame.includes(`"code":106`))).toBe(true);
    expect(board.ask(peer, subscribe(3, "a"))).toStrictEqual([tooMany(3)]);
    expect(board.ask(peer, unsubscribe(4, "a"))).toStrictEqual([`{"id":4,"unsubscribe":{}}`]);
    frames(limits.subscribesBurst - 1);
    expect(peer.hears().every((frame) => frame.includes(`"code":111`))).toBe(true);
    expect(board.ask(peer, subscribe(5, "a"))).toStrictEqual(["close 3013 too many requests"]);
    expect(board.channels.known).toStrictEqual([]);
  });

  it("[B7] may answer our pings all the same", () => {
    const board = new Switchboard();
    const peer = board.connected();
    for (let id = 2; id <= 2 * limits.commandsBurst; id++) board.say(peer, rpc(id));
    peer.hears();
    peer.session.tick(true, board.nowMs + 25_000);
    expect(board.ask(peer, "{}")).toStrictEqual(["{}"]);
  });

  it("[W1] is closed 3508 for a send, which has no number that an error could be for", () => {
    const board = new Switchboard();
    const peer = board.connected();
    for (let id = 2; id <= limits.commandsBurst; id++) board.say(peer, rpc(id));
    peer.hears();
    expect(board.ask(peer, `{"send":{"data":1}}`)).toStrictEqual(["close 3508 not available"]);
  });
});
