/**
 * The parts that `npm start` and `npm run serve` share: checking the port, ending with the parent process, and probing
 * idle streams.
 */
import { createServer } from "node:net";

/**
 * Tries to listen on a port, before a server starts that would fail later.
 *
 * @returns the problem; undefined if there is none
 */
export function listeningProblem(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => {
      const taken = `port ${port} is used by another server: choose a free port with --port`;
      const other = `can't listen on port ${port} of ${host}: ${error.code ?? error.name}`;
      resolve(error.code === "EADDRINUSE" ? taken : other);
    });
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

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
