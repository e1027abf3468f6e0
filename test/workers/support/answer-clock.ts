import { runInDurableObject } from "cloudflare:test";
import { vi } from "vitest";
import type { Holder } from "./place.ts";

/**
 * Lets the test's clock begin, and has the platform note its automatic answers by it. The platform itself notes them by
 * its own clock, which a test can't set.
 *
 * @param object any one: all have the same platform
 */
export async function beginAnswerClock(object: Holder): Promise<void> {
  vi.useFakeTimers({ toFake: ["Date"] });
  times.length = 0;
  times.push({ platformMs: 0, testMs: Date.now() });
  const setSystemTime = vi.setSystemTime.bind(vi);
  vi.spyOn(vi, "setSystemTime").mockImplementation((time) => {
    times.push({ platformMs: vi.getRealSystemTime(), testMs: Number(time) });
    return setSystemTime(time);
  });
  await runInDurableObject<DurableObject, void>(object, (_, context) => {
    const platform: DurableObjectState = Object.getPrototypeOf(context);
    const answeredAt: (this: DurableObjectState, socket: WebSocket) => Date | null =
      Object.getOwnPropertyDescriptor(platform, "getWebSocketAutoResponseTimestamp")?.value;
    vi.spyOn(platform, "getWebSocketAutoResponseTimestamp").mockImplementation(function (
      this: DurableObjectState,
      socket,
    ) {
      const answered = answeredAt.call(this, socket);
      return answered === null ? null : new Date(testMsOf(answered.getTime()));
    });
  });
}

/** Ends what {@link beginAnswerClock} began. */
export function endAnswerClock(): void {
  vi.restoreAllMocks();
  vi.useRealTimers();
}

/** Lets the platform's clock go on, so that the next time of the test's clock is later than the last answer. */
export async function passAnswerTime(): Promise<void> {
  const fromMs = vi.getRealSystemTime();
  while (vi.getRealSystemTime() === fromMs) await scheduler.wait(1);
}

/** From when, by the platform's clock, the test's clock has stood at which time; both in ms since 1970. */
const times: { readonly platformMs: number; readonly testMs: number }[] = [];

function testMsOf(platformMs: number): number {
  return times.findLast((time) => time.platformMs <= platformMs)?.testMs ?? 0;
}
