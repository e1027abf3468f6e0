import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { keepaliveTexts } from "../../../src/contract/keepalive.ts";
import { beginAnswerClock, endAnswerClock, passAnswerTime } from "../support/answer-clock.ts";
import { call } from "../support/api-request.ts";
import { newChannel } from "../support/new-channel.ts";
import { variants } from "../support/variant.ts";

const { answer } = keepaliveTexts;
const minuteMs = 60_000;
const steps = [minuteMs, 60 * minuteMs, 24 * 60 * minuteMs].flatMap((byMs) => [byMs, -byMs]);

beforeEach(() => beginAnswerClock(env.CHANNELS.getByName("clock")));
afterEach(endAnswerClock);

describe.each(variants)("a connection on $name", (variant) => {
  it.each(steps)(
    "[S5] [K1] [K2] is pinged and checked after the clock was set by %d ms",
    async (stepMs) => {
      // The platform takes no alarm for a time before its own.
      vi.setSystemTime(Date.now() + 2 * 24 * 60 * minuteMs);
      const channel = newChannel("plain");
      const there = await variant.subscribe(channel, "ada");
      const silent = await variant.subscribe(channel, "bob");
      await variant.runAlarmWhenDue(channel);
      await variant.runAlarmWhenDue(channel);
      for (const socket of [there, silent]) expect(await socket.frame()).toBe("{}");
      for (const socket of [there, silent]) socket.sendFrame("{}");
      for (const socket of [there, silent]) expect(await socket.frame()).toBe(answer);
      await passAnswerTime();
      const steppedMs = Date.now() + stepMs;
      vi.setSystemTime(steppedMs);
      await variant.betweenSteps(channel);
      // Somebody wakes the object.
      await call("publish", { channel, data: 1 });
      for (const socket of [there, silent]) expect(await socket.frame()).toContain("pub");
      await variant.runAlarmWhenDue(channel);
      expect(Date.now()).toBeLessThanOrEqual(steppedMs + 25_000);
      for (const socket of [there, silent]) expect(await socket.frame()).toBe("{}");
      there.sendFrame("{}");
      expect(await there.frame()).toBe(answer);
      await variant.betweenSteps(channel);
      await variant.runAlarmWhenDue(channel);
      expect(Date.now()).toBeLessThanOrEqual(steppedMs + 50_000);
      expect(await there.frame()).toBe("{}");
      expect(await silent.closed).toMatchObject({ code: 3012 });
    },
  );
});
