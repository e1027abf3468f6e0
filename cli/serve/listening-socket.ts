import { Worker } from "node:worker_threads";

export interface ListeningSocket {
  readonly outcome: "listening";
  /** A descriptor of this process, which processes that it starts can inherit. */
  readonly descriptor: number;
  readonly port: number;
  /** Closes the socket, which ends the connections that wait in it. */
  close(): Promise<void>;
}

export type OpenedSocket =
  | ListeningSocket
  | { readonly outcome: "refused"; readonly problem: string };

/** How many connections may wait in the socket. Linux lowers it to `net.core.somaxconn`, 4,096 by default. */
const backlog = 4_096;

/**
 * Node.js accepts connections on each socket on which it listens, as soon as its event loop waits. So the socket is opened
 * in a thread of its own, whose event loop never waits again: the thread sleeps until the process ends.
 */
const opener = `
const { parentPort, workerData } = require("node:worker_threads");
const server = require("node:net").createServer();
server.once("error", ({ code, name }) => parentPort.postMessage({ fault: code ?? name }));
server.listen(workerData, () => {
  parentPort.postMessage({ descriptor: server._handle.fd, port: server.address().port });
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});
`;

/** The thread's message. */
type Opened = { readonly descriptor: number; readonly port: number } | { readonly fault: string };

/**
 * Opens a socket that listens on a port and accepts nobody: workerd does that, which gets the descriptor. While one workerd
 * has ended and the next one doesn't run yet, connections wait in the socket instead of being refused.
 *
 * @param host the address, "0.0.0.0" or "::" for all
 * @param port 0 for a free one
 */
export function listeningSocket(host: string, port: number): Promise<OpenedSocket> {
  const workerData = { host, port, backlog, exclusive: true };
  const thread = new Worker(opener, { eval: true, workerData });
  thread.unref();
  const { promise, resolve } = Promise.withResolvers<OpenedSocket>();
  thread.once("message", (opened: Opened) => {
    if ("descriptor" in opened) {
      const close = async () => void (await thread.terminate());
      return resolve({ outcome: "listening", ...opened, close });
    }
    const problem =
      opened.fault === "EADDRINUSE"
        ? `port ${port} is used by another server: choose a free port with --port`
        : `can't listen on port ${port} of ${host}: ${opened.fault}`;
    resolve({ outcome: "refused", problem });
  });
  return promise;
}
