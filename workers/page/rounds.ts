import { useEffect, useRef, useState } from "preact/hooks";

/**
 * The rounds in which the parts of a page ask the server, so that all numbers of the page are of one moment: a part
 * asks again when the number changes. A round begins when the signal changes, and at most once in {@link roundMs}.
 *
 * @param signals one of them changes when something has arrived
 * @returns the number of the round, and a function that begins another one at once
 */
export function useRounds(
  ...signals: readonly (object | string | undefined)[]
): readonly [number, () => void] {
  const [round, setRound] = useState(0);
  const begunAtMs = useRef(Number.NEGATIVE_INFINITY);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const isFirst = useRef(true);
  const begin = () => {
    clearTimeout(timer.current);
    timer.current = undefined;
    begunAtMs.current = performance.now();
    setRound((before) => before + 1);
  };
  useEffect(() => {
    const isOpening = isFirst.current;
    isFirst.current = false;
    if (isOpening || timer.current !== undefined) return;
    // What arrives while a round waits is in that round.
    timer.current = setTimeout(begin, waitMs(begunAtMs.current, performance.now()));
  }, signals);
  useEffect(() => () => clearTimeout(timer.current), []);
  return [round, begin];
}

/** How long the next round has to wait. */
function waitMs(begunAtMs: number, nowMs: number): number {
  return Math.max(settlingMs, begunAtMs + roundMs - nowMs);
}

/** A channel with a thousand publications a second isn't asked a thousand times for its state. */
const roundMs = 1_000;
/** What comes together is in one round, such as the end of a connection in the object that held it. */
const settlingMs = 200;
