import { afterEach, describe, expect, it, vi } from "vitest";
import type { ChannelAnswers } from "../../../src/contract/channel-call.ts";
import { limits } from "../../../src/limits.ts";
import { errorCodes } from "../../../src/protocol/codes.ts";
import { answerOf, postWith } from "../support/api-request.ts";
import { newChannel } from "../support/new-channel.ts";
import { OwnTimers } from "../support/own-timers.ts";
import { overloadedError, watchedChannels } from "../support/watched-channels.ts";

const tooMany = '{"error":{"code":111,"message":"too many requests"}}';
const internal = '{"error":{"code":100,"message":"internal server error"}}';

const notAvailable = '{"error":{"code":108,"message":"not available"}}';

const spoken: ChannelAnswers = {
  outcome: "answers",
  answers: [{ error: errorCodes.notAvailable }],
};
const silence = () => new Promise<ChannelAnswers>(() => {});
const speakLate = async () => {
  await new Promise((resolve) => setTimeout(resolve, 600));
  return spoken;
};
const channelsOf = (count: number) => Array.from({ length: count }, () => newChannel("plain"));

/** The outcome of a request, with a clock that runs as fast as it can. */
interface Answered {
  readonly response: Response;
  readonly afterMs: number;
  /** Channels that were asked, in all and at a time. */
  readonly asked: number;
  readonly mostAtATime: number;
}

/** Posts a request whose channels answer as the test says. No object is called, because that would take real time. */
async function postTo(
  answer: (channel: string) => Promise<ChannelAnswers>,
  path: string,
  request: object,
): Promise<Answered> {
  const timers = new OwnTimers("Date");
  const begun = Promise.withResolvers<void>();
  let [asked, waiting, mostAtATime] = [0, 0, 0];
  const CHANNELS = watchedChannels(async ({ channel }) => {
    begun.resolve();
    asked++;
    mostAtATime = Math.max(mostAtATime, ++waiting);
    return answer(channel).finally(() => waiting--);
  });
  const startMs = Date.now();
  const end: { ms?: number } = {};
  const posted = timers.of(() => postWith({ CHANNELS }, path, JSON.stringify(request)));
  const pending = posted.finally(() => {
    end.ms = Date.now();
  });
  // Until then the clock stands still: checking the key takes real time.
  await begun.promise;
  while (end.ms === undefined) await vi.advanceTimersByTimeAsync(100);
  const response = await pending;
  expect(timers.waiting).toBe(0);
  return { response, afterMs: end.ms - startMs, asked, mostAtATime };
}

afterEach(() => {
  vi.useRealTimers();
});

describe("a request to many channels", () => {
  it("[B28] that are all silent is answered after 30 s, with the known outcome of each", async () => {
    const channels = channelsOf(limits.callsInFlightMax * 4);
    const { response, afterMs, asked } = await postTo(silence, "/api/broadcast", {
      channels,
      data: 1,
    });
    expect(afterMs).toBe(limits.requestAnswerMs);
    expect(asked).toBe(limits.callsInFlightMax * 3);
    expect(response.headers.get("Retry-After")).toBe("5");
    expect(response.headers.get("X-Dormouse-Error-Detail")).toContain("the outcome is unknown");
    const entries = channels.map((_, index) => (index < asked ? internal : tooMany));
    expect(await answerOf(response)).toStrictEqual({
      status: 503,
      body: `{"result":{"responses":[${entries.join()}]}}`,
    });
  });

  it("[B28] succeeds when each of 1,000 takes 0.6 s to wake, asking so many at a time", async () => {
    const channels = channelsOf(limits.requestChannelsMax);
    const { response, asked, mostAtATime } = await postTo(speakLate, "/api/broadcast", {
      channels,
      data: 1,
    });
    expect({ asked, mostAtATime }).toStrictEqual({
      asked: limits.requestChannelsMax,
      mostAtATime: limits.callsInFlightMax,
    });
    const entries = channels.map(() => notAvailable);
    expect(await answerOf(response)).toStrictEqual({
      status: 200,
      body: `{"result":{"responses":[${entries.join()}]}}`,
    });
  });

  it.each<[string, (channels: readonly string[]) => object, (entries: string) => string]>([
    [
      "/api/broadcast",
      (channels) => ({ channels, data: 1 }),
      (entries) => `{"result":{"responses":[${entries}]}}`,
    ],
    [
      "/api/batch",
      (channels) => ({ commands: channels.map((channel) => ({ presence_stats: { channel } })) }),
      (entries) => `{"replies":[${entries}]}`,
    ],
  ])("[B28] all silent or overloaded is answered 503, one by one: %s", async (path, make, wrap) => {
    const [silent, busy] = [newChannel("plain"), newChannel("plain")];
    const { response } = await postTo(
      (channel) => (channel === silent ? silence() : Promise.reject(overloadedError())),
      path,
      make([silent, busy]),
    );
    expect(response.headers.get("Retry-After")).toBe("5");
    expect(response.headers.get("X-Dormouse-Error-Detail")).toContain("the outcome is unknown");
    expect(await answerOf(response)).toStrictEqual({
      status: 503,
      body: wrap(`${internal},${tooMany}`),
    });
  });

  it("[B28] silent is answered 503 by the legacy form too", async () => {
    const params = { channel: newChannel("plain"), data: 1 };
    const { response } = await postTo(silence, "/api", { id: 3, method: "publish", params });
    expect(response.headers.get("Retry-After")).toBe("5");
    expect(await answerOf(response)).toStrictEqual({
      status: 503,
      body: `{"id":3,${internal.slice(1)}\n`,
    });
  });
});
