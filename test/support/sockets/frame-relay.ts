import { WebSocket, WebSocketServer } from "ws";
import type { AddressInfo } from "node:net";
import type { Closing } from "./raw-socket.ts";
import { Inbox } from "../inbox.ts";

/** What becomes of a client's frame. */
type Passing = "pass" | "drop";

/**
 * Stands between one official client and the server, and passes on their frames one by one. It sees what an SDK sends
 * by itself, and can do something first.
 */
export class FrameRelay {
  /** Frames of the server, in order. */
  readonly received = new Inbox<string>();
  /** How the server's end closed, of each connection of the client. */
  readonly closings = new Inbox<Closing>();
  readonly #server: WebSocketServer;

  /** @param before called before each frame of the client; the frame and those after it wait for it */
  static async open(
    address: string,
    before: (frame: string) => Promise<Passing>,
  ): Promise<FrameRelay> {
    const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
    await new Promise((resolve) => {
      server.once("listening", resolve);
    });
    return new FrameRelay(server, address, before);
  }

  private constructor(
    server: WebSocketServer,
    address: string,
    before: (frame: string) => Promise<Passing>,
  ) {
    this.#server = server;
    server.on("connection", (client) => {
      const upstream = new WebSocket(address, { perMessageDeflate: false });
      let last = new Promise<void>((resolve) => {
        upstream.once("open", () => resolve());
      });
      client.addEventListener("message", ({ data }) => {
        const frame = textFrame(data);
        last = this.#inTurn(last, async () => {
          if ((await before(frame)) === "pass") upstream.send(frame);
        });
      });
      upstream.addEventListener("message", ({ data }) => {
        const frame = textFrame(data);
        this.received.push(frame);
        client.send(frame);
      });
      upstream.on("close", (code, reason) => {
        this.closings.push({ code, reason: reason.toString() });
        client.terminate();
      });
      client.on("close", () => upstream.close());
    });
  }

  /** The address for the client. */
  get address(): string {
    const address = this.#server.address();
    if (!isPort(address)) throw new Error("the relay listens nowhere");
    return `ws://127.0.0.1:${address.port}`;
  }

  async #inTurn(before: Promise<void>, work: () => Promise<void>): Promise<void> {
    await before;
    await work();
  }

  close(): void {
    for (const client of this.#server.clients) client.terminate();
    this.#server.close();
  }
}

function textFrame(data: unknown): string {
  if (typeof data !== "string") throw new Error("a binary frame on a JSON connection");
  return data;
}

function isPort(address: AddressInfo | string | null): address is AddressInfo {
  return typeof address === "object" && address !== null;
}
