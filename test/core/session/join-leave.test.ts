import { describe, expect, it } from "vitest";
import { json } from "../api/channel-config.ts";
import type { Peer } from "./peer.ts";
import { Room } from "./channel-fixture.ts";
import { connectionToken, subscriptionToken } from "./verified-tokens.ts";

const emitting = { allow_subscribe_for_client: true, join_leave: true };
const forced = { ...emitting, force_push_join_leave: true };
const subscribe = `{"id":2,"subscribe":{"channel":"room"}}`;

function join(user: string, client: string): string {
  return `{"push":{"channel":"room","join":{"info":{"user":"${user}","client":"${client}"}}}}`;
}

function leave(user: string, client: string): string {
  return `{"push":{"channel":"room","leave":{"info":{"user":"${user}","client":"${client}"}}}}`;
}

describe("a join", () => {
  it("[O5] of one's own comes after the subscribe reply", () => {
    const room = new Room({ options: forced });
    expect(room.ask(room.connected(), subscribe)).toStrictEqual([
      `{"id":2,"subscribe":{}}`,
      join("42", "c1"),
    ]);
  });

  it("[O5] of another is told to those who are there, once", () => {
    const room = new Room({ options: forced });
    const witness = room.subscribed("7");
    room.say(room.connected(), subscribe);
    expect(witness.hears()).toStrictEqual([join("42", "c2")]);
  });

  it("[P2] shows what both tokens say of the client", () => {
    const room = new Room({ options: forced });
    const witness = room.subscribed("7");
    const peer = room.open();
    const connInfo = json("[1.0]");
    room.say(peer, `{"id":1,"connect":{}}`, connectionToken("42", { info: connInfo }));
    room.say(
      peer,
      `{"id":2,"subscribe":{"channel":"room","token":"t"}}`,
      subscriptionToken({ info: json(`{"a":"b"}`) }),
    );
    const info = `{"user":"42","client":"c2","conn_info":[1.0],"chan_info":{"a":"b"}}`;
    expect(witness.hears()).toStrictEqual([`{"push":{"channel":"room","join":{"info":${info}}}}`]);
    room.end(peer);
    expect(witness.hears()).toStrictEqual([`{"push":{"channel":"room","leave":{"info":${info}}}}`]);
  });

  it("[O5] isn't told again after sleep", () => {
    const room = new Room({ options: forced });
    const witness = room.subscribed("7");
    room.subscribed("42");
    room.sleep();
    room.sleep();
    expect(witness.hears()).toStrictEqual([]);
  });

  it("[O5] isn't told of somebody who was refused", () => {
    const room = new Room({ options: forced });
    const witness = room.subscribed("7");
    room.say(room.connected(""), subscribe);
    expect(witness.hears()).toStrictEqual([]);
  });
});

describe("who is told of joins and leaves", () => {
  const asks = `{"channel":"room","join_leave":true}`;

  it.each([
    [
      "not where the namespace doesn't emit them",
      { allow_subscribe_for_client: true },
      asks,
      false,
    ],
    ["not without asking", emitting, `{"channel":"room"}`, false],
    ["not by asking without leave to see presence", emitting, asks, false],
    ["by asking with it", { ...emitting, allow_presence_for_client: true }, asks, true],
    ["by asking, a subscriber", { ...emitting, allow_presence_for_subscriber: true }, asks, true],
    [
      "not by leave alone",
      { ...emitting, allow_presence_for_client: true },
      `{"channel":"room"}`,
      false,
    ],
    ["by force", forced, `{"channel":"room"}`, true],
  ])("[P2] %s", (_, options, request, hears) => {
    const room = new Room({ options });
    const witness = room.subscribed("7", request);
    const peer = room.subscribed("42");
    room.say(peer, `{"id":3,"unsubscribe":{"channel":"room"}}`);
    room.say(peer, `{"id":4,"subscribe":{"channel":"room"}}`);
    expect(witness.hears()).toStrictEqual(hears ? [leave("42", "c2"), join("42", "c2")] : []);
  });

  it("[P2] isn't told of somebody whose token says that it isn't announced", () => {
    const room = new Room({ options: forced });
    const witness = room.subscribed("7");
    const hidden = subscriptionToken({ override: { joinLeave: false } });
    const peer = room.connected();
    room.say(peer, `{"id":2,"subscribe":{"channel":"room","token":"t"}}`, hidden);
    room.end(peer);
    expect(witness.hears()).toStrictEqual([]);
  });
});

/** Every way out of a channel, and what the one who goes hears of it. */
const waysOut: readonly (readonly [string, (room: Room, peer: Peer) => void, readonly string[]])[] =
  [
    [
      "it unsubscribes",
      (room, peer) => room.say(peer, `{"id":3,"unsubscribe":{"channel":"room"}}`),
      [`{"id":3,"unsubscribe":{}}`],
    ],
    ["its socket ends", (room, peer) => room.end(peer), []],
    [
      "it breaks the protocol",
      (room, peer) => room.say(peer, `{"id":3,"connect":{}}`, connectionToken("42")),
      ["close 3501 bad request"],
    ],
    [
      "it refreshes with somebody else's token",
      (room, peer) => room.say(peer, `{"id":3,"refresh":{"token":"t"}}`, connectionToken("43")),
      ["close 3500 invalid token"],
    ],
    [
      "it reads too slowly",
      (room, peer) => {
        peer.backlog = 2_000_000;
        room.publish("1");
      },
      ["close 3008 slow"],
    ],
    [
      "it doesn't answer pings",
      (room, peer) => {
        room.pass(25_000);
        for (const other of room.peers) if (other !== peer) room.say(other, "{}");
        room.pass(25_000);
      },
      ["{}", "close 3012 no pong"],
    ],
  ];

describe("a leave", () => {
  it.each(waysOut)("[O5] is told to the others, once, when %s", (_, goes, heard) => {
    const room = new Room({ options: forced });
    const witness = room.subscribed("7");
    const peer = room.subscribed("42");
    goes(room, peer);
    room.end(peer);
    room.end(peer);
    expect(peer.hears()).toStrictEqual(heard);
    const told = witness.hears().filter((frame) => frame.includes(`"leave"`));
    expect(told).toStrictEqual([leave("42", "c2")]);
    expect(room.channel.hub.size).toBe(1);
  });

  it.each(waysOut)("[S2] is told once across sleep too, when %s", (_, goes) => {
    const room = new Room({ options: forced });
    const witness = room.subscribed("7");
    const peer = room.subscribed("42");
    room.sleep();
    goes(room, peer);
    room.sleep();
    room.end(peer);
    room.sleep();
    const told = witness.hears().filter((frame) => frame.includes(`"leave"`));
    expect(told).toStrictEqual([leave("42", "c2")]);
  });

  it("[O5] isn't told of somebody who never subscribed", () => {
    const room = new Room({ options: forced });
    const witness = room.subscribed("7");
    room.end(room.connected());
    room.end(room.open());
    room.say(room.connected(), `{"id":3,"unsubscribe":{"channel":"room"}}`);
    expect(witness.hears()).toStrictEqual([]);
  });

  it("[O5] of several slow readers at once is told of each, once, to those who stay", () => {
    const room = new Room({ options: forced });
    const witness = room.subscribed("7");
    const slow = [room.subscribed("1"), room.subscribed("2"), room.subscribed("3")];
    for (const peer of slow) {
      peer.hears();
      peer.backlog = 2_000_000;
    }
    room.forgetHeard();
    room.publish("1");
    const told = witness.hears().filter((frame) => frame.includes(`"leave"`));
    expect(told.toSorted()).toStrictEqual([leave("1", "c2"), leave("2", "c3"), leave("3", "c4")]);
    for (const peer of slow) expect(peer.hears()).toStrictEqual(["close 3008 slow"]);
    expect(room.channel.hub.size).toBe(1);
  });
});
