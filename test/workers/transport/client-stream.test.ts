import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { keepaliveTexts } from "../../../src/contract/keepalive.ts";
import { limits } from "../../../src/limits.ts";
import { jsonCodec } from "../../../src/protocol/json/codec.ts";
import { responseFormat } from "../../../src/transport/stream.ts";
import { ClientStream } from "../../../workers/http/client-stream.ts";
import { OwnTimers } from "../support/own-timers.ts";

/** The edge's end of a socket to an object, as far as a stream uses it. */
class Socket extends EventTarget {
  accept(): void {}
  send(): void {}
  close(): void {}

  say(data: string): void {
    this.dispatchEvent(Object.assign(new Event("message"), { data }));
  }

  end(code: number, reason: string): void {
    this.dispatchEvent(Object.assign(new Event("close"), { code, reason }));
  }
}

function open() {
  const socket = new Socket();
  const stream: ClientStream = Reflect.construct(ClientStream, [
    {
      socket,
      first: "{}",
      keepalive: keepaliveTexts,
      codec: jsonCodec,
      format: responseFormat("json"),
      pingIntervalMs: 25_000,
      probeIntervalMs: 0,
      queueMaxBytes: 1_000,
      startedAtMs: Date.now(),
    },
  ]);
  socket.say('{"id":1,"connect":{}}');
  return { socket, text: () => new Response(stream.readable).text() };
}

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

it("[T3] a stream that is over keeps its unread bytes for a limited time", async () => {
  const [soon, late] = [open(), open()];
  for (const { socket } of [soon, late]) socket.end(3005, "connection expired");
  vi.advanceTimersByTime(limits.streamEndMs - 1);
  expect(await soon.text()).toContain('"code":3005');
  vi.advanceTimersByTime(1);
  expect(await late.text()).toBe("");
});

it("[T3] a stream that was read to its end leaves no timer", async () => {
  const timers = new OwnTimers("Date");
  await timers.of(async () => {
    const { socket, text } = open();
    const read = text();
    await vi.advanceTimersByTimeAsync(1);
    socket.end(3005, "connection expired");
    expect(await read).toContain('"code":3005');
    await vi.advanceTimersByTimeAsync(limits.streamEndMs);
  });
  expect(timers.waiting).toBe(0);
});
