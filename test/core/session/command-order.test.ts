import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { errorCodes } from "../../../src/protocol/codes.ts";
import {
  internal,
  publish,
  pushed,
  subscribe,
  subscribed,
  tooMany,
  unsubscribe,
} from "./frames.ts";
import { Switchboard } from "./gateway-fixture.ts";
import { subscriptionToken } from "./verified-tokens.ts";

describe("what is asked of a channel while a subscribe to it is under way", () => {
  it("[O6] waits for it, and is then carried out in order", () => {
    const board = new Switchboard();
    const peer = board.connected();
    const frame = [subscribe(2, "a"), publish(3, "a"), unsubscribe(4, "a"), publish(5, "a")];
    expect(board.ask(peer, frame.join("\n"))).toStrictEqual([]);
    expect(board.channels.takeCalls()).toStrictEqual(["join a"]);
    board.channels.joined("a");
    expect(board.channels.takeCalls()).toStrictEqual([
      "announce a",
      "publish a 3",
      "leave a",
      "publish a 5",
    ]);
    expect(peer.hears()).toStrictEqual([subscribed(2)]);
    board.channels.published("a");
    expect(peer.hears()).toStrictEqual([`{"id":3,"publish":{}}`, `{"id":4,"unsubscribe":{}}`]);
  });

  it("[O6] makes nobody wait who asks another channel, or none", () => {
    const board = new Switchboard();
    const peer = board.subscribed("b");
    const frame = [subscribe(3, "a"), publish(4, "b"), unsubscribe(5, "b"), `{"id":6,"rpc":{}}`];
    expect(board.ask(peer, frame.join("\n"))).toStrictEqual([
      `{"id":6,"error":{"code":108,"message":"not available"}}`,
    ]);
    expect(board.channels.takeCalls()).toStrictEqual(["join a", "publish b 4", "leave b"]);
    board.channels.published("b");
    expect(peer.hears()).toStrictEqual([`{"id":4,"publish":{}}`, `{"id":5,"unsubscribe":{}}`]);
  });

  it("[O6] waits again for a subscribe among it", () => {
    const board = new Switchboard();
    const peer = board.connected();
    const frame = [subscribe(2, "a"), unsubscribe(3, "a"), subscribe(4, "a"), publish(5, "a")];
    board.say(peer, frame.join("\n"));
    board.channels.joined("a");
    expect(board.channels.takeCalls()).toStrictEqual(["join a", "announce a", "leave a", "join a"]);
    expect(peer.hears()).toStrictEqual([subscribed(2), `{"id":3,"unsubscribe":{}}`]);
    board.say(peer, publish(6, "a"));
    expect(board.channels.takeCalls()).toStrictEqual([]);
    board.channels.joined("a");
    expect(board.channels.takeCalls()).toStrictEqual(["announce a", "publish a 5", "publish a 6"]);
    expect(peer.hears()).toStrictEqual([subscribed(4)]);
  });

  it.each([
    [`{"id":3,"presence":{"channel":"a"}}`, "presence a"],
    [`{"id":3,"history":{"channel":"a"}}`, "history a"],
  ])("[O6] is a question, too: %s", (question, call) => {
    const options = {
      presence: true,
      allow_presence_for_subscriber: true,
      allow_history_for_subscriber: true,
      history_size: 5,
      history_ttl: "60s",
    };
    const board = new Switchboard({ options });
    const peer = board.connected();
    board.say(peer, `${subscribe(2, "a")}\n${question}`);
    expect(board.channels.takeCalls()).toStrictEqual(["join a"]);
    board.channels.joined("a");
    expect(board.channels.takeCalls()).toStrictEqual(["announce a", call]);
  });

  it("[O6] is a sub_refresh, too", () => {
    const board = new Switchboard();
    const peer = board.connected();
    const token = subscriptionToken({ channel: "a" });
    const refresh = `{"id":3,"sub_refresh":{"channel":"a","token":"t"}}`;
    expect(board.ask(peer, `${subscribe(2, "a")}\n${refresh}`, token)).toStrictEqual([]);
    board.channels.joined("a");
    expect(peer.hears()).toStrictEqual([subscribed(2), `{"id":3,"sub_refresh":{}}`]);
  });

  it("[O6] goes on when it fails", () => {
    const board = new Switchboard();
    const peer = board.connected();
    board.say(peer, [subscribe(2, "a"), publish(3, "a"), subscribe(4, "a")].join("\n"));
    board.channels.refused("a", errorCodes.internal);
    expect(peer.hears()).toStrictEqual([internal(2)]);
    expect(board.channels.takeCalls()).toStrictEqual(["join a", "publish a 3"]);
    board.channels.published("a");
    expect(board.channels.takeCalls()).toStrictEqual(["join a"]);
    board.channels.joined("a");
    expect(peer.hears()).toStrictEqual([`{"id":3,"publish":{}}`, subscribed(4)]);
  });

  it("[O6] comes before a subscribe that begins anew, whose reply doesn't wait", () => {
    const board = new Switchboard();
    const peer = board.subscribed("a");
    board.say(peer, [publish(3, "a"), unsubscribe(4, "a"), subscribe(5, "a")].join("\n"));
    expect(board.channels.takeCalls()).toStrictEqual(["publish a 3", "leave a"]);
    expect(peer.hears()).toStrictEqual([]);
    board.channels.published("a");
    expect(peer.hears()).toStrictEqual([`{"id":3,"publish":{}}`, `{"id":4,"unsubscribe":{}}`]);
    board.channels.joined("a");
    expect(peer.hears()).toStrictEqual([subscribed(5)]);
  });

  it("[B6] is answered 111 when too much of it waits, and the rest is carried out", () => {
    const board = new Switchboard();
    const peer = board.connected();
    board.say(peer, subscribe(2, "a"));
    for (let id = 3; id < 3 + limits.commandsWaitingMax; id++) board.say(peer, publish(id, "a"));
    expect(peer.hears()).toStrictEqual([]);
    expect(board.ask(peer, publish(8_000, "a"))).toStrictEqual([tooMany(8_000)]);
    board.channels.takeCalls();
    board.channels.joined("a");
    expect(peer.hears()).toStrictEqual([subscribed(2)]);
    const calls = board.channels.takeCalls();
    expect(calls).toHaveLength(1 + limits.commandsWaitingMax);
    expect(calls.at(-1)).toBe(`publish a ${2 + limits.commandsWaitingMax}`);
    expect(board.ask(peer, publish(8_001, "a"))).toStrictEqual([]);
    expect(board.channels.takeCalls()).toStrictEqual(["publish a 8001"]);
  });
});

describe("replies that wait for collected publications", () => {
  it("[O4] come after them, and hold back the replies of other channels", () => {
    const board = new Switchboard();
    const peer = board.subscribed("a");
    board.channels.collect("a");
    board.say(peer, publish(3, "a"));
    board.channels.tell("a", "3");
    board.channels.published("a");
    expect(board.ask(peer, unsubscribe(4, "b"))).toStrictEqual([]);
    board.channels.flush("a");
    expect(peer.hears()).toStrictEqual([
      pushed("a", "3"),
      `{"id":3,"publish":{}}`,
      `{"id":4,"unsubscribe":{}}`,
    ]);
  });

  it("[O3] hold back what a new subscription gets, along with its reply", () => {
    const board = new Switchboard({ options: { join_leave: true, force_push_join_leave: true } });
    const peer = board.subscribed("a");
    board.channels.collect("a");
    board.say(peer, publish(3, "a"));
    board.channels.published("a");
    board.say(peer, subscribe(4, "b"));
    board.channels.joined("b");
    board.channels.tell("b", "1");
    expect(peer.hears()).toStrictEqual([]);
    board.channels.flush("a");
    board.channels.tell("b", "2");
    expect(peer.hears()).toStrictEqual([
      `{"id":3,"publish":{}}`,
      subscribed(4),
      `{"push":{"channel":"b","join":{"info":{"user":"42","client":"c1"}}}}`,
      pushed("b", "1"),
      pushed("b", "2"),
    ]);
  });

  it("[O4] of several channels come in the order of the commands", () => {
    const board = new Switchboard();
    const peer = board.subscribed("a", "b");
    board.channels.collect("a");
    board.channels.collect("b");
    board.say(peer, `${publish(3, "a")}\n${publish(4, "b")}`);
    board.channels.published("a");
    board.channels.published("b");
    board.channels.flush("b");
    expect(peer.hears()).toStrictEqual([]);
    board.channels.flush("a");
    expect(peer.hears()).toStrictEqual([`{"id":3,"publish":{}}`, `{"id":4,"publish":{}}`]);
  });
});
