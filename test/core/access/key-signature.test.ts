import { describe, expect, it } from "vitest";
import { parseTrackSignature, trackVerdict } from "../../../src/access/key-signature.ts";
import { limits } from "../../../src/limits.ts";

const hex = "00ff".repeat(16);

describe("a signature of keys", () => {
  it("[SP1] has its times and its HMAC", () => {
    expect(parseTrackSignature(`1700000000:1700003600:${hex}`)).toEqual({
      issuedAt: "1700000000",
      expireAt: "1700003600",
      expireAtSeconds: 1_700_003_600,
      hmac: new Uint8Array(Array.from({ length: 32 }, (_, index) => (index % 2) * 255)),
    });
    expect(parseTrackSignature(`0:0:${hex.toUpperCase()}`)?.hmac[1]).toBe(255);
  });

  it.each([
    "",
    hex,
    `1:${hex}`,
    `1:2:${hex}0`,
    `1:2:${hex.slice(1)}`,
    `1:2:${hex.slice(1)}g`,
    `-1:2:${hex}`,
    `1:2.5:${hex}`,
    `1::${hex}`,
    ` 1:2:${hex}`,
    `1:2:${hex}\n`,
    `1:${"9".repeat(16)}:${hex}`,
  ])("[SP1] is none if it is malformed: %j", (text) => {
    expect(parseTrackSignature(text)).toBeUndefined();
  });

  it("[SP1] is taken until limits.trackGraceSeconds after it has expired, and without an end for ever", () => {
    const signature = parseTrackSignature(`1:1000:${hex}`);
    const endless = parseTrackSignature(`1:0:${hex}`);
    if (signature === undefined || endless === undefined) throw new Error("malformed");
    const lastMs = (1_000 + limits.trackGraceSeconds) * 1_000;
    expect(trackVerdict(signature, lastMs)).toEqual({
      outcome: "verified",
      expireAtSeconds: 1_000,
    });
    expect(trackVerdict(signature, lastMs + 1)).toEqual({ outcome: "expired" });
    expect(trackVerdict(endless, Number.MAX_SAFE_INTEGER)).toEqual({
      outcome: "verified",
      expireAtSeconds: 0,
    });
  });
});
