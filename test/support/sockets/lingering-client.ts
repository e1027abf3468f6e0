import { once } from "node:events";
import type { Socket } from "node:net";
import { upgradeRequest } from "./upgrade-request.ts";

/**
 * A WebSocket client that keeps its connection whatever the server sends: it never answers a close frame, and no
 * library does so for it.
 */
export class LingeringClient {
  /** Settled when the server has ended the connection itself. */
  readonly ended: Promise<void>;
  readonly #socket: Socket;
  #received: Buffer;

  /** Opens a socket; rejects when the upgrade is refused. */
  static open(address: string): Promise<LingeringClient> {
    return new Promise((resolve, reject) => {
      const asked = upgradeRequest(address);
      asked.once("upgrade", (_response, socket, head) => {
        resolve(new LingeringClient(socket, head));
      });
      asked.once("response", ({ statusCode }) => {
        asked.destroy();
        reject(new Error(`the upgrade was answered ${statusCode}`));
      });
      asked.once("error", reject);
      asked.end();
    });
  }

  private constructor(socket: Socket, head: Buffer) {
    this.#socket = socket;
    this.#received = head;
    this.ended = new Promise((resolve) => {
      socket.once("close", () => resolve());
    });
    socket.on("data", (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
    });
    // A server that ends first may reset the connection, which is no failure here.
    socket.on("error", () => socket.destroy());
  }

  /** Sends a text. */
  send(text: string): void {
    this.sendFrame(0x81, Buffer.from(text));
  }

  /**
   * Sends a frame of at most 65,535 bytes, also one that the WebSocket protocol forbids.
   *
   * @param first its first byte: flags and opcode
   */
  sendFrame(first: number, payload: Buffer): void {
    const { length } = payload;
    const size = length < 126 ? [0x80 | length] : [0x80 | 126, length >> 8, length & 0xff];
    // Clients must set a mask, and this one changes nothing.
    this.#socket.write(Buffer.from([first, ...size, 0, 0, 0, 0, ...payload]));
  }

  /** Takes nothing from the network any more, so that the server's data piles up there. */
  stopReading(): void {
    this.#socket.pause();
  }

  /** The code of the close frame, which must be the first frame that the server sends; 1005 if it has none. */
  async closeCode(): Promise<number> {
    while (this.#received.length < 2) await once(this.#socket, "data");
    if (this.#received[0] !== 0x88) throw new Error("the server said something else first");
    if (this.#received[1] === 0) return 1005;
    while (this.#received.length < 4) await once(this.#socket, "data");
    return this.#received.readUInt16BE(2);
  }

  get localPort(): number {
    return this.#socket.localPort ?? 0;
  }

  /** Gives up the connection, without a close frame. */
  cut(): void {
    this.#socket.destroy();
  }
}
