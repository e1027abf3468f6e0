import type { Endpoint } from "../systems/server.ts";

/** Asks for a WebSocket. */
export function upgradeRequest(path: string, { host, port }: Endpoint): Buffer {
  return Buffer.from(
    `GET ${path} HTTP/1.1\r\nHost: ${host}:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
      `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
  );
}

/** Collects the answer to an upgrade from chunks that end anywhere. */
export class UpgradeAnswer {
  #text = "";

  /**
   * Takes the next chunk.
   *
   * @returns how many of its bytes belonged to the answer, when the answer is complete; frames follow
   * @throws Error when the upgrade was refused
   */
  take(chunk: Buffer): number | undefined {
    const before = this.#text.length;
    this.#text += chunk.toString("latin1");
    const end = this.#text.indexOf("\r\n\r\n");
    if (end === -1) return undefined;
    const head = this.#text.slice(0, end);
    if (!head.startsWith("HTTP/1.1 101 ") || !head.includes(accept))
      throw new Error(`an upgrade was answered ${this.#text.slice(0, 300)}`);
    return end + 4 - before;
  }
}

/** All sockets use the example of RFC 6455, because the key only keeps caches from answering. */
const key = "dGhlIHNhbXBsZSBub25jZQ==";
const accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";
