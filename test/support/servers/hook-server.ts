import { createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { Inbox } from "../inbox.ts";
import { listen } from "./listen.ts";

/** A question that a backend got. */
export interface HookRequest {
  readonly hook: string;
  readonly body: { readonly [name: string]: unknown };
  readonly headers: IncomingMessage["headers"];
}

/** The backend's answer: JSON, or a status. */
export type HookAnswer = object | number;

/** A backend of hooks on a real port, which checks the signature of each request and answers as the test says. */
export class HookServer {
  answer: (request: HookRequest) => HookAnswer;
  readonly requests = new Inbox<HookRequest>();
  /** Requests without a good signature, which are answered 401. */
  unsigned = 0;
  readonly #server: Server;
  readonly #secret: string;
  readonly #address: string;

  /** @param host the address of this machine at which it listens */
  static async start(
    secret: string,
    answer: HookServer["answer"],
    host = "127.0.0.1",
  ): Promise<HookServer> {
    const server = createServer();
    const port = await listen(server, host);
    return new HookServer(server, `http://${host}:${port}`, secret, answer);
  }

  private constructor(
    server: Server,
    address: string,
    secret: string,
    answer: HookServer["answer"],
  ) {
    this.#server = server;
    this.#address = address;
    this.#secret = secret;
    this.answer = answer;
    server.on("request", (request, response) => void this.#respond(request, response));
  }

  /** The endpoint of a hook. */
  url(hook: string): string {
    return `${this.#address}/${hook}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const { headers } = request;
    if (!isSigned(headers, body, this.#secret)) {
      this.unsigned++;
      response.writeHead(401).end();
      return;
    }
    const asked = { hook: String(headers["dormouse-hook"]), body: JSON.parse(body), headers };
    this.requests.push(asked);
    const answer = this.answer(asked);
    if (typeof answer === "number") response.writeHead(answer).end();
    else response.end(JSON.stringify(answer));
  }
}

/** As docs/hooks.md shows it to those who build a backend. */
export function isSigned(
  headers: IncomingMessage["headers"],
  body: string,
  secret: string,
): boolean {
  const [id, time] = [String(headers["webhook-id"]), String(headers["webhook-timestamp"])];
  const isFresh = Math.abs(Date.now() / 1_000 - Number(time)) < 300;
  const expected = createHmac("sha256", secret).update(`${id}.${time}.${body}`).digest();
  const given = String(headers["webhook-signature"]).split(" ");
  return (
    isFresh &&
    given.some((one) => {
      const signature = Buffer.from(one.replace(/^v1,/, ""), "base64");
      return signature.length === expected.length && timingSafeEqual(signature, expected);
    })
  );
}
