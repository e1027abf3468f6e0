import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { disconnectCodes, errorCodes } from "../../../src/protocol/codes.ts";

/** What clients see of each code. */
const known = new Map<number, string>([
  ...Object.values(errorCodes).map(({ code, message }) => [code, message] as const),
  ...Object.values(disconnectCodes).map(({ code, reason }) => [code, reason] as const),
]);

describe("docs/troubleshooting.md", () => {
  const page = readFileSync("docs/troubleshooting.md", "utf8");
  const named = Array.from(
    page.matchAll(/(?:error|close) (\d{3,4}) `([^`]+)`/g),
    ([, code = "", text = ""]) => [Number(code), text] as const,
  );

  it("[W1] has the codes with the texts that clients see", () => {
    expect(named.length).toBeGreaterThan(15);
    expect(named.filter(([code, text]) => known.get(code) !== text)).toEqual([]);
  });

  it("[W1] has each error that a client can be answered with", () => {
    const missing = Object.values(errorCodes).filter(
      ({ code }) => code > 101 && !page.includes(`error ${code}`),
    );
    // What comes of tokens that end is one row, a backend alone is answered 104, and 113 is for readers of maps.
    expect(missing.map(({ code }) => code)).toEqual([104, 110, 113]);
  });
});
