/**
 * Watches for the end of the process that started this one: npm passes no signal on when it is ended itself, and a server
 * must not stay behind with the port.
 *
 * @returns ends the watch
 */
export function whenParentEnds(act: () => void): () => void {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid !== parent) act();
  }, 500);
  return () => clearInterval(watch);
}
