import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { CallFields } from "./call-fields.ts";
import { controlCalls, type ControlledServer } from "./control-calls.ts";
import type { TestDormouse } from "./test-dormouse.ts";
import { DormouseTestError } from "./test-error.ts";
import { testLimits } from "./test-limits.ts";

/**
 * A test server's control over HTTP, on a port of this machine, for suites in other languages: `POST /publish` with the fields
 * in a JSON object answers `{"result": …}`, or `{"error": "…"}` with status 400.
 */
export class ControlServer {
  readonly address: string;
  /** Resolves when a call has asked for the end. */
  readonly stopped: Promise<void>;
  readonly #server: Server;
  readonly #controlled: ControlledServer;

  static async start(dormouse: TestDormouse, port = 0): Promise<ControlServer> {
    const server = createServer();
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    return new ControlServer(server, dormouse);
  }

  private constructor(server: Server, dormouse: TestDormouse) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.stopped = promise;
    this.#server = server;
    this.#controlled = { dormouse, clients: new Map(), stop: resolve };
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    this.address = `http://127.0.0.1:${port}`;
    server.on("request", (request, response) => void this.#respond(request, response));
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeIdleConnections();
    await once(this.#server, "close");
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, body } = await this.#answer(request);
    response.writeHead(status, { "Content-Type": "application/json", Connection: "close" });
    response.end(`${JSON.stringify(body)}\n`);
  }

  /**
   * A header that says that a page in a browser calls: its name may have been rebound to this machine, which the Host shows.
   */
  #foreignHeader({ headers: { host = "", origin } }: IncomingMessage): string | undefined {
    const { port } = new URL(this.address);
    const hosts = ownHosts.map((one) => `${one}:${port}`);
    if (!hosts.includes(host.toLowerCase())) return "Host";
    const isOwn = origin === undefined || hosts.some((one) => origin === `http://${one}`);
    return isOwn ? undefined : "Origin";
  }

  async #answer(request: IncomingMessage): Promise<Answer> {
    const foreign = this.#foreignHeader(request);
    if (foreign !== undefined)
      return refused(403, `the header ${foreign} isn't this server's: calls go to ${this.address}`);
    const call = (request.url ?? "").slice(1);
    const carry = Object.hasOwn(controlCalls, call) ? controlCalls[call] : undefined;
    if (carry === undefined)
      return refused(
        404,
        `there is no call; the calls are ${Object.keys(controlCalls).join(", ")}`,
      );
    if (request.method !== "POST") return refused(405, `${call}: calls are made with POST`);
    // A page in a browser can't send this type to another origin without asking.
    if (!/^application\/json\b/i.test(request.headers["content-type"] ?? ""))
      return refused(415, `${call}: the header Content-Type must be application/json`);
    const text = await bodyOf(request);
    if (text === undefined)
      return refused(413, `${call}: the body has more than ${testLimits.controlBodyBytes} bytes`);
    try {
      const fields = CallFields.parse(call, text);
      const work = carry(fields, this.#controlled);
      fields.end();
      return { status: 200, body: { result: (await work()) ?? {} } };
    } catch (error) {
      if (error instanceof DormouseTestError) return refused(400, error.message);
      return refused(500, `${call}: ${String(error)}`);
    }
  }
}

/** The names of this machine, as a URL has them. */
const ownHosts: readonly string[] = ["127.0.0.1", "localhost", "[::1]"];

interface Answer {
  readonly status: number;
  readonly body: object;
}

function refused(status: number, error: string): Answer {
  return { status, body: { error } };
}

/** The body; undefined if it is too large. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue;
    bytes += chunk.byteLength;
    if (bytes <= testLimits.controlBodyBytes) chunks.push(chunk);
  }
  return bytes > testLimits.controlBodyBytes ? undefined : Buffer.concat(chunks).toString();
}
