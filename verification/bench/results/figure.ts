import type { Finding } from "../scenarios/scenario.ts";

/** A number as people read it: three digits that matter, thousands apart. */
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

/** A sum of money, such as `$0.042`: three digits that matter below a hundred, because some are tiny. */
export function dollars(amount: number): string {
  return `$${amount >= 1 ? amount.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 }) : figure(amount)}`;
}

/** A measure with its unit, such as `latency, ms`; nothing is added to one whose name says it. */
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
