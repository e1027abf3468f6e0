/** The positions of values on an axis. */
export interface Scale {
  /** From 0, at the beginning of the axis, to 1, at its end. */
  readonly place: (value: number) => number;
  /** Round values for labels. */
  readonly ticks: readonly number[];
  readonly isLogarithmic: boolean;
}

/**
 * A scale for these values. It is logarithmic if they span more than two decades, because small values would overlap
 * otherwise. A linear scale begins at 0, so that heights compare like values.
 */
export function scaleFor(values: readonly number[]): Scale {
  const least = Math.min(...values);
  const most = Math.max(...values);
  if (least > 0 && most > 100 * least) return logarithmic(least, most);
  return linear(Math.min(0, least), most > 0 ? most : 1);
}

function linear(from: number, to: number): Scale {
  const step = roundStep((to - from) / tickCount);
  const end = Math.ceil(to / step - tiny) * step;
  const begin = Math.floor(from / step + tiny) * step;
  const ticks = Array.from(
    { length: Math.round((end - begin) / step) + 1 },
    (_, index) => begin + index * step,
  );
  return {
    place: (value) => (value - begin) / (end - begin),
    ticks,
    isLogarithmic: false,
  };
}

function logarithmic(least: number, most: number): Scale {
  const begin = Math.floor(Math.log10(least) + tiny);
  const end = Math.ceil(Math.log10(most) - tiny);
  const ticks = Array.from({ length: end - begin + 1 }, (_, index) => 10 ** (begin + index));
  return {
    place: (value) => (Math.log10(value) - begin) / (end - begin),
    ticks,
    isLogarithmic: true,
  };
}

/** The next of 1, 2, 5, 10, 20, … */
function roundStep(atLeast: number): number {
  const decade = 10 ** Math.floor(Math.log10(atLeast));
  const factor = [1, 2, 5].find((each) => each * decade >= atLeast * (1 - tiny)) ?? 10;
  return factor * decade;
}

const tickCount = 5;
/** A difference that only rounding can cause. */
const tiny = 1e-9;
