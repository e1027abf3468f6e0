import { expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { LiveLease } from "../../../src/metrics/live-lease.ts";

it("[N7] asks for no earlier report unless somebody looks, and ends by itself", () => {
  const lease = new LiveLease();
  expect(lease.nextReportInMs(1_000)).toBeUndefined();
  lease.renew(1_000);
  expect(lease.nextReportInMs(1_000)).toBe(limits.liveReportMs);
  expect(lease.isOn(1_000 + limits.liveLeaseMs - 1)).toBe(true);
  expect(lease.isOn(1_000 + limits.liveLeaseMs)).toBe(false);
  expect(lease.nextReportInMs(1_000 + limits.liveLeaseMs)).toBeUndefined();
});

it("[N7] asks for as many earlier reports a second as one object can answer", () => {
  const lease = new LiveLease();
  lease.renew(5_000);
  const asked = (nowMs: number) =>
    Array.from({ length: limits.liveReportsPerSecond + 50 }, () =>
      lease.nextReportInMs(nowMs),
    ).filter((ms) => ms !== undefined).length;
  expect(asked(5_000)).toBe(limits.liveReportsPerSecond);
  expect(asked(5_999)).toBe(0);
  expect(asked(6_000)).toBe(limits.liveReportsPerSecond);
});
