import { expect, it } from "vitest";
import type { Channel } from "../../src/channel/channel.ts";
import type { OnFreshStorage } from "./on-fresh-storage.ts";
import {
  openChannel,
  positionOf,
  publishing,
  publishNumbers,
  readable,
  withHistory,
} from "./open-channel.ts";

/** Publications that bring a document's version: rule H9. */
export function versionContract(onFreshStorage: OnFreshStorage): void {
  it("[H9] publishes only newer versions, and answers others with the top position", async () => {
    await onFreshStorage((sql) => {
      const channel = openChannel(sql, { options: withHistory });
      expect(publishes(channel, 5n)).toBe("published");
      publishNumbers(channel, 2, 3);
      const suppressed = { outcome: "suppressed", position: positionOf(channel) };
      for (const version of [5n, 4n, 1n]) {
        expect(channel.publish(publishing(9, { version }), undefined, 0)).toEqual(suppressed);
      }
      expect(readable(channel)).toEqual(["1", "2", "3"]);
      expect(publishes(channel, 6n)).toBe("published");
    });
  });

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

  it("[H9] compares within one version epoch, the last one that came", async () => {
    await onFreshStorage((sql) => {
      const channel = openChannel(sql, { options: withHistory });
      expect(publishes(channel, 9n, "a")).toBe("published");
      expect(publishes(channel, 2n, "b")).toBe("published");
      expect(publishes(openChannel(sql, { options: withHistory }), 2n, "b")).toBe("suppressed");
      expect(publishes(channel, 1n)).toBe("published");
      expect(publishes(channel, 1n, "a")).toBe("published");
      expect(publishes(channel, 1n, "a")).toBe("suppressed");
    });
  });

  it("[H9] always publishes without a version, and keeps the last version", async () => {
    await onFreshStorage((sql) => {
      const options = { ...withHistory, historySize: 2 };
      const channel = openChannel(sql, { options });
      expect(publishes(channel, 7n, "a")).toBe("published");
      // The ring overwrites the row that brought the version.
      for (let round = 0; round < 5; round++) {
        expect(publishes(channel, 0n)).toBe("published");
        expect(publishes(channel, 7n, "a")).toBe("suppressed");
        expect(publishes(openChannel(sql, { options }), 7n, "a")).toBe("suppressed");
      }
      expect(readable(openChannel(sql, { options }))).toHaveLength(2);
    });
  });

  it("[H9] remembers the version beyond the TTL and a changed size, and not beyond the stream", async () => {
    await onFreshStorage((sql) => {
      const options = { historySize: 4, historyTtlMs: 1_000, historyMetaTtlMs: 10_000 };
      expect(publishes(openChannel(sql, { options }), 7n)).toBe("published");
      expect(publishes(openChannel(sql, { options }), 7n, "", 1_000)).toBe("suppressed");
      const smaller = { ...options, historySize: 1 };
      expect(publishes(openChannel(sql, { options: smaller }), 7n, "", 1_000)).toBe("suppressed");
      expect(publishes(openChannel(sql, { options: smaller }), 7n, "", 10_000)).toBe("published");
    });
  });
}

function publishes(channel: Channel, version: bigint, versionEpoch = "", nowMs = 0): string {
  return channel.publish(publishing(1, { version, versionEpoch }), undefined, nowMs).outcome;
}
