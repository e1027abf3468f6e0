import type { Endpoint } from "../systems/server.ts";
import { marker, type Post } from "../systems/wire.ts";
import { numberOf } from "./publication-data.ts";

/** The bytes of a POST on a persistent connection. */
export function postRequest({ path, headers, body }: Post, { host, port }: Endpoint): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nHost: ${host}:${port}\r\n${lines.join("")}` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

/** A POST that is prepared once, and sent with another number each time. */
export class NumberedRequest {
  readonly #post: Post;
  readonly #endpoint: Endpoint;
  readonly #bytes: Buffer;
  /** The position of the number. */
  readonly #place: number;

  /** @param post of a publication with any number */
  constructor(post: Post, endpoint: Endpoint) {
    this.#post = post;
    this.#endpoint = endpoint;
    this.#bytes = postRequest(post, endpoint);
    this.#place = this.#bytes.lastIndexOf(marker) + 1;
  }

  /** Earlier requests may not be sent yet, so each one is a copy. */
  numbered(index: number): Buffer {
    const { pathOf } = this.#post;
    const bytes = Buffer.from(this.#bytes);
    bytes.write(numberOf(index), this.#place, "latin1");
    if (pathOf === undefined) return bytes;
    const body = bytes.subarray(bytes.indexOf("\r\n\r\n") + 4).toString();
    return postRequest({ ...this.#post, path: pathOf(body), body }, this.#endpoint);
  }
}
