import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BatchWindow } from "../../../src/hub/batch-window.ts";

/** To 1,000 listeners a frame takes 25 ms; this one was sent at 0. */
function afterFrame(subscribers = 1_000): BatchWindow {
  const batchWindow = new BatchWindow();
  batchWindow.sent(subscribers, 0);
  return batchWindow;
}

describe("a batch window", () => {
  it("[F2] delays nothing after a pause", () => {
    expect(new BatchWindow().waitMs(1, 499, 0)).toBe(0);
    expect(afterFrame(499).waitMs(1, 499, 32)).toBe(0);
  });

  it("[F2] lets other work go before a frame to very many subscribers", () => {
    const batchWindow = new BatchWindow();
    expect(batchWindow.waitMs(1, 500, 10)).toBe(1);
    expect(batchWindow.waitMs(2, 500, 10.5)).toBe(0.5);
    expect(batchWindow.waitMs(2, 500, 11)).toBe(0);
    const later = afterFrame();
    expect([later.waitMs(1, 1_000, 63), later.waitMs(1, 1_000, 64)]).toEqual([1, 0]);
  });

  it.each([1, 39])("[F2] delays nothing for %i subscribers", (subscribers) => {
    expect(afterFrame(subscribers).waitMs(1, subscribers, 0)).toBe(0);
  });

  it("[F2] waits while the last frame is being sent", () => {
    const batchWindow = afterFrame();
    expect(batchWindow.waitMs(1, 1_000, 0)).toBe(25);
    expect(batchWindow.waitMs(2, 1_000, 20)).toBe(5);
    expect(afterFrame(40).waitMs(1, 40, 0)).toBe(1);
  });

  it("[F2] then ends with the first pause", () => {
    const batchWindow = afterFrame();
    batchWindow.waitMs(1, 1_000, 10);
    expect(batchWindow.waitMs(1, 1_000, 25)).toBe(3);
    expect(batchWindow.waitMs(2, 1_000, 27)).toBe(3);
    expect(batchWindow.waitMs(2, 1_000, 28)).toBe(2);
    expect(batchWindow.waitMs(3, 1_000, 30)).toBe(3);
    expect(batchWindow.waitMs(3, 1_000, 33)).toBe(0);
  });

  it("[F2] ends when enough publications wait, but not before the last frame is sent", () => {
    expect(afterFrame().waitMs(64, 1_000, 24)).toBe(1);
    expect(afterFrame().waitMs(63, 1_000, 25)).toBe(3);
    expect(afterFrame().waitMs(64, 1_000, 25)).toBe(0);
  });

  it.each([
    [1_000, 62.5],
    [100, 6.25],
    [8_000, 325],
  ])("[F2] ends without a pause too: for %i subscribers after %i ms", (subscribers, latestMs) => {
    const batchWindow = afterFrame(subscribers);
    let waiting = 0;
    for (let nowMs = 0; nowMs < latestMs; nowMs++) {
      expect(batchWindow.waitMs(1 + (waiting++ % 60), subscribers, nowMs)).toBeGreaterThan(0);
    }
    expect(batchWindow.waitMs(1 + (waiting % 60), subscribers, latestMs)).toBe(0);
  });

  it("[F2] begins anew with each frame", () => {
    const batchWindow = afterFrame();
    expect(batchWindow.waitMs(1, 1_000, 30)).toBe(3);
    batchWindow.sent(1_000, 70);
    expect(batchWindow.waitMs(1, 1_000, 71)).toBe(24);
  });

  it("[F2] never waits longer than sending and collecting take, whatever the clock does", () => {
    const moment = fc.integer({ min: 0, max: 200 });
    const asked = fc.record({ nowMs: moment, waiting: fc.integer({ min: 1, max: 100 }) });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4_000 }),
        moment,
        fc.array(asked),
        (subscribers, sentMs, asks) => {
          const batchWindow = new BatchWindow();
          batchWindow.sent(subscribers, sentMs);
          for (const { nowMs, waiting } of asks) {
            const waitMs = batchWindow.waitMs(waiting, subscribers, nowMs);
            expect(waitMs).toBeGreaterThanOrEqual(0);
            expect(waitMs).toBeLessThanOrEqual(subscribers * 0.025 + 3);
          }
        },
      ),
    );
  });
});
