import { once } from "node:events";
import { connect } from "node:net";
import type { Peer } from "./peer.ts";
import type { System } from "./system.ts";

/** A server that runs already. Starting it checks that it listens; nothing of a scenario's options reaches it. */
export function peerSystem(peer: Peer): System {
  const { name, sockets, api } = peer;
  return {
    name,
    start: async () => {
      for (const { host, port } of [sockets, api]) await reach(name, host, port);
      return {
        port: sockets.port,
        peer,
        sleep: () => Promise.reject(new Error(`${name} can't be made to sleep from outside`)),
        counts: () => Promise.reject(new Error(`${name} can't be counted from outside`)),
        stop: () => Promise.resolve(),
      };
    },
  };
}

async function reach(name: string, host: string, port: number): Promise<void> {
  const socket = connect({ host, port });
  try {
    await once(socket, "connect");
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`${name} doesn't listen on ${host}:${port}: ${why}`, { cause: error });
  } finally {
    socket.destroy();
  }
}
