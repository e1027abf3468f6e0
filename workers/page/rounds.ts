import { useEffect, useRef, useState } from "preact/hooks";

/**
 * The rounds in which the parts of a page ask the server, so that all numbers of the page are of one moment: a part
 * asks again when the number changes. A round begins when the signal changes, and at most once in {@link roundMs}.
 *
 * @param signal changes when something has arrived; undefined while nothing has
 * @returns the number of the round, and a function that begins another one at once
 */
export function useRounds(signal: object | string | undefined): readonly [number, () => void] {
  const [round, setRound] = useState(0);
  const begunAtMs = useRef(Number.NEGATIVE_INFINITY);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const begin = () => {
    clearTimeout(timer.current);
    timer.current = undefined;
    begunAtMs.current = performance.now();
    setRound((before) => before + 1);
  };
  useEffect(() => {
    if (signal === undefined || timer.current !== undefined) return;
    // What arrives while a round waits is in that round.
    timer.current = setTimeout(begin, waitMs(begunAtMs.current, performance.now()));
  }, [signal]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return [round, begin];
}

/** How long the next round has to wait. */
function waitMs(begunAtMs: number, nowMs: number): number {
  return Math.max(0, begunAtMs + roundMs - nowMs);
}

/** A channel with a thousand publications a second isn't asked a thousand times for its state. */
const roundMs = 1_000;
