import { describe, expect, it } from "vitest";
import { limits } from "../../../../src/limits.ts";
import { errorCodes } from "../../../../src/protocol/codes.ts";
import {
  internal,
  publish,
  pushed,
  subscribe,
  subscribed,
  tooMany,
  unsubscribe,
} from "../frames.ts";
import { ManyChannelsFixture } from "../many-channels-fixture.ts";
import { subscriptionToken } from "../verified-tokens.ts";

describe("commands for a channel during a subscribe to it", () => {
  it("[O6] waits for it, and is then carried out in order", () => {
    const fixture = new ManyChannelsFixture();
    const connection = fixture.connected();
    const frame = [subscribe(2, "a"), publish(3, "a"), unsubscribe(4, "a"), publish(5, "a")];
    expect(fixture.ask(connection, frame.join("\n"))).toStrictEqual([]);
    expect(fixture.channels.takeCalls()).toStrictEqual(["join a"]);
    fixture.channels.acceptSubscribe("a");
    expect(fixture.channels.takeCalls()).toStrictEqual([
      "announce a",
      "publish a 3",
      "leave a",
      "publish a 5",
    ]);
    expect(connection.takeSent()).toStrictEqual([subscribed(2)]);
    fixture.channels.answerPublish("a");
    expect(connection.takeSent()).toStrictEqual([
      `{"id":3,"publish":{}}`,
      `{"id":4,"unsubscribe":{}}`,
    ]);
  });

  it("[O6] waits again for a subscribe among it", () => {
    const fixture = new ManyChannelsFixture();
    const connection = fixture.connected();
    const frame = [subscribe(2, "a"), unsubscribe(3, "a"), subscribe(4, "a"), publish(5, "a")];
    fixture.send(connection, frame.join("\n"));
    fixture.channels.acceptSubscribe("a");
    expect(fixture.channels.takeCalls()).toStrictEqual([
      "join a",
      "announce a",
      "leave a",
      "join a",
    ]);
    expect(connection.takeSent()).toStrictEqual([subscribed(2), `{"id":3,"unsubscribe":{}}`]);
    fixture.send(connection, publish(6, "a"));
    expect(fixture.channels.takeCalls()).toStrictEqual([]);
    fixture.channels.acceptSubscribe("a");
    expect(fixture.channels.takeCalls()).toStrictEqual([
      "announce a",
      "publish a 5",
      "publish a 6",
    ]);
    expect(connection.takeSent()).toStrictEqual([subscribed(4)]);
  });

  it.each([
    [`{"id":3,"presence":{"channel":"a"}}`, "presence a"],
    [`{"id":3,"history":{"channel":"a"}}`, "history a"],
  ])("[O6] is a question, too: %s", (request, call) => {
    const options = {
      presence: true,
      allow_presence_for_subscriber: true,
      allow_history_for_subscriber: true,
      history_size: 5,
      history_ttl: "60s",
    };
    const fixture = new ManyChannelsFixture({ options });
    const connection = fixture.connected();
    fixture.send(connection, `${subscribe(2, "a")}\n${request}`);
    expect(fixture.channels.takeCalls()).toStrictEqual(["join a"]);
    fixture.channels.acceptSubscribe("a");
    expect(fixture.channels.takeCalls()).toStrictEqual(["announce a", call]);
  });

  it("[O6] is a sub_refresh, too", () => {
    const fixture = new ManyChannelsFixture();
    const connection = fixture.connected();
    const token = subscriptionToken({ channel: "a" });
    const refresh = `{"id":3,"sub_refresh":{"channel":"a","token":"t"}}`;
    expect(fixture.ask(connection, `${subscribe(2, "a")}\n${refresh}`, token)).toStrictEqual([]);
    fixture.channels.acceptSubscribe("a");
    expect(connection.takeSent()).toStrictEqual([subscribed(2), `{"id":3,"sub_refresh":{}}`]);
  });

  it("[O6] continue when it fails", () => {
    const fixture = new ManyChannelsFixture();
    const connection = fixture.connected();
    fixture.send(connection, [subscribe(2, "a"), publish(3, "a"), subscribe(4, "a")].join("\n"));
    fixture.channels.refuseSubscribe("a", errorCodes.internal);
    expect(connection.takeSent()).toStrictEqual([internal(2)]);
    expect(fixture.channels.takeCalls()).toStrictEqual(["join a", "publish a 3"]);
    fixture.channels.answerPublish("a");
    expect(fixture.channels.takeCalls()).toStrictEqual(["join a"]);
    fixture.channels.acceptSubscribe("a");
    expect(connection.takeSent()).toStrictEqual([`{"id":3,"publish":{}}`, subscribed(4)]);
  });

  it("[O6] comes before a subscribe that begins anew, whose reply doesn't wait", () => {
    const fixture = new ManyChannelsFixture();
    const connection = fixture.subscribed("a");
    fixture.send(connection, [publish(3, "a"), unsubscribe(4, "a"), subscribe(5, "a")].join("\n"));
    expect(fixture.channels.takeCalls()).toStrictEqual(["publish a 3", "leave a"]);
    expect(connection.takeSent()).toStrictEqual([]);
    fixture.channels.answerPublish("a");
    expect(connection.takeSent()).toStrictEqual([
      `{"id":3,"publish":{}}`,
      `{"id":4,"unsubscribe":{}}`,
    ]);
    fixture.channels.acceptSubscribe("a");
    expect(connection.takeSent()).toStrictEqual([subscribed(5)]);
  });

  it("[B6] is answered 111 when too much of it waits, and the rest is carried out", () => {
    const fixture = new ManyChannelsFixture();
    const connection = fixture.connected();
    fixture.send(connection, subscribe(2, "a"));
    for (let id = 3; id < 3 + limits.commandsWaitingMax; id++)
      fixture.send(connection, publish(id, "a"));
    expect(connection.takeSent()).toStrictEqual([]);
    expect(fixture.ask(connection, publish(8_000, "a"))).toStrictEqual([tooMany(8_000)]);
    fixture.channels.takeCalls();
    fixture.channels.acceptSubscribe("a");
    expect(connection.takeSent()).toStrictEqual([subscribed(2)]);
    const calls = fixture.channels.takeCalls();
    expect(calls).toHaveLength(1 + limits.commandsWaitingMax);
    expect(calls.at(-1)).toBe(`publish a ${2 + limits.commandsWaitingMax}`);
    expect(fixture.ask(connection, publish(8_001, "a"))).toStrictEqual([]);
    expect(fixture.channels.takeCalls()).toStrictEqual(["publish a 8001"]);
  });
});

describe("a publish reply", () => {
  it("[O4] comes after the publication that is still collected for others", () => {
    const fixture = new ManyChannelsFixture();
    const connection = fixture.subscribed("a", "b");
    fixture.channels.collect("a");
    fixture.channels.collect("b");
    fixture.send(connection, `${publish(3, "a")}\n${publish(4, "b")}`);
    fixture.channels.push("a", "3");
    fixture.channels.push("b", "4");
    fixture.channels.answerPublish("b");
    fixture.channels.answerPublish("a");
    const received = [
      pushed("b", "4"),
      `{"id":4,"publish":{}}`,
      pushed("a", "3"),
      `{"id":3,"publish":{}}`,
    ];
    expect(connection.takeSent()).toStrictEqual(received);
    fixture.channels.flush("a");
    fixture.channels.flush("b");
    expect(connection.takeSent()).toStrictEqual([]);
  });
});
