import type { Finding } from "../scenarios/scenario.ts";

/** A number with three significant digits and thousands separators. */
export function figure(value: number): string {
  const size = Math.abs(value);
  if (size >= 100 || value === Math.round(value)) {
    return Math.round(value).toLocaleString("en-US");
  }
  return value.toLocaleString("en-US", { maximumSignificantDigits: 3 });
}

/** A ratio, such as `0.87`. */
export function ratioFigure(ratio: number): string {
  return ratio >= 10 ? figure(ratio) : ratio.toFixed(2);
}

/** An amount of money, such as `$0.042`: three significant digits below a hundred, because some amounts are tiny. */
export function dollars(amount: number): string {
  return `$${amount >= 1 ? amount.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 }) : figure(amount)}`;
}

/** A measure with its unit, such as `latency, ms`; a measure that names its unit stays as it is. */
export function measureTitle({ measure, unit }: Pick<Finding, "measure" | "unit">): string {
  switch (unit) {
    case "ms":
    case "bytes":
      return `${measure}, ${unit}`;
    case "per second":
    case "count":
    case "ratio":
      return measure;
  }
}
