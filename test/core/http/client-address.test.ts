import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { AddressRate, upgradeRate } from "../../../workers/http/client-address.ts";

const nowMs = 1_700_000_000_000;
const { addressUpgradesBurst: burst, addressUpgradesPerSecond: perSecond } = limits;

/** How many of so many upgrades are admitted. */
function admitted(rate: AddressRate, address: string | undefined, count: number, atMs = nowMs) {
  return Array.from({ length: count }, () => rate.admits(address, atMs)).filter(Boolean).length;
}

describe("upgrades without a token of one address", () => {
  it("[B25] are bounded at once, and by the second from then on", () => {
    const rate = new AddressRate(upgradeRate);
    expect(admitted(rate, "192.0.2.1", burst + 1)).toBe(burst);
    expect(admitted(rate, "192.0.2.1", burst, nowMs + 2_000)).toBe(2 * perSecond);
    expect(admitted(rate, "192.0.2.2", burst)).toBe(burst);
  });

  it("[B13] [B25] aren't bounded where the address isn't known", () => {
    expect(admitted(new AddressRate(upgradeRate), undefined, 3 * burst)).toBe(3 * burst);
  });
});
