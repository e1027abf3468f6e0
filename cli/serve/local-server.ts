/** The parts that `npm start` and `npm run serve` share: ending with the parent process, and probing idle streams. */

/**
 * Calls back when npm, which started this process, has ended. npm doesn't forward signals when it is ended itself, and
 * the server must not keep the port. Another parent, such as a shell with nohup, may end.
 *
 * @returns a function that stops watching
 */
export function whenParentEnds(act: () => void): () => void {
  if (process.env["npm_lifecycle_event"] === undefined) return () => undefined;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid !== parent) act();
  }, parentCheckMs);
  return () => clearInterval(watch);
}

/** How often {@link whenParentEnds} looks, in ms. */
export const parentCheckMs = 500;

/**
 * The interval in ms at which idle HTTP streams are written to. Outside Cloudflare, the runtime notices that a client
 * is gone only when a write to it is answered with a reset. Two intervals fit into the 2 s within which presence must
 * end (rule T6).
 */
export const streamProbeMs = 500;
