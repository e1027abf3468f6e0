import { expect, it } from "vitest";
import type { Channel } from "../../src/channel/channel.ts";
import type { OnFreshStorage } from "./on-fresh-storage.ts";
import { openChannel, publishing, withHistory } from "./open-channel.ts";

/** Publications that bring a document's version: rule H9. */
export function versionContract(onFreshStorage: OnFreshStorage): void {
  it("[H9] compares versions exactly up to 2^64 - 1", async () => {
    await onFreshStorage((sql) => {
      let top = 0n;
      for (const version of [
        1n,
        2n ** 53n,
        2n ** 53n + 1n,
        2n ** 63n,
        2n ** 64n - 2n,
        2n ** 64n - 1n,
      ]) {
        const channel = openChannel(sql, { options: withHistory });
        expect(publishes(channel, top)).toBe(top === 0n ? "published" : "suppressed");
        expect(publishes(channel, version)).toBe("published");
        expect(publishes(channel, version)).toBe("suppressed");
        top = version;
      }
    });
  });
}

function publishes(channel: Channel, version: bigint, versionEpoch = "", nowMs = 0): string {
  return channel.publish(publishing(1, { version, versionEpoch }), undefined, nowMs).outcome;
}
