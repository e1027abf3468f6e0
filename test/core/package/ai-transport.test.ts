import { Centrifuge } from "centrifuge";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { DormouseChatTransport } from "../../../package/ai/index.ts";

/** A socket that never opens. */
class Silent {
  close(): void {
    // Nobody waits for it.
  }
}

const route = async () => new Response(null, { status: 202 });

let client: Centrifuge;
let transport: DormouseChatTransport;

beforeEach(() => {
  vi.useFakeTimers();
  client = new Centrifuge("ws://localhost", { websocket: Silent });
  transport = new DormouseChatTransport({ client, fetch: route });
});
afterEach(() => {
  client.disconnect();
  vi.useRealTimers();
});

const follow = () =>
  transport.follow("7", () => ({
    status: "ready",
    setMessages: () => undefined,
    resumeStream: async () => undefined,
  }));
const subscriptions = () => Object.keys(client.mapSubscriptions());

it("the channel of a chat ends five seconds after its last component, however often others left", () => {
  follow()();
  vi.advanceTimersByTime(1_000);
  follow()();
  vi.advanceTimersByTime(4_500);
  expect(subscriptions()).toEqual(["chat:7"]);
  // It is used again before it ends: what left before ends nothing.
  const leave = follow();
  vi.advanceTimersByTime(60_000);
  expect(subscriptions()).toEqual(["chat:7"]);
  leave();
  vi.advanceTimersByTime(5_000);
  expect(subscriptions()).toEqual([]);
});

it("a chat that is opened again after the transport was closed stays open", () => {
  const leave = follow();
  transport.close();
  leave();
  expect(subscriptions()).toEqual([]);
  follow();
  vi.advanceTimersByTime(60_000);
  // With two channels of one chat the SDK would refuse the second.
  follow();
  expect(subscriptions()).toEqual(["chat:7"]);
});

it("an answer on a channel that can't be read fails, and says why", async () => {
  follow();
  client.getMapSubscription("chat:7")?.unsubscribe();
  const stream = await transport.sendMessages({
    chatId: "7",
    trigger: "submit-message",
    messageId: undefined,
    messages: [{ id: "m", role: "user", parts: [] }],
    abortSignal: undefined,
  });
  await expect(stream.getReader().read()).rejects.toThrow("the channel chat:7 can't be read");
});
