import { expect, it } from "vitest";
import type { Payload } from "../../src/protocol/payload.ts";
import type { OnFreshStorage } from "./on-fresh-storage.ts";
import { openChannel, publishing, withHistory } from "./open-channel.ts";

/** Payloads in the history that aren't JSON: rules H2 and W4. */
export function payloadContract(onFreshStorage: OnFreshStorage): void {
  it("[H2][W7] gives back bytes as they were published, whatever they are", async () => {
    const written = Array.from({ length: 30 }, (_, size) =>
      Uint8Array.from({ length: size * 10 }, (__, index) => index * 37 + size * 11),
    );
    // A view of a part of a larger buffer, as a frame's decoder gives it.
    const everyByte = Uint8Array.from({ length: 258 }, (_, index) => index - 1).subarray(1, 257);
    const payloads = [...written, everyByte, new Uint8Array(), new Uint8Array(70_000).fill(0xff)];
    await onFreshStorage((sql) => {
      const history = { historySize: 50, historyTtlMs: 3_600_000 };
      const channel = openChannel(sql, { options: history });
      for (const data of payloads) channel.publish({ ...publishing(0), data }, undefined, 0);
      for (const opened of [channel, openChannel(sql, { options: history })]) {
        const read = opened.history({ limit: -1, reverse: false }, 0);
        if (read.outcome !== "history") throw new Error(read.outcome);
        // Storages have JavaScript realms of their own, so the bytes are compared.
        const kept = read.publications.map(({ data }) => bytesOf(data));
        expect(kept).toEqual(payloads.map(bytesOf));
      }
    });
  });

  it("[H2][W7] gives back text as text and bytes as bytes, in order", async () => {
    await onFreshStorage((sql) => {
      const channel = openChannel(sql, { options: withHistory });
      const bytes = Uint8Array.of(0x22, 0xff, 0x22);
      channel.publish(publishing('"text"'), undefined, 0);
      channel.publish({ ...publishing(0), data: bytes }, undefined, 0);
      channel.publish(publishing(3), undefined, 0);
      for (const opened of [channel, openChannel(sql, { options: withHistory })]) {
        const read = opened.history({ limit: -1, reverse: false }, 0);
        if (read.outcome !== "history") throw new Error(read.outcome);
        const kept = read.publications.map(({ data }) =>
          typeof data === "string" ? data : bytesOf(data),
        );
        expect(kept).toEqual(['"text"', [0x22, 0xff, 0x22], "3"]);
      }
    });
  });
}

function bytesOf(data: Payload): number[] {
  if (typeof data === "string") throw new Error(`text, where there should be bytes: ${data}`);
  return [...data];
}
