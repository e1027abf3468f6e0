import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { type TestContext, afterAll, beforeAll, describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { Inbox } from "../../support/inbox.ts";
import { freePort } from "../../support/servers/listen.ts";
import { ServedServer } from "../../support/servers/served-server.ts";
import { testSecrets } from "../../support/test-tokens.ts";
import { WorkerFolder } from "../../support/servers/worker-folder.ts";

describe("[B20] a request whose body doesn't end", () => {
  let worker: WorkerFolder;
  let server: ServedServer;

  beforeAll(async () => {
    const open = ["sse", "http_stream", "uni_sse", "uni_http_stream"];
    worker = new WorkerFolder(
      open.map((name) => `[vars.config.${name}]\nenabled = true\n`).join(""),
      {},
    );
    const state = join(worker.path, "state");
    const port = String(await freePort());
    server = await ServedServer.start(["-c", worker.configFile, "--port", port, "--state", state]);
  });
  afterAll(async () => {
    await server.kill();
    worker.remove();
  });

  /** Begins a request, and sends its body byte by byte. */
  function trickle(test: TestContext, path: string, headers: readonly string[]): Trickle {
    const socket = connect(server.port, "127.0.0.1");
    const one = new Trickle(socket);
    test.onTestFinished(() => one.end());
    socket.write([`POST ${path} HTTP/1.1`, "Host: localhost", ...headers, "", ""].join("\r\n"));
    return one;
  }

  it("is cut in time, wherever a body is read", async (test) => {
    const key = `X-API-Key: ${testSecrets.API_KEY}`;
    const requests: readonly (readonly [string, ...string[]])[] = [
      ["/emulation"],
      ["/connection/sse"],
      ["/connection/http_stream", "Content-Type: application/octet-stream"],
      ["/connection/uni_sse"],
      ["/channel/news/uni_http_stream"],
      ["/api/publish", key],
      ["/api/batch", key, "Content-Type: application/msgpack"],
      ["/api", key],
    ];
    const startedAtMs = Date.now();
    const lengths = [["Content-Length: 1000", "x"] as const, [chunked, "1\r\nx\r\n"] as const];
    const trickles = requests.flatMap(([path, ...headers]) =>
      lengths.map(([length, piece]) => {
        const one = trickle(test, path, [...headers, length]);
        one.begin(piece);
        return one;
      }),
    );
    for (const one of trickles) expect(await one.answers.next()).toContain("408 Request Timeout");
    expect(Date.now() - startedAtMs).toBeGreaterThanOrEqual(limits.bodyMs);
    await Promise.all(trickles.map(({ closed }) => closed));
  });

  it("doesn't keep its connection where no body is read", async (test) => {
    const refusals = ["/nope", "/api/publish", "/connection/sse"].map((path) => {
      const one = trickle(test, path, ["Origin: https://elsewhere.example.com", chunked]);
      one.begin("1\r\nx\r\n");
      return one;
    });
    for (const one of refusals) expect(await one.answers.next()).toMatch(/^HTTP\/1\.1 40[134] /);
    await Promise.all(refusals.map(({ closed }) => closed));
  });

  it("is cut after a second if it is the oldest of too many, and holds back nobody else", async (test) => {
    const startedAtMs = Date.now();
    const refused = new Inbox<string>();
    const more = 10;
    for (let nth = 0; nth < limits.openBodiesMax + more; nth++) {
      const one = trickle(test, "/emulation", ["Content-Length: 1000"]);
      void one.answers.next().then((answer) => refused.push(answer));
    }
    const body = JSON.stringify({ session: "", node: "channel:news", data: "{}" });
    while (refused.all.length < more) {
      const whole = await fetch(`${server.address}/emulation`, { method: "POST", body });
      expect(whole.status).toBe(204);
    }
    expect(Date.now() - startedAtMs).toBeGreaterThanOrEqual(limits.openBodyMs);
    for (const answer of refused.all) expect(answer).toContain("408 Request Timeout");
    expect(Date.now() - startedAtMs).toBeLessThan(limits.bodyMs);
  });
});

const chunked = "Transfer-Encoding: chunked";

/** A request whose body comes byte by byte. */
class Trickle {
  readonly answers = new Inbox<string>();
  readonly closed: Promise<void>;
  readonly #socket: Socket;
  #timer: NodeJS.Timeout | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.closed = promise;
    socket.on("data", (bytes: Buffer) => this.answers.push(bytes.toString()));
    socket.on("error", resolve); // It was cut while a byte was on its way.
    socket.on("close", resolve);
  }

  begin(piece: string): void {
    this.#timer = setInterval(() => this.#socket.write(piece), 500);
  }

  end(): void {
    clearInterval(this.#timer);
    this.#socket.destroy();
  }
}
