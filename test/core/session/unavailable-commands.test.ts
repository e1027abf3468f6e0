import { describe, expect, it } from "vitest";
import { disconnectCodes } from "../../../src/protocol/codes.ts";
import { Room } from "./room.ts";

describe("what Dormouse doesn't have", () => {
  it("[W1] is answered 108 when it is rpc", () => {
    const room = new Room();
    expect(room.ask(room.connected(), `{"id":2,"rpc":{"method":"ping"}}`)).toStrictEqual([
      `{"id":2,"error":{"code":108,"message":"not available"}}`,
    ]);
  });

  it("[W1] closes 3508 when it is send", () => {
    const room = new Room();
    expect(room.ask(room.connected(), `{"send":{"data":1}}`)).toStrictEqual([
      "close 3508 not available",
    ]);
  });

  it("[W1] closes 3501 when it is the ping command: only the empty message is one", () => {
    const room = new Room();
    expect(room.ask(room.connected(), `{"id":2,"ping":{}}`)).toStrictEqual([
      "close 3501 bad request",
    ]);
  });
});

describe("a closed session", () => {
  it("[S4] does nothing more, whatever is said or due", () => {
    const room = new Room({ options: { allow_subscribe_for_client: true } });
    const peer = room.connected();
    room.ask(peer, `{"send":{}}`);
    const heard = room.ask(peer, `{"id":3,"subscribe":{"channel":"room"}}\n{}\n{"id":4,"rpc":{}}`);
    expect(heard).toStrictEqual([]);
    room.pass(100_000);
    room.end(peer);
    expect(peer.hears()).toStrictEqual([]);
    expect(room.channel.hub.size).toBe(0);
  });

  it("[S4] isn't closed again", () => {
    const room = new Room();
    const peer = room.connected();
    peer.session.disconnect(disconnectCodes.internalServerError);
    peer.session.disconnect(disconnectCodes.badRequest);
    expect(peer.hears()).toStrictEqual(["close 3004 internal server error"]);
  });

  it("[S4] is still closed after sleep, though its socket is listed", () => {
    const room = new Room({ options: { allow_subscribe_for_client: true } });
    const peer = room.subscribed();
    room.ask(peer, `{"send":{}}`);
    room.sleep();
    expect(peer.session.closed).toBe(true);
    expect(room.channel.hub.size).toBe(0);
    room.publish("1");
    expect(room.ask(peer, `{"id":3,"rpc":{}}`)).toStrictEqual([]);
    room.pass(100_000);
    expect(peer.hears()).toStrictEqual([]);
    expect(peer.session.dueAtMs).toBe(Number.POSITIVE_INFINITY);
  });
});
