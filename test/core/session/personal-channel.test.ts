import { describe, expect, it } from "vitest";
import { connect, connected, naming } from "./named-subscriptions.ts";
import type { Peer } from "./peer.ts";
import { Switchboard, type SwitchboardSetup } from "./gateway-fixture.ts";
import { connectionToken } from "./verified-tokens.ts";

/** With personal channels, in a namespace or in none. */
function personal(more: object = {}, namespaces: readonly object[] = []): SwitchboardSetup {
  const section = { enabled: true, ...more };
  return { client: { subscribe_to_user_personal_channel: section }, channel: { namespaces } };
}

describe("the personal channel", () => {
  it("[C9] is one of the server's subscriptions", () => {
    const board = new Switchboard(personal());
    const peer = board.open();
    board.say(peer, connect, connectionToken("42"));
    board.channels.joined("#42");
    expect(peer.hears()).toStrictEqual([connected(`{"#42":{}}`)]);
    expect(peer.saved.subscriptions).toMatchObject([{ channel: "#42", serverSide: true }]);
  });

  it("[C9] may be in a namespace, whose options it has", () => {
    const namespaces = [{ name: "me", presence: true }];
    const board = new Switchboard(personal({ personal_channel_namespace: "me" }, namespaces));
    const peer = board.open();
    board.say(peer, connect, connectionToken("42"));
    board.channels.joined("me:#42");
    expect(peer.hears()).toStrictEqual([connected(`{"me:#42":{}}`)]);
    expect(peer.saved.subscriptions).toMatchObject([{ present: true }]);
  });

  it("[C9] isn't for those who have no name", () => {
    const board = new Switchboard(personal());
    expect(board.ask(board.open(), connect, connectionToken(""))).toStrictEqual([connected()]);
  });

  it("[C9] is one subscription when the token names it as well, as the token has it", () => {
    const board = new Switchboard(personal());
    const peer = board.open();
    const named = { channel: "#42", override: { presence: true } };
    board.say(peer, connect, naming(named, "a"));
    expect(board.channels.takeCalls()).toStrictEqual(["join #42", "join a"]);
    board.channels.joined("#42");
    board.channels.joined("a");
    expect(peer.saved.subscriptions).toMatchObject([{ channel: "#42", present: true }, {}]);
  });

  it("[G1] counts", () => {
    const { client, ...rest } = personal();
    const board = new Switchboard({ ...rest, client: { ...client, channel_limit: 1 } });
    expect(board.ask(board.open(), connect, naming("a"))).toStrictEqual([
      "close 3505 channel limit",
    ]);
  });
});

function open(board: Switchboard): Peer {
  const peer = board.open();
  board.say(peer, connect, connectionToken("42"));
  return peer;
}

/** What the channel tells when this one announced itself. */
function tellSole(board: Switchboard, client: string, ...others: readonly string[]): void {
  for (const other of [client, ...others]) {
    board.channels.subscription("#42", other).replacedBy(client);
  }
}

describe("a single connection of a user", () => {
  const single = personal({ single_connection: true });
  const replaced = ["close 3504 connection limit"];

  it("[C10] wants to be the only one on its personal channel, and nowhere else", () => {
    const board = new Switchboard(single);
    const peer = board.open();
    board.say(peer, connect, naming("a"));
    board.channels.joined("a");
    board.channels.joined("#42");
    expect(board.channels.subscription("#42").exclusive).toBe(true);
    expect(board.channels.subscription("a").exclusive).toBe(false);
    expect(peer.saved.subscriptions).toMatchObject([{ channel: "a" }, { sole: true }]);
    expect(peer.saved.subscriptions[0]).not.toHaveProperty("sole");
  });

  it("[C10] isn't wanted where it isn't configured", () => {
    const board = new Switchboard(personal());
    open(board);
    board.channels.joined("#42");
    expect(board.channels.subscription("#42").exclusive).toBe(false);
  });

  it("[C10] closes the older one with 3504", () => {
    const board = new Switchboard(single);
    const older = open(board);
    board.channels.joined("#42");
    tellSole(board, "c1");
    const newer = open(board);
    board.channels.joined("#42");
    older.hears();
    newer.hears();
    tellSole(board, "c2", "c1");
    expect(older.hears()).toStrictEqual(replaced);
    expect(newer.hears()).toStrictEqual([]);
    expect(board.channels.known).toStrictEqual(["c2 #42"]);
  });

  it("[C10] is the later one when two come at once", () => {
    const board = new Switchboard(single);
    const [first, second] = [open(board), open(board)];
    board.channels.joined("#42");
    board.channels.joined("#42");
    first.hears();
    second.hears();
    tellSole(board, "c1", "c2");
    expect([first.hears(), second.hears()]).toStrictEqual([[], []]);
    tellSole(board, "c2", "c1");
    expect([first.hears(), second.hears()]).toStrictEqual([replaced, []]);
  });

  it("[C10] closes one that slept, though nobody told again that it came", () => {
    const board = new Switchboard(single);
    const older = open(board);
    board.channels.joined("#42");
    older.hears();
    board.wake(older);
    expect(board.channels.takeCalls()).toStrictEqual(["restore #42"]);
    board.channels.subscription("#42", "c1").replacedBy("c2");
    expect(older.hears()).toStrictEqual(replaced);
  });

  it("[C10] never closes itself", () => {
    const board = new Switchboard(single);
    const peer = open(board);
    board.channels.joined("#42");
    peer.hears();
    tellSole(board, "c1", "c1");
    expect(peer.hears()).toStrictEqual([]);
  });
});
