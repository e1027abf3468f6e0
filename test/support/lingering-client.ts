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

  /** Sends a text of at most 125 bytes. */
  send(text: string): void {
    const payload = Buffer.from(text);
    // The last fragment of a text, with a mask of zeros: clients must set a mask, and this one changes nothing.
    this.#socket.write(Buffer.from([0x81, 0x80 | payload.length, 0, 0, 0, 0, ...payload]));
  }

  /** The code of the close frame, which must be the first frame that the server sends. */
  async closeCode(): Promise<number> {
    while (this.#received.length < 4) await once(this.#socket, "data");
    if (this.#received[0] !== 0x88) throw new Error("the server said something else first");
    return this.#received.readUInt16BE(2);
  }

  /** Gives up the connection, without a close frame. */
  cut(): void {
    this.#socket.destroy();
  }
}
