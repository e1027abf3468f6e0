import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

/** The proxy's socket towards one of the two ends of a carried connection. */
export class SocketEnd {
  readonly socket: Socket;
  /** Settled when the socket has closed, whichever end closed it. */
  readonly closed: Promise<void>;
  readonly #tcp: Socket;

  /** Begins to connect to a server, over TLS where its address says so. */
  static towards(target: URL): SocketEnd {
    const secure = target.protocol === "https:" || target.protocol === "wss:";
    const host = target.hostname.replace(/^\[|\]$/g, "");
    const port = Number(target.port) || (secure ? 443 : 80);
    const tcp = connectTcp({ host, port, allowHalfOpen: true, noDelay: true });
    if (!secure) return new SocketEnd(tcp);
    const socket = connectTls({ socket: tcp, servername: host });
    tcp.on("error", (error) => socket.destroy(error));
    return new SocketEnd(socket, tcp);
  }

  /** @param tcp the socket below a TLS socket */
  constructor(socket: Socket, tcp = socket) {
    this.socket = socket;
    this.#tcp = tcp;
    // The directions read how an end closed when the socket closes.
    socket.on("error", () => {});
    this.closed = new Promise((resolve) => {
      socket.once("close", () => resolve());
    });
  }

  /** Tells the other end that nothing more comes; that end may go on sending. */
  finish(): void {
    this.socket.end();
  }

  /**
   * Ends the connection at once with RST, which the other end sees as an error. Bytes that weren't sent yet are lost.
   */
  reset(): void {
    const { socket } = this;
    if (socket.destroyed) return;
    // The system refuses to reset a connection whose FIN still waits behind bytes.
    const finishing = socket.writableEnded && !socket.writableFinished;
    if (!finishing && !this.#tcp.connecting) this.#tcp.resetAndDestroy();
    socket.destroy();
  }
}
