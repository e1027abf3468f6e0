import { describe, expect, it } from "vitest";
import { limits } from "../../../../src/limits.ts";
import { jsonCodec } from "../../../../src/protocol/json/codec.ts";
import { ChannelFixture } from "../channel-fixture.ts";

const options = {
  allow_subscribe_for_client: true,
  allow_publish_for_client: true,
  allow_history_for_client: true,
  history_size: 20,
  history_ttl: "60s",
  force_recovery: true,
};
/** `client.queue_max_size` as it is by default. */
const queueBytes = 1_048_576;
const large = `"${"x".repeat(100_000)}"`;

describe("the messages for a client", () => {
  it("[F4] ends with 3008 when it asks for more and takes nothing", () => {
    const fixture = new ChannelFixture({ options });
    for (let number = 0; number < 9; number++) fixture.publish(large);
    const connection = fixture.connected();
    // As a socket does whose other end doesn't read.
    connection.send = (frame) => void (connection.backlog += frame.length);
    const again = `{"id":3,"history":{"channel":"room","limit":-1}}`;
    fixture.send(connection, Array.from({ length: 40 }, () => again).join("\n"));
    expect(connection.session.closed).toBe(true);
    expect(connection.takeSent()).toStrictEqual(["close 3008 slow"]);
    expect(connection.backlog).toBeLessThan(2 * queueBytes);
  });

  it("[F4] ends with 3008 when it comes back again and again and takes nothing", () => {
    const fixture = new ChannelFixture({ options, client: { queue_max_size: 65_536 } });
    for (let number = 0; number < 3; number++) fixture.publish(`"${"x".repeat(10_000)}"`);
    const connection = fixture.connected();
    connection.send = (frame) => void (connection.backlog += frame.length);
    const again = `{"id":2,"subscribe":{"channel":"room","recover":true}}
{"id":3,"unsubscribe":{"channel":"room"}}`;
    for (let second = 0; second < 10; second++) {
      fixture.nowMs += 1_000;
      fixture.send(connection, Array.from({ length: 40 }, () => again).join("\n"));
    }
    expect(connection.takeSent()).toStrictEqual(["close 3008 slow"]);
    expect(connection.backlog).toBeLessThan(66_000);
    expect(fixture.channel.hub.size).toBe(0);
  });

  it("[F4] isn't a recovery for which it would be cut: error 111, and later it gets it", () => {
    const fixture = new ChannelFixture({ options });
    for (let number = 0; number < 9; number++) fixture.publish(large);
    const connection = fixture.connected();
    const subscribe = `{"id":2,"subscribe":{"channel":"room","recover":true}}`;
    connection.backlog = 200_000;
    expect(fixture.ask(connection, subscribe)).toStrictEqual([
      `{"id":2,"error":{"code":111,"message":"too many requests","temporary":true}}`,
    ]);
    expect(connection.saved.subscriptions).toStrictEqual([]);
    expect(fixture.channel.hub.size).toBe(0);
    connection.backlog = 0;
    expect(fixture.ask(connection, subscribe)[0]).toContain('"recovered":true');
  });

  it("[B26] are refused with 111 if they are large and the object is overloaded, and small ones aren't", () => {
    const fixture = new ChannelFixture({ options });
    for (let number = 0; number < 2; number++) fixture.publish(large);
    const [connection, subscriber] = [fixture.connected(), fixture.connected()];
    const strangers = Array.from({ length: 70 }, () => fixture.connected("7"));
    for (const stranger of strangers) stranger.backlog = 1_000_000;
    expect(fixture.ask(connection, history(3, -1))).toStrictEqual([refused(3)]);
    expect(fixture.ask(connection, history(4, 0))[0]).toContain('"offset":2');
    const recover = `{"id":5,"subscribe":{"channel":"room","recover":true}}`;
    expect(fixture.ask(subscriber, recover)).toStrictEqual([refused(5)]);
    expect(fixture.channel.hub.size).toBe(0);
    for (const stranger of strangers) stranger.backlog = 0;
    fixture.nowMs += limits.stalledMs;
    expect(fixture.ask(subscriber, recover)[0]).toContain('"recovered":true');
  });

  it("[F4] continue as long as the client reads", () => {
    const fixture = new ChannelFixture({ options });
    for (let number = 0; number < 9; number++) fixture.publish(large);
    const connection = fixture.connected();
    for (let id = 3; id < 20; id++) {
      const [answer = ""] = fixture.ask(
        connection,
        `{"id":${id},"history":{"channel":"room","limit":-1}}`,
      );
      expect(answer.length).toBeGreaterThan(900_000);
    }
  });

  it("[F4] never is one answer of history beyond the queue: error 106, and a smaller page works", () => {
    const fixture = new ChannelFixture({ options });
    for (let number = 0; number < 11; number++) fixture.publish(large);
    const connection = fixture.connected();
    expect(
      fixture.ask(connection, `{"id":3,"history":{"channel":"room","limit":-1}}`),
    ).toStrictEqual([`{"id":3,"error":{"code":106,"message":"limit exceeded"}}`]);
    const [page = ""] = fixture.ask(connection, `{"id":4,"history":{"channel":"room","limit":10}}`);
    expect(page.length).toBeGreaterThan(1_000_000);
  });

  it("[F4] never is a list of those present beyond the queue", () => {
    const fixture = new ChannelFixture({
      options: {
        allow_subscribe_for_client: true,
        presence: true,
        allow_presence_for_client: true,
      },
      client: { queue_max_size: 65_536 },
    });
    const user = "u".repeat(1_000);
    for (let number = 0; number < 70; number++) fixture.subscribed(`${user}${number}`);
    expect(
      fixture.ask(fixture.connected(), `{"id":3,"presence":{"channel":"room"}}`),
    ).toStrictEqual([`{"id":3,"error":{"code":106,"message":"limit exceeded"}}`]);
  });
});

describe("a publish while too much waits", () => {
  it("[B6] is answered 111, and everything else in its frame is carried out", () => {
    const fixture = new ChannelFixture({ options });
    const connection = fixture.subscribed();
    const frame = [
      `{"id":3,"publish":{"channel":"room","data":1}}`,
      `{"id":4,"rpc":{}}`,
      `{"id":5,"unsubscribe":{"channel":"room"}}`,
    ];
    for (const command of jsonCodec.decodeFrame(frame.join("\n")).commands) {
      connection.session.receive(command, {}, fixture.nowMs, true);
    }
    expect(connection.takeSent()).toStrictEqual([
      `{"id":3,"error":{"code":111,"message":"too many requests","temporary":true}}`,
      `{"id":4,"error":{"code":108,"message":"not available"}}`,
      `{"id":5,"unsubscribe":{}}`,
    ]);
    expect(connection.saved.subscriptions).toStrictEqual([]);
  });

  it("[C1] closes 3501 all the same before connect", () => {
    const connection = new ChannelFixture({ options }).open();
    const { commands } = jsonCodec.decodeFrame(`{"id":1,"publish":{"channel":"room","data":1}}`);
    for (const command of commands) connection.session.receive(command, {}, 0, true);
    expect(connection.takeSent()).toStrictEqual(["close 3501 bad request"]);
  });
});

function refused(id: number): string {
  return `{"id":${id},"error":{"code":111,"message":"too many requests","temporary":true}}`;
}

function history(id: number, limit: number): string {
  return `{"id":${id},"history":{"channel":"room","limit":${limit}}}`;
}
