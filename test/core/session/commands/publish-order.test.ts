import { describe, expect, it } from "vitest";
import { sendAll } from "../../../support/send-all.ts";
import { ChannelFixture } from "../channel-fixture.ts";
import type { TestConnection } from "../test-connection.ts";

const options = {
  allow_subscribe_for_client: true,
  allow_publish_for_client: true,
  presence: true,
  allow_presence_for_client: true,
};
/** So many that a frame to them takes several slices. */
const many = 200;

function publish(id: number): string {
  return `{"id":${id},"publish":{"channel":"room","data":${id}}}`;
}

function push(id: number): string {
  return `{"push":{"channel":"room","pub":{"data":${id},"info":{"user":"42","client":"c1"}}}}`;
}

function reply(id: number): string {
  return `{"id":${id},"publish":{}}`;
}

/** A publisher that is subscribed too, and many others; a frame is on its way, and both have it. */
function subscribeMany(more: object = {}): {
  fixture: ChannelFixture;
  writer: TestConnection;
  reader: TestConnection;
} {
  const fixture = new ChannelFixture({ options: { ...options, ...more } });
  const writer = fixture.subscribed();
  const [reader = writer] = Array.from({ length: many - 1 }, () => fixture.subscribed("7"));
  fixture.publish("0");
  fixture.dropSent();
  return { fixture, writer, reader };
}

/** The later turns of the event loop. */
function sendLater({ channel }: ChannelFixture): void {
  sendAll(channel.hub);
}

describe("a publish by a subscriber", () => {
  it("[O4] is answered after its own publication while a frame is on its way", () => {
    const { fixture, writer, reader } = subscribeMany();
    expect(fixture.ask(writer, publish(3))).toStrictEqual([push(3), reply(3)]);
    expect(reader.takeSent()).toStrictEqual([]);
    sendLater(fixture);
    expect(reader.takeSent()).toStrictEqual([push(3)]);
    expect(writer.takeSent()).toStrictEqual([]);
  });

  it("[O6] holds back no reply to later commands", () => {
    const { fixture, writer } = subscribeMany();
    const frame = [
      publish(3),
      `{"id":4,"rpc":{}}`,
      publish(5),
      `{"id":6,"presence_stats":{"channel":"room"}}`,
      `{"id":7,"unsubscribe":{"channel":"other"}}`,
      `{"id":8,"subscribe":{"channel":"room"}}`,
    ];
    expect(fixture.ask(writer, frame.join("\n"))).toStrictEqual([
      push(3),
      reply(3),
      `{"id":4,"error":{"code":108,"message":"not available"}}`,
      push(5),
      reply(5),
      `{"id":7,"unsubscribe":{}}`,
      `{"id":8,"error":{"code":105,"message":"already subscribed"}}`,
      `{"id":6,"presence_stats":{"num_clients":${many},"num_users":2}}`,
    ]);
    sendLater(fixture);
    expect(writer.takeSent()).toStrictEqual([]);
  });

  it("[F5] sends nobody anything because a client subscribes", () => {
    const { fixture, writer, reader } = subscribeMany();
    fixture.send(writer, publish(3));
    const late = fixture.connected("9");
    const received = fixture.ask(late, `{"id":2,"subscribe":{"channel":"room"}}`);
    expect(received).toStrictEqual([`{"id":2,"subscribe":{}}`]);
    expect(reader.takeSent()).toStrictEqual([]);
    sendLater(fixture);
    expect(late.takeSent()).toStrictEqual([]);
    expect(reader.takeSent()).toStrictEqual([push(3)]);
  });

  it("[F5] is sent to a client that leaves before the unsubscribe reply, and to nobody else", () => {
    const { fixture, writer, reader } = subscribeMany();
    const other = fixture.subscribed("8");
    fixture.send(writer, publish(3));
    expect(fixture.ask(reader, `{"id":9,"unsubscribe":{"channel":"room"}}`)).toStrictEqual([
      push(3),
      `{"id":9,"unsubscribe":{}}`,
    ]);
    expect(other.takeSent().slice(2)).toStrictEqual([]);
    sendLater(fixture);
    expect(other.takeSent()).toStrictEqual([push(3)]);
    expect(reader.takeSent()).toStrictEqual([]);
  });

  it("[F5] is sent to a client whose connection is closed, before the close", () => {
    const { fixture, writer, reader } = subscribeMany();
    fixture.send(writer, publish(3));
    expect(fixture.ask(reader, `{"send":{}}`)).toStrictEqual([push(3), "close 3508 not available"]);
  });

  it("[F5] [O5] sends a join after the publications before it, in one stream", () => {
    const { fixture, writer, reader } = subscribeMany({
      join_leave: true,
      force_push_join_leave: true,
    });
    sendLater(fixture);
    reader.takeSent();
    fixture.publish("1");
    fixture.send(writer, publish(3));
    fixture.send(fixture.connected("9"), `{"id":2,"subscribe":{"channel":"room"}}`);
    fixture.send(writer, publish(4));
    sendLater(fixture);
    const joined = `{"push":{"channel":"room","join":{"info":{"user":"9","client":"c${many + 1}"}}}}`;
    const lines = reader.takeSent().flatMap((frame) => frame.split("\n"));
    expect(lines.slice(-3)).toStrictEqual([push(3), joined, push(4)]);
  });

  it("[F4] that is cut while it leaves gets no reply after the close", () => {
    const { fixture, writer } = subscribeMany();
    fixture.publish("1");
    writer.backlog = 2_000_000;
    expect(fixture.ask(writer, `{"id":4,"unsubscribe":{"channel":"room"}}`)).toStrictEqual([
      "close 3008 slow",
    ]);
  });
});

describe("a publish by a client that isn't subscribed", () => {
  it("[O4] is answered at once, even while publications are collected", () => {
    const { fixture, reader } = subscribeMany();
    const outsider = fixture.connected("9");
    expect(fixture.ask(outsider, publish(3))).toStrictEqual([reply(3)]);
    expect(reader.takeSent()).toStrictEqual([]);
    sendLater(fixture);
    expect(reader.takeSent()).toHaveLength(1);
    expect(outsider.takeSent()).toStrictEqual([]);
  });
});
