import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import { listen } from "./listen.ts";

/** Answers one request for the JWKS. */
type Answer = (response: ServerResponse, path: string) => void;

/** An identity provider: serves a JWKS at `url`, answers as the test says, and counts requests. */
export class KeyServer {
  answer: Answer;
  /** The paths that were asked for. */
  readonly requests: string[] = [];
  readonly url: string;
  readonly #server: Server;

  static async start(answer: Answer): Promise<KeyServer> {
    const server = createServer();
    return new KeyServer(server, await listen(server), answer);
  }

  private constructor(server: Server, port: number, answer: Answer) {
    this.url = `http://127.0.0.1:${port}/keys`;
    this.answer = answer;
    this.#server = server;
    server.on("request", (request, response) => {
      this.requests.push(request.url ?? "");
      this.answer(response, request.url ?? "");
    });
  }

  /** Resolves when the server has handled the next request. */
  async nextRequest(): Promise<void> {
    await once(this.#server, "request");
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}

/** Serves keys, or any other value, as a JWKS. */
export function serving(keys: unknown): Answer {
  return (response) => response.end(JSON.stringify({ keys }));
}

/** A pair of keys of such a provider (Ed25519). */
export class SigningKey {
  readonly #privateKey: KeyObject;
  readonly #kid: string;
  readonly jwk: { readonly kid: string };

  constructor(kid: string) {
    const { publicKey, privateKey } = generateKeyPairSync("ed25519");
    this.#privateKey = privateKey;
    this.#kid = kid;
    this.jwk = { ...publicKey.export({ format: "jwk" }), kid };
  }

  /** A token, signed by hand. */
  token(claims: object, header: object = { alg: "EdDSA", kid: this.#kid }): string {
    const signed = `${part(header)}.${part(claims)}`;
    return `${signed}.${sign(null, Buffer.from(signed), this.#privateKey).toString("base64url")}`;
  }
}

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
