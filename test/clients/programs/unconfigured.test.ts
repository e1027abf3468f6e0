import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { endpoints } from "../../support/sockets/endpoint.ts";
import { freePort } from "../../support/servers/listen.ts";
import { handshake } from "../../support/sockets/raw-socket.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { testSecrets } from "../../support/test-tokens.ts";
import { WorkerFolder } from "../../support/servers/worker-folder.ts";
import { keptBundle } from "../../../cli/build/kept-bundle.ts";
import { Workerd } from "../../../cli/serve/workerd.ts";

const paths = [
  "/",
  "/health",
  "/keepalive-websocket.js",
  "/api",
  "/api/publish",
  "/connection/websocket",
  "/channel/news/websocket",
  "/no/such/path",
];

describe.each([
  {
    lack: "no secrets",
    options: { secrets: { API_KEY: "", TOKEN_HMAC_SECRET_KEY: "" } },
    named: ["API_KEY", "TOKEN_HMAC_SECRET_KEY"],
  },
  {
    lack: "no API key",
    options: { secrets: { ...testSecrets, API_KEY: "" } },
    named: ["API_KEY"],
  },
  {
    lack: "the secrets of the example",
    options: {
      secrets: {
        API_KEY: "development-api-key",
        TOKEN_HMAC_SECRET_KEY: "development-token-hmac-secret-key",
      },
    },
    named: ["API_KEY has the value in", "TOKEN_HMAC_SECRET_KEY has the value in"],
  },
  {
    lack: "insecure modes",
    options: { config: { client: { insecure: true }, http_api: { insecure: true } } },
    named: ["client.insecure is for npm start only", "http_api.insecure is for npm start only"],
  },
  {
    lack: "a configuration with a misspelt key",
    options: { config: { client: { ping_intervall: "4s" } } },
    named: ["client.ping_intervall"],
  },
])("a server with $lack", ({ options, named }) => {
  let server: TestServer;

  beforeAll(async () => {
    server = await TestServer.start(options);
  });
  afterAll(() => server.close());

  it.each(paths)("[A8] answers %s with 503 and says what is missing", async (path) => {
    for (const method of ["GET", "POST"]) {
      const response = await fetch(`${server.address}${path}`, { method });
      expect(response.status).toBe(503);
      const text = await response.text();
      const problems = text.trim().split("\n");
      expect(problems).toHaveLength(named.length);
      for (const [index, name] of named.entries()) expect(problems[index]).toContain(name);
    }
  });

  it.each(endpoints)(
    "[A8] answers an upgrade with 503 at the endpoint of a $name",
    async (endpoint) => {
      const { status, text } = await handshake(endpoint.address(server, "news"));
      expect(status).toBe(503);
      expect(text).toContain(named[0]);
      expect(text).not.toContain(testSecrets.TOKEN_HMAC_SECRET_KEY);
    },
  );
});

describe("a Worker that was deployed without its objects", () => {
  let worker: WorkerFolder;
  let workerd: Workerd;
  let address: string;

  beforeAll(async () => {
    worker = new WorkerFolder("[env.staging]", {});
    const target = { file: worker.configFile, environment: "staging" };
    const modules = { "edge.js": keptBundle(target) };
    const setup = { modules, classNames: {}, variables: {}, secrets: testSecrets };
    const port = await freePort();
    workerd = await Workerd.start(setup, join(worker.path, "state"), port);
    address = `http://127.0.0.1:${port}`;
  });
  afterAll(async () => {
    await workerd.kill();
    worker.remove();
  });

  it.each(paths)("[A8] answers %s with 503 and names the bindings", async (path) => {
    const response = await fetch(`${address}${path}`);
    expect(response.status).toBe(503);
    const [channels, gateways] = (await response.text()).split("\n");
    expect(channels).toContain("binding CHANNELS to the class ChannelObject is missing");
    expect(gateways).toContain("binding GATEWAYS to the class GatewayObject is missing");
  });
});
