import { describe, expect, it } from "vitest";
import { Room } from "./channel-fixture.ts";
import type { Peer } from "./peer.ts";

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

/** A publisher who subscribes as well, and enough others; a publication has just gone out, so the next one waits. */
function crowd(more: object = {}): { room: Room; writer: Peer; reader: Peer } {
  const room = new Room({ options: { ...options, ...more } });
  const writer = room.subscribed();
  const [reader = writer] = Array.from({ length: many - 1 }, () => room.subscribed("7"));
  room.publish("0");
  room.forgetHeard();
  return { room, writer, reader };
}

/** What the object's timer does. */
function flushLater(room: Room): void {
  room.nowMs += 25;
  room.channel.hub.settle(room.nowMs);
}

describe("a publish by a subscriber", () => {
  it("[O4] is answered after its own publication", () => {
    const room = new Room({ options });
    const writer = room.subscribed();
    expect(room.ask(writer, publish(3))).toStrictEqual([push(3), reply(3)]);
  });

  it("[O4] is answered after its own publication while publications are collected", () => {
    const { room, writer, reader } = crowd();
    expect(room.ask(writer, publish(3))).toStrictEqual([]);
    expect(room.channel.hub.collecting).toBe(true);
    flushLater(room);
    expect(writer.hears()).toStrictEqual([push(3), reply(3)]);
    expect(reader.hears()).toStrictEqual([push(3)]);
  });

  it("[O6] holds back the replies to what follows it, in order", () => {
    const { room, writer } = crowd();
    const frame = [
      publish(3),
      `{"id":4,"rpc":{}}`,
      publish(5),
      `{"id":6,"presence_stats":{"channel":"room"}}`,
      `{"id":7,"unsubscribe":{"channel":"other"}}`,
      `{"id":8,"subscribe":{"channel":"room"}}`,
    ];
    expect(room.ask(writer, frame.join("\n"))).toStrictEqual([]);
    flushLater(room);
    expect(writer.hears()).toStrictEqual([
      `${push(3)}\n${push(5)}`,
      reply(3),
      `{"id":4,"error":{"code":108,"message":"not available"}}`,
      reply(5),
      `{"id":6,"presence_stats":{"num_clients":${many},"num_users":2}}`,
      `{"id":7,"unsubscribe":{}}`,
      `{"id":8,"error":{"code":105,"message":"already subscribed"}}`,
    ]);
    expect(room.ask(writer, `{"id":9,"rpc":{}}`)).toHaveLength(1);
  });

  it("[F2] holds back nothing once it was sent", () => {
    const { room, writer } = crowd();
    room.say(writer, publish(3));
    flushLater(room);
    writer.hears();
    flushLater(room);
    expect(room.ask(writer, publish(4))).toStrictEqual([push(4), reply(4)]);
  });

  it("[O4] isn't kept waiting by a frame that is full", () => {
    const { room, writer } = crowd();
    const frame = Array.from({ length: 256 }, (_, index) => publish(1_000 + index)).join("\n");
    const heard = room.ask(writer, frame);
    expect(heard).toHaveLength(1 + 256);
    expect(heard[0]?.split("\n")).toHaveLength(256);
    expect(heard.slice(1)).toStrictEqual(
      Array.from({ length: 256 }, (_, index) => reply(1_000 + index)),
    );
  });

  it("[F5] is answered, after its publication, when somebody comes while it is collected", () => {
    const { room, writer } = crowd();
    room.say(writer, publish(3));
    const late = room.connected("9");
    const heard = room.ask(late, `{"id":2,"subscribe":{"channel":"room"}}`);
    expect(heard).toStrictEqual([`{"id":2,"subscribe":{}}`]);
    expect(writer.hears()).toStrictEqual([push(3), reply(3)]);
    flushLater(room);
    expect(late.hears()).toStrictEqual([]);
    expect(writer.hears()).toStrictEqual([]);
  });

  it("[F5] is answered, after its publication, when somebody goes while it is collected", () => {
    const { room, writer, reader } = crowd();
    room.say(writer, publish(3));
    expect(room.ask(reader, `{"id":9,"unsubscribe":{"channel":"room"}}`)).toStrictEqual([
      push(3),
      `{"id":9,"unsubscribe":{}}`,
    ]);
    expect(writer.hears()).toStrictEqual([push(3), reply(3)]);
  });

  it("[F5] is answered, after its publication, when the publisher itself unsubscribes", () => {
    const { room, writer } = crowd();
    const frame = `${publish(3)}\n{"id":4,"unsubscribe":{"channel":"room"}}\n{"id":5,"rpc":{}}`;
    expect(room.ask(writer, frame)).toStrictEqual([
      push(3),
      reply(3),
      `{"id":4,"unsubscribe":{}}`,
      `{"id":5,"error":{"code":108,"message":"not available"}}`,
    ]);
  });

  it("[F5] is answered, after its publication, before the publisher's bad command closes", () => {
    const { room, writer, reader } = crowd();
    expect(room.ask(writer, `${publish(3)}\n{"send":{}}`)).toStrictEqual([
      push(3),
      reply(3),
      "close 3508 not available",
    ]);
    expect(reader.hears()).toStrictEqual([push(3)]);
  });

  it("[O2] tells the others of a join only after what was collected before it", () => {
    const { room, writer, reader } = crowd({ join_leave: true, force_push_join_leave: true });
    room.say(writer, publish(3));
    room.say(room.connected("9"), `{"id":2,"subscribe":{"channel":"room"}}`);
    const join = `{"push":{"channel":"room","join":{"info":{"user":"9","client":"c${many + 1}"}}}}`;
    expect(reader.hears()).toStrictEqual([push(3), join]);
    expect(writer.hears()).toStrictEqual([push(3), reply(3), join]);
  });

  it("[F4] that is itself too far behind is cut, and hears nothing after that", () => {
    const { room, writer, reader } = crowd();
    writer.backlog = 2_000_000;
    room.say(writer, publish(3));
    flushLater(room);
    expect(writer.hears()).toStrictEqual(["close 3008 slow"]);
    expect(reader.hears()).toStrictEqual([push(3)]);
  });

  it("[F4] that is cut by its own publication at once hears no reply after the close", () => {
    const room = new Room({ options });
    const writer = room.subscribed();
    writer.backlog = 2_000_000;
    expect(room.ask(writer, publish(3))).toStrictEqual(["close 3008 slow"]);
  });

  it("[F4] that is cut while it leaves hears no reply after the close", () => {
    const { room, writer } = crowd();
    room.publish("1");
    writer.backlog = 2_000_000;
    expect(room.ask(writer, `{"id":4,"unsubscribe":{"channel":"room"}}`)).toStrictEqual([
      "close 3008 slow",
    ]);
  });
});

describe("a publish by somebody who isn't subscribed", () => {
  it("[O4] is answered at once, even while publications are collected", () => {
    const { room, reader } = crowd();
    const outsider = room.connected("9");
    expect(room.ask(outsider, publish(3))).toStrictEqual([reply(3)]);
    expect(reader.hears()).toStrictEqual([]);
    flushLater(room);
    expect(reader.hears()).toHaveLength(1);
    expect(outsider.hears()).toStrictEqual([]);
  });
});

describe("two publishers", () => {
  it("[O1] are heard by everybody in the same order", () => {
    const { room, writer, reader } = crowd();
    room.say(reader, `{"id":1,"publish":{"channel":"room","data":"a"}}`);
    room.say(writer, publish(3));
    room.say(reader, `{"id":2,"publish":{"channel":"room","data":"b"}}`);
    flushLater(room);
    const [frame] = writer.hears();
    expect(reader.hears()).toStrictEqual([frame, `{"id":1,"publish":{}}`, `{"id":2,"publish":{}}`]);
    expect(frame).toMatch(/"data":"a".*\n.*"data":3.*\n.*"data":"b"/);
  });
});
