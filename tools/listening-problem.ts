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
