import { once } from "node:events";
import { createServer, type Server } from "node:net";

/** Listens on this machine, on a port that the system chooses, and gives the port. */
export async function listen(server: Server, host = "127.0.0.1"): Promise<number> {
  server.listen(0, host);
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("not a TCP server");
  return address.port;
}

/**
 * A port without a listener. It is below those that the system gives to connections and to listeners without a port:
 * one of these could be taken before the test's server listens there. It is above 10080, the highest port to which `fetch` and
 * browsers refuse to connect (https://fetch.spec.whatwg.org/#port-blocking).
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 11_000 + Math.floor(Math.random() * 19_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(port, "127.0.0.1", () => resolve(true));
    });
    if (!isFree) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}
