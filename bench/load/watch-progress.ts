/**
 * Calls `giveUp` when the progress hasn't changed for 30 s.
 *
 * @param progress a number that changes with any progress
 * @returns ends the watch
 */
export function watchProgress(progress: () => number, giveUp: () => void): () => void {
  let last = progress();
  let idleSeconds = 0;
  const timer = setInterval(() => {
    const current = progress();
    idleSeconds = current === last ? idleSeconds + 1 : 0;
    last = current;
    if (idleSeconds === idleSecondsMax) giveUp();
  }, 1000);
  return () => clearInterval(timer);
}

const idleSecondsMax = 30;
