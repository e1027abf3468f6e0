import { createServer } from "node:net";

/**
 * Tries to listen, before anything is started that would only fail later.
 *
 * @returns why it can't be; undefined when it can
 */
export function listeningProblem(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => {
      const taken = `port ${port} is taken by another server: name a free one with --port`;
      const other = `nothing can listen on port ${port} of ${host}: ${error.code ?? error.name}`;
      resolve(error.code === "EADDRINUSE" ? taken : other);
    });
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

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

/**
 * How often idle HTTP streams are written to, in ms: outside Cloudflare the runtime notices that a client is gone only by
 * what it writes, once it was answered with a reset. Two of them are within the 2 s in which presence has to end (rule T6).
 */
export const streamProbeMs = 500;
