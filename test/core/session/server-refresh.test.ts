import { describe, expect, it } from "vitest";
import { naming, opened } from "./named-subscriptions.ts";
import { Switchboard } from "./gateway-fixture.ts";

describe("a refresh of a connection with subscriptions of the server's", () => {
  const refresh = `{"id":3,"refresh":{"token":"t"}}`;
  const refreshed = `{"id":3,"refresh":{}}`;

  it("[C9] whose token names the same ones succeeds, in whatever order", () => {
    const board = new Switchboard({
      client: { subscribe_to_user_personal_channel: { enabled: true } },
    });
    const peer = opened(board, "a", "b", "#42");
    expect(board.ask(peer, refresh, naming("b", "a"))).toStrictEqual([refreshed]);
    expect(peer.saved.claims).toStrictEqual({ user: "42", expireAtSeconds: 0 });
  });

  it.each([
    ["one less", ["a"]],
    ["one more", ["a", "b", "c"]],
    ["another", ["a", "c"]],
    ["none", []],
  ])("[C9] whose token names %s closes 3010: the client connects anew", (_, channels) => {
    const board = new Switchboard();
    const peer = opened(board, "a", "b");
    expect(board.ask(peer, refresh, naming(...channels))).toStrictEqual([
      "close 3010 insufficient state",
    ]);
    expect(board.channels.known).toStrictEqual([]);
  });

  it("[C9] has nothing to do with what the client subscribed to", () => {
    const board = new Switchboard();
    const peer = opened(board, "a");
    board.say(peer, `{"id":2,"subscribe":{"channel":"b"}}`);
    board.channels.joined("b");
    peer.hears();
    expect(board.ask(peer, refresh, naming("a"))).toStrictEqual([refreshed]);
    expect(board.ask(peer, refresh, naming("a", "b"))).toStrictEqual([
      "close 3010 insufficient state",
    ]);
  });

  it("[C9] is held against the same after sleep", () => {
    const board = new Switchboard();
    const peer = opened(board, "a", "b");
    board.wake(peer);
    expect(board.ask(peer, refresh, naming("a", "b"))).toStrictEqual([refreshed]);
    expect(board.ask(peer, refresh, naming("a"))).toStrictEqual(["close 3010 insufficient state"]);
  });
});
