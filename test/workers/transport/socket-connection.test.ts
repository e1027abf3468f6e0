import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { limits } from "../../../src/limits.ts";
import { SocketConnection } from "../../../src/object/socket-connection.ts";
import { call } from "../support/api-request.ts";
import { newChannel } from "../support/new-channel.ts";
import { TestSocket } from "../support/test-socket.ts";
import { token } from "../support/sign-token.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("a socket on a runtime without bufferedAmount", () => {
  it("[F4] is behind beyond all measure once it was sent 32 MiB and said nothing", async () => {
    const channel = newChannel("plain");
    const peer = await TestSocket.open(channel);
    await runInDurableObject(env.CHANNELS.getByName(channel), (_, state) => {
      const [socket] = state.getWebSockets();
      if (socket === undefined) throw new Error("the socket is gone");
      Object.defineProperty(socket, "bufferedAmount", { value: undefined });
      const connection = new SocketConnection(socket, {
        platform: {
          nowMs: () => Date.now(),
          sockets: {
            all: () => state.getWebSockets(),
            tagsOf: () => [],
            answeredAtMs: () => state.getWebSocketAutoResponseTimestamp(socket)?.getTime(),
            setAnswering: () => undefined,
          },
        },
      });
      const frame = "x".repeat(limits.unconfirmedBytesMax / 32);
      for (let frames = 0; frames < 32; frames++) connection.send(frame);
      expect(connection.backlogBytes()).toBe(0);
      connection.send("x");
      expect(connection.backlogBytes()).toBe(Number.POSITIVE_INFINITY);
      connection.heard(Date.now());
      expect(connection.backlogBytes()).toBe(0);
    });
    peer.close();
  });
});

describe("a socket with client-driven keep-alive", () => {
  it("[K4] is alive as long as it says anything, and gone when it doesn't", async () => {
    const channel = newChannel("plain");
    const socket = await TestSocket.open(channel, "?keepalive=client");
    await socket.ask({ id: 1, connect: { token: await token({ sub: "ada" }) } });
    await socket.ask({ id: 2, subscribe: { channel } });
    const silence = 2 * 25_000 + 10_000;
    for (let id = 3; id < 6; id++) {
      vi.setSystemTime(Date.now() + silence + 1);
      const answer = await socket.ask({ id, presence_stats: { channel } });
      expect(answer).toStrictEqual({ id, presence_stats: { num_clients: 1, num_users: 1 } });
    }
    vi.setSystemTime(Date.now() + silence + 1);
    expect((await call("presence_stats", { channel })).body).toContain('"num_clients":0');
    expect(await socket.closed).toMatchObject({ code: 3012 });
  });
});
