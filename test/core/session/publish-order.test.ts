import { describe, expect, it } from "vitest";
import { ChannelFixture } from "./channel-fixture.ts";
import type { TestConnection } from "./test-connection.ts";

const options = {
  allow_subscribe_for_client: true,
  allow_publish_for_client: true,
  presence: true,
  allow_presence_for_client: true,
};
/** From so many subscribers on, publications that follow a frame quickly wait for company. */
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

/** A publisher that is subscribed too, and enough others; a frame was just sent, so the next publication waits. */
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

/** The work of the object's timer. */
function flushLater(fixture: ChannelFixture): void {
  fixture.nowMs += 25;
  fixture.channel.hub.settle(fixture.nowMs);
}

describe("a publish by a subscriber", () => {
  it("[O4] is answered after its own publication", () => {
    const fixture = new ChannelFixture({ options });
    const writer = fixture.subscribed();
    expect(fixture.ask(writer, publish(3))).toStrictEqual([push(3), reply(3)]);
  });

  it("[O4] is answered after its own publication while publications are collected", () => {
    const { fixture, writer, reader } = subscribeMany();
    expect(fixture.ask(writer, publish(3))).toStrictEqual([]);
    expect(fixture.channel.hub.collecting).toBe(true);
    flushLater(fixture);
    expect(writer.takeSent()).toStrictEqual([push(3), reply(3)]);
    expect(reader.takeSent()).toStrictEqual([push(3)]);
  });

  it("[O6] holds back the replies to later commands, in order", () => {
    const { fixture, writer } = subscribeMany();
    const frame = [
      publish(3),
      `{"id":4,"rpc":{}}`,
      publish(5),
      `{"id":6,"presence_stats":{"channel":"room"}}`,
      `{"id":7,"unsubscribe":{"channel":"other"}}`,
      `{"id":8,"subscribe":{"channel":"room"}}`,
    ];
    expect(fixture.ask(writer, frame.join("\n"))).toStrictEqual([]);
    flushLater(fixture);
    expect(writer.takeSent()).toStrictEqual([
      `${push(3)}\n${push(5)}`,
      reply(3),
      `{"id":4,"error":{"code":108,"message":"not available"}}`,
      reply(5),
      `{"id":6,"presence_stats":{"num_clients":${many},"num_users":2}}`,
      `{"id":7,"unsubscribe":{}}`,
      `{"id":8,"error":{"code":105,"message":"already subscribed"}}`,
    ]);
    expect(fixture.ask(writer, `{"id":9,"rpc":{}}`)).toHaveLength(1);
  });

  it("[F2] holds back nothing once it was sent", () => {
    const { fixture, writer } = subscribeMany();
    fixture.send(writer, publish(3));
    flushLater(fixture);
    writer.takeSent();
    flushLater(fixture);
    expect(fixture.ask(writer, publish(4))).toStrictEqual([push(4), reply(4)]);
  });

  it("[O4] isn't kept waiting by a frame that is full", () => {
    const { fixture, writer } = subscribeMany();
    const frame = Array.from({ length: 256 }, (_, index) => publish(1_000 + index)).join("\n");
    const received = fixture.ask(writer, frame);
    expect(received).toHaveLength(1 + 256);
    expect(received[0]?.split("\n")).toHaveLength(256);
    expect(received.slice(1)).toStrictEqual(
      Array.from({ length: 256 }, (_, index) => reply(1_000 + index)),
    );
  });

  it("[F5] is answered, after its publication, when a client subscribes while it is collected", () => {
    const { fixture, writer } = subscribeMany();
    fixture.send(writer, publish(3));
    const late = fixture.connected("9");
    const received = fixture.ask(late, `{"id":2,"subscribe":{"channel":"room"}}`);
    expect(received).toStrictEqual([`{"id":2,"subscribe":{}}`]);
    expect(writer.takeSent()).toStrictEqual([push(3), reply(3)]);
    flushLater(fixture);
    expect(late.takeSent()).toStrictEqual([]);
    expect(writer.takeSent()).toStrictEqual([]);
  });

  it("[F5] is answered, after its publication, when a client leaves while it is collected", () => {
    const { fixture, writer, reader } = subscribeMany();
    fixture.send(writer, publish(3));
    expect(fixture.ask(reader, `{"id":9,"unsubscribe":{"channel":"room"}}`)).toStrictEqual([
      push(3),
      `{"id":9,"unsubscribe":{}}`,
    ]);
    expect(writer.takeSent()).toStrictEqual([push(3), reply(3)]);
  });

  it("[F5] is answered, after its publication, when the publisher itself unsubscribes", () => {
    const { fixture, writer } = subscribeMany();
    const frame = `${publish(3)}\n{"id":4,"unsubscribe":{"channel":"room"}}\n{"id":5,"rpc":{}}`;
    expect(fixture.ask(writer, frame)).toStrictEqual([
      push(3),
      reply(3),
      `{"id":4,"unsubscribe":{}}`,
      `{"id":5,"error":{"code":108,"message":"not available"}}`,
    ]);
  });

  it("[F5] is answered, after its publication, before the publisher's bad command closes", () => {
    const { fixture, writer, reader } = subscribeMany();
    expect(fixture.ask(writer, `${publish(3)}\n{"send":{}}`)).toStrictEqual([
      push(3),
      reply(3),
      "close 3508 not available",
    ]);
    expect(reader.takeSent()).toStrictEqual([push(3)]);
  });

  it("[O2] sends a join only after the publications collected before it", () => {
    const { fixture, writer, reader } = subscribeMany({
      join_leave: true,
      force_push_join_leave: true,
    });
    fixture.send(writer, publish(3));
    fixture.send(fixture.connected("9"), `{"id":2,"subscribe":{"channel":"room"}}`);
    const pending = `{"push":{"channel":"room","join":{"info":{"user":"9","client":"c${many + 1}"}}}}`;
    expect(reader.takeSent()).toStrictEqual([push(3), pending]);
    expect(writer.takeSent()).toStrictEqual([push(3), reply(3), pending]);
  });

  it("[F4] with too large a backlog is cut, and gets nothing afterwards", () => {
    const { fixture, writer, reader } = subscribeMany();
    writer.backlog = 2_000_000;
    fixture.send(writer, publish(3));
    flushLater(fixture);
    expect(writer.takeSent()).toStrictEqual(["close 3008 slow"]);
    expect(reader.takeSent()).toStrictEqual([push(3)]);
  });

  it("[F4] that is cut by its own publication at once gets no reply after the close", () => {
    const fixture = new ChannelFixture({ options });
    const writer = fixture.subscribed();
    writer.backlog = 2_000_000;
    expect(fixture.ask(writer, publish(3))).toStrictEqual(["close 3008 slow"]);
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
    flushLater(fixture);
    expect(reader.takeSent()).toHaveLength(1);
    expect(outsider.takeSent()).toStrictEqual([]);
  });
});

describe("two publishers", () => {
  it("[O1] reach all subscribers in the same order", () => {
    const { fixture, writer, reader } = subscribeMany();
    fixture.send(reader, `{"id":1,"publish":{"channel":"room","data":"a"}}`);
    fixture.send(writer, publish(3));
    fixture.send(reader, `{"id":2,"publish":{"channel":"room","data":"b"}}`);
    flushLater(fixture);
    const [frame] = writer.takeSent();
    expect(reader.takeSent()).toStrictEqual([
      frame,
      `{"id":1,"publish":{}}`,
      `{"id":2,"publish":{}}`,
    ]);
    expect(frame).toMatch(/"data":"a".*\n.*"data":3.*\n.*"data":"b"/);
  });
});
