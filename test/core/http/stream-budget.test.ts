import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { StreamBudget } from "../../../workers/http/stream-buffer.ts";

const unlimited = Number.POSITIVE_INFINITY;
const mebibyte = 1_048_576;

/** Lets each of so many hold a mebibyte. */
function budgetWith(count: number) {
  const budget = new StreamBudget();
  const streams = Array.from({ length: count }, () => ({ waitingBytes: mebibyte }));
  for (const stream of streams) {
    budget.register(stream);
    budget.added(stream.waitingBytes);
  }
  return { budget, streams };
}

describe("the budget that streams share", () => {
  const fitting = limits.streamsBytesMax / mebibyte;

  it("[B3][T3] isn't divided while there is enough of it", () => {
    expect(new StreamBudget().shareBytes).toBe(unlimited);
    expect(budgetWith(fitting).budget.shareBytes).toBe(unlimited);
  });

  it("[B3][T3] is divided among those who hold something once they hold too much", () => {
    const { budget } = budgetWith(fitting * 2);
    budget.register({ waitingBytes: 0 });
    expect(budget.shareBytes).toBe(mebibyte / 2);
  });

  it("[B3] is counted anew before it is divided: most of what was held was read since", () => {
    const { budget, streams } = budgetWith(fitting * 2);
    for (const stream of streams) stream.waitingBytes = 10;
    expect(budget.shareBytes).toBe(unlimited);
    budget.added(limits.streamsBytesMax - 10 * streams.length);
    expect(budget.shareBytes).toBe(unlimited);
  });
});
