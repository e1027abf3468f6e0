import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { setImmediate as turn } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { packageRoot } from "../../../cli/package-root.ts";
import { recordedShell } from "../../core/cli/recorded-shell.ts";
import { freePort, listen } from "../../support/servers/listen.ts";
import { type Meddling, MeddlingProxy } from "../../support/servers/meddling-proxy.ts";
import { ServedServer } from "../../support/servers/served-server.ts";
import { signToken, testSecrets } from "../../support/test-tokens.ts";

const config = {
  sse: { enabled: true },
  http_stream: { enabled: true },
  client: { allowed_origins: ["https://app.example.com"], users: { status: { enabled: true } } },
  channel: {
    without_namespace: {
      allow_subscribe_for_client: true,
      history_size: 300,
      history_ttl: "1m",
      force_recovery: true,
      presence: true,
    },
    namespaces: [
      { name: "shut" },
      { name: "map", subscription_type: "map", map: { mode: "ephemeral", key_ttl: "1m" } },
    ],
  },
  http_api: {
    keys: [{ name: "few", secret: "API_KEY_FEW", methods: ["publish"], channels: ["*"] }],
  },
};
const secrets = { ...testSecrets, API_KEY_FEW: "api-key-of-a-test-with-few-rights" };

/** As few as show everything. */
const few = ["--subscribers", "12", "--returning", "6", "--samples", "3", "--sleep", "0"];

let folder: string;
let server: ServedServer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "dormouse-test-"));
  const options = ["--port", String(await freePort()), "--state", join(folder, "state")];
  server = await ServedServer.start(
    [...options, "--var", `config:${JSON.stringify(config)}`],
    undefined,
    secrets,
  );
});
afterAll(async () => {
  await server.kill();
  rmSync(folder, { recursive: true });
});

interface Checked {
  readonly verdict: string;
  readonly name: string;
  readonly text: string;
  readonly mend?: string;
}

interface Diagnosis {
  readonly measured: readonly {
    readonly name: string;
    readonly times: number;
    readonly lost?: number;
  }[];
  readonly checked: readonly Checked[];
  readonly error?: string;
}

/** Runs the doctor, and gives its exit code and what it found. */
async function diagnosis(
  address: string,
  options: readonly string[] = [],
  environment: Readonly<Record<string, string>> = secrets,
): Promise<
  Diagnosis & { readonly code: number; readonly found: (name: string) => Checked | undefined }
> {
  const run = recordedShell();
  const args = ["doctor", address, ...few, ...options, "--json"];
  const { code, printed, noted } = await run(args, { environment });
  if (printed === "") throw new Error(`nothing was printed, but ${noted}`);
  const parsed: Diagnosis = JSON.parse(printed);
  return { ...parsed, code, found: (named) => parsed.checked.find(({ name }) => name === named) };
}

/** What the doctor says of a server that it can't examine. */
async function sentence(
  address: string,
  environment: Readonly<Record<string, string>> = secrets,
): Promise<string> {
  const { code, printed, noted } = await recordedShell()(["doctor", address, ...few], {
    environment,
  });
  expect(printed).toBe("");
  return `${code} ${noted}`;
}

/** The channels with subscribers, and the publications of those that the doctor has named. */
async function leftBehind(): Promise<readonly string[]> {
  const response = await fetch(`${server.address}/api/channels`, {
    method: "POST",
    headers: { "X-API-Key": testSecrets.API_KEY },
    body: "{}",
  });
  const { result }: { readonly result: { readonly channels: object } } = await response.json();
  return Object.keys(result.channels);
}

async function proxied(meddling: Meddling): Promise<MeddlingProxy> {
  const proxy = await MeddlingProxy.before(server.address, meddling);
  onTestFinished(() => proxy.close());
  return proxy;
}

describe("[W1] dormouse doctor against npm run serve", () => {
  it("measures everything and finds nothing wrong", async () => {
    const { code, measured, checked, found } = await diagnosis(server.address, [
      "--origin",
      "https://app.example.com",
      "--sleep",
      "1s",
    ]);
    expect(checked.filter(({ verdict }) => verdict === "wrong")).toEqual([]);
    expect(code).toBe(0);
    expect(measured.map(({ name }) => name)).toEqual([
      "connect",
      "publish to receive, gateway",
      "relay, there and back",
      "publish to receive, own address",
      "recovery of 100 missed",
      "a publication to 12",
      "6 clients come back at once",
      "the same after sleep, gateway",
      "the same after sleep, own address",
    ]);
    expect(measured.filter(({ times, lost }) => times === 0 || lost !== undefined)).toEqual([]);
    for (const name of ["API key", "token secret", "clock", "origins", "own origin", "compression"])
      expect(found(name)).toMatchObject({ verdict: "good" });
    expect(found("buffering")).toMatchObject({ verdict: "good" });
    expect(found("automatic answers")).toMatchObject({ verdict: "good" });
    // A second is too short to sleep.
    expect(found("sleep")).toMatchObject({ verdict: "note" });
    expect(found("left behind")?.verdict).toBe("good");
    expect(await leftBehind()).toEqual([]);
  });

  it("lets the API subscribe clients where nothing else does, and skips what needs more", async () => {
    const environment = { API_KEY: testSecrets.API_KEY, DORMOUSE_TOKEN: signToken({ sub: "ada" }) };
    const { code, measured, found } = await diagnosis(
      server.address,
      ["--namespace", "shut"],
      environment,
    );
    expect(found("subscribing")?.text).toContain("the API's subscribe does it");
    expect(found("recovery")).toMatchObject({ verdict: "skipped" });
    expect(found("buffering")).toMatchObject({ verdict: "skipped" });
    expect(measured.map(({ name }) => name)).toContain("a publication to 12");
    expect(code).toBe(0);
  });

  it("says what is missing where no client is taken", async () => {
    const { code, measured, found } = await diagnosis(server.address, [], {
      API_KEY: testSecrets.API_KEY,
    });
    expect(found("clients")).toMatchObject({ verdict: "skipped" });
    expect(found("clients")?.text).toContain("set TOKEN_HMAC_SECRET_KEY");
    expect(measured).toEqual([]);
    expect(code).toBe(0);
  });

  it("skips clients where the namespace has maps", async () => {
    const { code, found } = await diagnosis(server.address, ["--namespace", "map"]);
    expect(found("clients")).toMatchObject({ verdict: "skipped" });
    expect(found("clients")?.text).toContain("publishing is refused");
    expect(code).toBe(0);
  });

  it("says what the key doesn't admit", async () => {
    const environment = { ...secrets, API_KEY: secrets.API_KEY_FEW };
    const { found } = await diagnosis(server.address, ["--subscribers", "0"], environment);
    expect(found("clock")).toMatchObject({ verdict: "skipped" });
    expect(found("left behind")?.text).toContain("the key doesn't admit history_remove");
  });

  it("names a secret that isn't the server's, and a page that isn't admitted", async () => {
    const other = { ...secrets, TOKEN_HMAC_SECRET_KEY: "another-secret-of-another-server" };
    const { code, found } = await diagnosis(server.address, [], other);
    expect(found("clients")).toMatchObject({ verdict: "wrong" });
    expect(code).toBe(1);
    const origin = ["--subscribers", "0", "--origin", "https://www.example.com"];
    expect((await diagnosis(server.address, origin)).found("own origin")?.mend).toContain(
      'allowed_origins = ["https://www.example.com"]',
    );
  });
});

describe("[W1] dormouse doctor behind a proxy", () => {
  it("finds one that buffers, and takes no large body", async () => {
    const proxy = await proxied({ buffers: true, bodyBytesMax: 100_000 });
    const { code, found } = await diagnosis(proxy.address);
    expect(found("proxies")?.text).toContain("via: 1.1 meddling");
    expect(found("buffering")?.mend).toContain("proxy_buffering off");
    expect(found("message sizes")?.text).toContain("status 413");
    expect(found("deliveries")).toMatchObject({ verdict: "good" });
    expect(code).toBe(1);
    // All descriptors are given back.
    await expect.poll(() => proxy.upgraded).toBe(0);
  });

  it("finds one that compresses", async () => {
    const proxy = await proxied({ compresses: true });
    const { code, found } = await diagnosis(proxy.address, ["--subscribers", "0"]);
    expect(found("compression")?.mend).toContain("no permessage-deflate in the proxy");
    expect(code).toBe(1);
  });

  it("finds one that ends idle connections, and goes on", async () => {
    const proxy = await proxied({ idleMs: 700 });
    const { code, found } = await diagnosis(proxy.address, ["--sleep", "2s"]);
    expect(found("idle time-out")?.text).toMatch(/ends a connection .* for 0\.\d s \(code 1006\)/);
    expect(found("sleep")?.text).toContain("a connection ended with code 1006");
    expect(found("left behind")?.verdict).toBe("good");
    expect(code).toBe(1);
  });

  it("tells in one sentence of one that dies in the middle", async () => {
    const proxy = await MeddlingProxy.before(server.address, {});
    const asked = diagnosis(proxy.address, ["--subscribers", "40"]);
    // While its clients come.
    while (proxy.open < 20) await turn();
    await proxy.close();
    const { code, error } = await asked;
    expect(error).toMatch(/^ended before its end: \S+ can't be reached: \S.*$/);
    expect(code).toBe(3);
  });
});

describe("[W1] dormouse doctor and what isn't a server", () => {
  it("tells in one sentence of a namespace that isn't there", async () => {
    const args = ["doctor", server.address, "--namespace", "nowhere"];
    const { code, printed, noted } = await recordedShell()(args, { environment: secrets });
    expect(printed).toBe("");
    expect(`${code} ${noted}`).toBe(
      "1 the server has no namespace nowhere: --namespace takes one of channel.namespaces",
    );
  });

  it("tells in one sentence of a wrong key", async () => {
    const environment = { ...secrets, API_KEY: "another-key-of-another-server" };
    expect(await sentence(server.address, environment)).toBe(
      "1 the server refuses the key: API_KEY is another one there (status 401)",
    );
  });

  it("tells in one sentence of a proxy that answers everything", async () => {
    const proxy = await proxied({ answersAll: true });
    expect(await sentence(proxy.address)).toBe(
      `1 ${proxy.address} isn't a Dormouse server, or something in between answers in its place: /health is answered with status 200 and "<html>It works!</html>"`,
    );
  });

  it("tells in one sentence of a server that isn't ours, and of none", async () => {
    const other = createServer((_, response) => {
      response.writeHead(200, { "Content-Type": "application/json" }).end("{}");
    });
    const address = `http://127.0.0.1:${await listen(other)}`;
    onTestFinished(() => void other.close());
    expect(await sentence(address)).toBe(
      `1 ${address} isn't a Dormouse server, or something in between answers in its place: a call without a key is answered with status 200 and "{}"`,
    );
    const nobody = `http://127.0.0.1:${await freePort()}`;
    expect(await sentence(nobody)).toMatch(/^3 \S+ can't be reached: connect ECONNREFUSED \S+$/);
  });

  it("removes what it made when Ctrl-C ends it", async () => {
    const args = [join(packageRoot, "cli", "dormouse.ts"), "doctor", server.address, ...few];
    const quick = ["--subscribers", "0", "--samples", "1", "--sleep", "60s"];
    const running = spawn(process.execPath, [...args, ...quick], {
      env: { ...process.env, ...secrets, NO_COLOR: "1" },
      cwd: folder,
    });
    const printed = textOf(running.stdout);
    while ((await leftBehind()).filter((name) => name.includes("sleeper")).length < 10);
    running.kill("SIGINT");
    const [code] = await once(running, "exit");
    expect(await printed).toMatch(/left behind +nothing: no subscriber, no publication/);
    expect(await printed).toContain("stopped before its end");
    expect(code).toBe(130);
    expect(await leftBehind()).toEqual([]);
  });
});
