/** What a duration's text says. Whole milliseconds, so that 0 can only mean zero and never "less than one". */
export type ParsedDuration =
  | { readonly outcome: "duration"; readonly ms: number }
  | { readonly outcome: "bad" };

/**
 * Parses a duration as Go writes it: "25s", "1m30s", "1.5h", "0". Units are h, m, s and ms.
 *
 * Bad are negative ones, other units, what isn't whole milliseconds, and all beyond 10 years.
 */
export function parseDuration(text: string): ParsedDuration {
  if (text === "0") return { outcome: "duration", ms: 0 };
  if (text.length > textLengthMax || !durationShape.test(text)) return { outcome: "bad" };
  let totalMs = 0n;
  for (const [, whole = "", fraction = "", unit = ""] of text.matchAll(durationPart)) {
    // In integers, because 1.001 * 1000 is not 1001 in floating point.
    const scaled = BigInt(whole + fraction) * unitMs(unit);
    const divisor = 10n ** BigInt(fraction.length);
    if (scaled % divisor !== 0n) return { outcome: "bad" };
    totalMs += scaled / divisor;
  }
  if (totalMs > durationMsMax) return { outcome: "bad" };
  return { outcome: "duration", ms: Number(totalMs) };
}

function unitMs(unit: string): bigint {
  switch (unit) {
    case "h":
      return 3_600_000n;
    case "m":
      return 60_000n;
    case "s":
      return 1_000n;
    default:
      return 1n;
  }
}

/** 10 years of 365 days: more is a mistake, and sums with a clock stay safe numbers. */
const durationMsMax = 315_360_000_000n;

/** Longer than any duration a person writes; it bounds the integers above. */
const textLengthMax = 64;

/** Go takes a number with digits on either side of the point, or on both. */
const durationShape = /^(?:(?:\d+\.?\d*|\.\d+)(?:ms|h|m|s))+$/;
const durationPart = /(\d*)\.?(\d*)(ms|h|m|s)/g;
