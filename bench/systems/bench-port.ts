import { createServer } from "node:net";

/**
 * A free port of this machine below those that the operating system gives to outgoing connections: a bench has
 * thousands of these, and one could take the port before the system does.
 */
export async function benchPort(): Promise<number> {
  for (;;) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest));
    if (await isFree(port)) return port;
  }
}

/** Linux assigns from 32,768 on, macOS and Windows from 49,152. */
const lowest = 12_000;
const highest = 32_000;

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once("error", () => resolve(false));
    server.listen({ host: "127.0.0.1", port, exclusive: true }, () =>
      server.close(() => resolve(true)),
    );
  });
}
