import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BreakableNetwork } from "../../support/sockets/breakable-network.ts";
import { HookServer } from "../../support/servers/hook-server.ts";
import { freePort } from "../../support/servers/listen.ts";
import { SdkClient } from "../../support/sockets/sdk-client.ts";
import { refusedServe, ServedServer } from "../../support/servers/served-server.ts";
import { signToken, testSecrets } from "../../support/test-tokens.ts";
import { tomlOf, WorkerFolder } from "../../support/servers/worker-folder.ts";
import { packageRoot } from "../../../cli/package-root.ts";

const channel = "news";
const token = signToken({ sub: "listener" });

let folder: string;
let state: string;
let port: number;
let server: ServedServer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "dormouse-test-"));
  state = join(folder, "state");
  port = await freePort();
  server = await ServedServer.start(["--port", String(port), "--state", state]);
});
afterAll(async () => {
  await server.kill();
  rmSync(folder, { recursive: true });
});

/** The first line of the answer to an upgrade at a path as it is, and the detail of an error. */
async function answerAt(path: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  const headers = ["Host: localhost", "Connection: Upgrade", "Upgrade: websocket"];
  const key = ["Sec-WebSocket-Version: 13", `Sec-WebSocket-Key: ${btoa("sixteen bytes...")}`];
  socket.write([`GET ${path} HTTP/1.1`, ...headers, ...key, "", ""].join("\r\n"));
  const [bytes]: Buffer[] = await once(socket, "data");
  socket.destroy();
  return String(bytes);
}

describe("npm run serve", () => {
  it.each([".", "..", "%2e", ".%2E"])(
    "[C6] gives the channel . or .. no address, and takes it for no other channel: %s",
    async (name) => {
      expect(await answerAt(`/channel/.${name}a/websocket`)).toContain("101 Switching Protocols");
      const refused = await answerAt(`/channel/${name}/websocket`);
      expect(refused).toContain("400 Bad Request");
      expect(refused).toContain("no address of their own");
    },
  );

  it("[W1] serves an official client and a backend with the secrets of the environment", async () => {
    expect(server.address).toBe(`http://127.0.0.1:${port}`);
    const client = new SdkClient(`ws://127.0.0.1:${port}/connection/websocket`, { token });
    const { publications } = await client.subscribed(channel);
    const { offset } = await server.backend.publish(channel, "hello");
    expect(await publications.next()).toMatchObject({ data: "hello", offset });
    client.close();
  });

  it.each(["keepalive-websocket.js", "messagepack-centrifuge.js"])(
    "serves %s as a script, to every origin, and no list of its files",
    async (name) => {
      const script = await fetch(`${server.address}/${name}`);
      expect(script.status).toBe(200);
      expect(script.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
      expect(script.headers.get("access-control-allow-origin")).toBe("*");
      expect(await script.text()).toBe(readFileSync(join(packageRoot, "public", name), "utf8"));
      expect((await fetch(`${server.address}/`)).status).toBe(404);
    },
  );

  it("leaves no secret on the disk", () => {
    const entries = readdirSync(state, { recursive: true, withFileTypes: true });
    const texts = entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name), "utf8"));
    expect(texts.some((text) => text.includes("API_KEY"))).toBe(true);
    for (const secret of Object.values(testSecrets))
      expect(texts.filter((text) => text.includes(secret))).toEqual([]);
  });

  it("listens on the loopback address by default", async () => {
    await expect(fetch(`http://${outerAddress()}:${port}/health`)).rejects.toThrow("fetch failed");
  });
});

describe("npm run serve beside a backend without TLS", () => {
  it("[A20] asks it if the configuration has insecure_endpoints", async () => {
    const secret = "a-secret-for-signing-questions";
    // An address of another host, as far as the configuration knows.
    const hooks = await HookServer.start(secret, () => ({ result: { user: "ada" } }), "127.0.0.2");
    const config = {
      insecure_endpoints: true,
      client: { proxy: { connect: { enabled: true, endpoint: hooks.url("connect") } } },
    };
    const own = await freePort();
    const place = ["--port", String(own), "--state", join(folder, "beside")];
    const secrets = { ...testSecrets, HOOK_SIGNING_SECRET: secret };
    const options = [...place, "--var", `config:${JSON.stringify(config)}`];
    const beside = await ServedServer.start(options, undefined, secrets);
    const client = new SdkClient(`ws://127.0.0.1:${own}/connection/websocket`, {});
    await client.connected.count(1);
    expect((await hooks.requests.next()).hook).toBe("connect");
    expect(hooks.unsigned).toBe(0);
    client.close();
    await beside.kill();
    await hooks.close();
  });
});

describe.concurrent("what npm run serve refuses", () => {
  it("[A20] an endpoint without TLS, and says how to allow it", async () => {
    const events = { target: "http://backend:3000/events", types: ["publication"] };
    const { code, printed } = await refusedFresh(["--var", `config:${JSON.stringify({ events })}`]);
    expect(code).toBe(1);
    expect(printed).toContain("(http is allowed for localhost only, or with insecure_endpoints)");
  });

  it("[A8] no secrets: it names them", async () => {
    const worker = new WorkerFolder("", {});
    const missing = { API_KEY: "", TOKEN_HMAC_SECRET_KEY: "" };
    const fresh = join(folder, "without-secrets");
    const options = ["-c", worker.configFile, "--port", String(await freePort())];
    const { code, printed } = await refusedServe([...options, "--state", fresh], missing);
    worker.remove();
    expect(code).toBe(1);
    expect(printed).toContain("API_KEY is missing");
    expect(printed).toContain("TOKEN_HMAC_SECRET_KEY");
    expect(printed).not.toContain("Dormouse serves");
  });

  it("[A10] the secrets of the example, without repeating them", async () => {
    const example = parseEnv(
      readFileSync(join(packageRoot, "examples", ".dev.vars.example"), "utf8"),
    );
    const secrets = { ...testSecrets, API_KEY: example["API_KEY"] ?? "" };
    const { code, printed } = await refusedFresh([], secrets);
    expect(code).toBe(1);
    expect(printed).toContain("secret API_KEY has the value in .dev.vars.example");
    expect(printed).not.toContain(secrets.API_KEY);
  });

  it("[A11] insecure modes", async () => {
    const config = JSON.stringify({ client: { insecure: true }, http_api: { insecure: true } });
    const { code, printed } = await refusedFresh(["--var", `config:${config}`]);
    expect(code).toBe(1);
    expect(printed).toContain("client.insecure is for npm start only");
    expect(printed).toContain("http_api.insecure is for npm start only");
  });

  it.each([
    ["one letter", "x", "secret API_KEY has fewer than 16 characters"],
    [
      "a line break at its end",
      `${testSecrets.API_KEY}\n`,
      "secret API_KEY ends with a line break",
    ],
  ])("[A10] a secret of %s", async (_, value, problem) => {
    const { code, printed } = await refusedFresh([], { ...testSecrets, API_KEY: value });
    expect(code).toBe(1);
    expect(printed).toContain(problem);
  });

  it("[A8] [A14] a key of the API whose secret it lacks, by the name of the secret", async () => {
    const billing = { name: "billing", secret: "API_KEY_BILLING", methods: ["*"], channels: ["*"] };
    const config = JSON.stringify({ http_api: { keys: [billing] } });
    const options = ["--var", `config:${config}`];
    const fresh = join(folder, "without-a-key");
    const place = ["--port", String(await freePort()), "--state", fresh];
    const missing = await refusedServe([...options, ...place]);
    expect(missing.code).toBe(1);
    expect(missing.printed).toContain("secret API_KEY_BILLING is missing");
    const weak = await refusedFresh(options, { ...testSecrets, API_KEY_BILLING: "hunter2" });
    expect(weak.code).toBe(1);
    expect(weak.printed).toContain("secret API_KEY_BILLING has fewer than 16 characters");
    expect(weak.printed).not.toContain("hunter2");
  });

  it("[M1] consumers of queues, which it doesn't have", async () => {
    const worker = new WorkerFolder(tomlOf("queue.md"), {});
    const { code, printed } = await refusedFresh(["-c", worker.configFile]);
    worker.remove();
    expect(code).toBe(1);
    expect(printed).toContain(
      "consumers take messages of queues, which only Cloudflare and npm start have",
    );
  });

  it("an option that it doesn't know", async () => {
    const { code, printed } = await refusedFresh(["--persist-to", "elsewhere"]);
    expect(code).toBe(1);
    expect(printed).toContain("unknown option --persist-to");
    expect(printed).not.toContain("elsewhere");
  });

  it("[A8] a configuration that it can't read", async () => {
    const config = JSON.stringify({ client: { ping_intervall: "4s" } });
    const { code, printed } = await refusedFresh(["--var", `config:${config}`]);
    expect(code).toBe(1);
    expect(printed).toContain("client.ping_intervall");
  });

  it("a port that is taken", async () => {
    const { code, printed } = await refusedFresh(["--port", String(port)]);
    expect(code).toBe(1);
    expect(printed).toContain(`port ${port} is used by another server`);
  });

  it("a state folder that another server has", async () => {
    const options = ["--port", String(await freePort()), "--state", state];
    const { code, printed } = await refusedServe(options);
    expect(code).toBe(1);
    expect(printed).toContain(`another server uses the state folder ${state}`);
  });
});

describe("npm run serve that is killed", () => {
  it("[O1] keeps its folder locked while the runtime that it started is running", async () => {
    await server.killScript();
    const options = ["--port", String(await freePort()), "--state", state];
    const { code, printed } = await refusedServe(options);
    expect(code).toBe(1);
    const noted = readFileSync(join(state, "process"), "utf8");
    expect(printed).toContain(`still uses ${state}: end it with kill -9 ${noted}\n`);
    expect(process.kill(Number(noted), 0)).toBe(true);
  });

  it("[H5] [R2] has everything it acknowledged when it is started again, and clients recover", async () => {
    const network = await BreakableNetwork.to(`http://127.0.0.1:${port}`);
    const address = network.address.replace("http", "ws");
    const client = new SdkClient(`${address}/connection/websocket`, { token });
    const { subscribed, publications } = await client.subscribed(channel);
    const acknowledged = await server.backend.publishAll(channel, [1, 2, 3]);
    await publications.count(3);
    network.break();
    await server.kill();

    const everywhere = ["--host", "0.0.0.0", "--port", String(port), "--state", state];
    server = await ServedServer.start(everywhere);
    const after = await server.backend.publish(channel, "missed");
    expect(after).toEqual({ offset: acknowledged.offset + 1, epoch: acknowledged.epoch });
    const kept = await server.backend.history(channel);
    expect(kept.publications.map(({ data }) => data).slice(-4)).toEqual([1, 2, 3, "missed"]);

    network.mend();
    const [, again] = await subscribed.count(2);
    expect(again).toMatchObject({ wasRecovering: true, recovered: true });
    const seen = await publications.count(4);
    expect(seen[3]).toMatchObject({ data: "missed", offset: after.offset });
    client.close();
    await network.close();
  });

  it("listens on every address of the machine on request", async () => {
    expect(server.address).toBe(`http://0.0.0.0:${port}`);
    const health = await fetch(`http://${outerAddress()}:${port}/health`);
    expect(health.status).toBe(200);
  });
});

describe("npm run serve after SIGTERM", () => {
  it("ends with status 0 despite a connected client, and stops listening", async () => {
    const client = new SdkClient(`ws://127.0.0.1:${port}/connection/websocket`, { token });
    await client.connected.count(1);
    const { code, printed } = await server.stop();
    expect(code).toBe(0);
    expect(printed).not.toContain("ended unexpectedly");
    await expect(fetch(`http://127.0.0.1:${port}/health`)).rejects.toThrow("fetch failed");
    client.close();
  });
});

/** With a free port, unless the options name another, and a state folder that must not come to be. */
async function refusedFresh(
  options: readonly string[],
  secrets: Readonly<Record<string, string>> = testSecrets,
) {
  const fresh = mkdtempSync(join(folder, "fresh-"));
  const untouched = join(fresh, "state");
  const ended = await refusedServe(
    ["--port", String(await freePort()), "--state", untouched, ...options],
    secrets,
  );
  expect(existsSync(untouched)).toBe(false);
  return ended;
}

/** An address at which other machines could reach this one; if there is none, another loopback address. */
function outerAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const outer = all.find(({ internal, family }) => !internal && family === "IPv4");
  return outer?.address ?? "127.0.0.2";
}
