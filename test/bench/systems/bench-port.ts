import { once } from "node:events";
import { createServer } from "node:net";

/**
 * A port of this machine that nobody listens on, below those that the operating system gives to outgoing connections: a bench
 * has thousands of them, and one could take the port before the system does.
 */
export async function benchPort(): Promise<number> {
  for (;;) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest));
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const free = new Promise<boolean>((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => resolve(true));
  });
  if (!(await free)) return false;
  server.close();
  await once(server, "close");
  return true;
}

/** Linux gives from 32,768 on, macOS and Windows from 49,152. */
const lowest = 12_000;
const highest = 32_000;
