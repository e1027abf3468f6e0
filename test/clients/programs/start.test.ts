import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { BreakableNetwork } from "../../support/sockets/breakable-network.ts";
import { Inbox } from "../../support/inbox.ts";
import { freePort, listen } from "../../support/servers/listen.ts";
import { handshake, RawSocket } from "../../support/sockets/raw-socket.ts";
import { SdkClient } from "../../support/sockets/sdk-client.ts";
import { refusedStart, StartedServer } from "../../support/servers/started-server.ts";
import { testSecrets } from "../../support/test-tokens.ts";
import { WorkerFolder } from "../../support/servers/worker-folder.ts";
import { packageRoot } from "../../../cli/package-root.ts";

/** A command line with this for `client`. */
function variable(client: object): readonly string[] {
  const channel = { without_namespace: { allow_subscribe_for_client: true } };
  return ["--var", `config:${JSON.stringify({ client, channel })}`];
}

let folder: string;
/** For the state of a server that one test has for itself. */
const ownFolder = () => mkdtempSync(join(folder, "other-"));
let port: number;
let server: StartedServer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "dormouse-test-"));
  port = await freePort();
  server = await StartedServer.start(port, folder);
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

describe("npm start", () => {
  it("[W1] prints an address, a token and a request that work unchanged", async () => {
    const { address, socketAddress, token, publishAddress, apiKey, publishBody } = server.welcome;
    expect(address).toBe(`http://localhost:${port}`);
    const client = new SdkClient(socketAddress, { token });
    const { publications } = await client.subscribed("news");
    const response = await fetch(publishAddress, {
      method: "POST",
      headers: { "X-API-Key": apiKey },
      body: publishBody,
    });
    expect(response.status).toBe(200);
    expect((await publications.next()).data).toEqual({ text: "hello" });
    client.close();
  });

  it("[W1] is heard by npm run listen, with a token of its own", async (test) => {
    const script = join(packageRoot, "cli", "dormouse.ts");
    const listener = spawn(process.execPath, [
      script,
      "listen",
      "listened",
      "--port",
      String(port),
    ]);
    test.onTestFinished(() => void listener.kill());
    const lines = new Inbox<string>();
    createInterface(listener.stdout).on("line", (line) => lines.push(line));
    await lines.first((line) => line === "subscribed to listened");
    const { offset } = await server.backend.publish("listened", { text: "hello" });
    const heard = await lines.first((line) => line.includes("hello"));
    expect(heard).toBe(`listened ${offset} {"text":"hello"}`);
  });

  it("[W13] tells the official client why it is refused", async () => {
    const { socketAddress, token } = server.welcome;
    const withoutToken = new SdkClient(socketAddress, {});
    expect(await withoutToken.disconnected.next()).toMatchObject({
      code: 3501,
      reason:
        "bad request: there is no token, and client.allow_anonymous_connect_without_token is off",
    });
    const client = new SdkClient(socketAddress, { token });
    const { unsubscribed } = client.subscribe("nowhere:1");
    const reason = "unknown channel: channel.namespaces doesn't have nowhere";
    expect(await unsubscribed.next()).toMatchObject({ code: 102, reason });
    client.close();
  });

  it("[B13] doesn't bound the clients of this machine as those of one address", async () => {
    const address = server.welcome.socketAddress;
    const count = 2 * limits.unconnectedPerAddressMax;
    const sockets = await Promise.all(Array.from({ length: count }, () => RawSocket.open(address)));
    expect(sockets).toHaveLength(count);
    for (const socket of sockets) socket.cut();
  });

  it("[A7] has wrangler store no traces, which would have the tokens of addresses", async () => {
    const token = "a-token-in-an-address";
    const { address, socketAddress } = server.welcome;
    expect((await fetch(`${address}/health?token=${token}`)).status).toBe(200);
    expect((await handshake(`${socketAddress}?token=${token}`)).status).toBe(401);
    // Wrangler writes traces some time after the request, but makes their folder when it starts.
    expect(readdirSync(join(folder, "v3"))).toContain("do");
    expect(readdirSync(join(folder, "v3"))).not.toContain("observability");
  });

  it.each([
    ["http://localhost:5173", 101],
    ["http://127.0.0.1:8080", 101],
    ["http://localhost", 101],
    ["https://app.example.com", 403],
    ["http://localhost.evil.test", 403],
  ])("[A6] lets a page on %s connect: %i", async (origin, status) => {
    const answer = await handshake(server.welcome.socketAddress, { Origin: origin });
    expect(answer.status).toBe(status);
  });
});

/** One after the other: wrangler chooses ports that another wrangler, which starts meanwhile, may choose too. */
describe("npm start with another configuration", () => {
  it("[W1] prints no token that it would refuse, as with an issuer", async () => {
    const options = variable({ token: { issuer: "house" } });
    const other = await StartedServer.start(await freePort(), ownFolder(), options);
    expect(other.welcome.token).toBe("");
    await other.stop();
  });

  it("[W1] names the newcomer as the configuration wants users named", async () => {
    const options = variable({
      token: { user_id_claim: "https://a.b/id" },
      disallow_anonymous_connection_tokens: true,
    });
    const other = await StartedServer.start(await freePort(), ownFolder(), options);
    const { socketAddress, token } = other.welcome;
    const client = new SdkClient(socketAddress, { token });
    const subscription = await client.subscribed("news");
    expect(await subscription.subscribed.next()).toMatchObject({ channel: "news" });
    client.close();
    await other.stop();
  });

  it("[A11] serves clients without a token and backends without a key in insecure mode", async () => {
    const config = {
      client: { insecure: true, concurrency: 8 },
      http_api: { insecure: true },
      admin: { insecure: true },
      channel: { without_namespace: { allow_user_limited_channels: true } },
    };
    const options = ["--var", `config:${JSON.stringify(config)}`];
    const other = await StartedServer.start(await freePort(), ownFolder(), options);
    const { socketAddress, publishAddress } = other.welcome;
    const client = new SdkClient(socketAddress, {});
    const { subscription, publications } = await client.subscribed("news#42");
    await subscription.publish("by the client");
    const body = JSON.stringify({ channel: "news#42", data: "by the backend" });
    const response = await fetch(publishAddress, { method: "POST", body });
    expect(await response.json()).toHaveProperty("result");
    const seen = await publications.count(2);
    expect(seen.map(({ data }) => data)).toEqual(["by the client", "by the backend"]);
    const refused = await client.subscribe("$news").unsubscribed.next();
    expect(refused.code).toBe(103);
    client.close();
    await other.stop();
  });

  it("[A8] refuses to run without a secret: it names it, once, and exits with 1", async () => {
    const worker = new WorkerFolder("", { ...testSecrets, API_KEY: "" });
    const options = ["-c", worker.configFile, "--port", String(await freePort())];
    const { code, printed } = await refusedStart(options);
    worker.remove();
    expect(code).toBe(1);
    expect(printed.match(/secret API_KEY is missing/g)).toHaveLength(1);
    expect(printed).toContain('write the line API_KEY="…" into .dev.vars, and start it again');
    expect(printed).not.toContain("wrangler secret put");
    expect(printed).not.toContain("TOKEN_HMAC_SECRET_KEY is missing");
    expect(printed).not.toContain("Dormouse serves");
  });
});

describe.concurrent("npm start before it starts wrangler", { timeout: 180_000 }, () => {
  it("[A8] refuses JSON it can't read: it names the line and the column, and quotes nothing", async () => {
    const { code, printed } = await refusedStart(["--var", 'config:{"client":\n {"key":hunter2}}']);
    expect(code).toBe(1);
    expect(printed).toContain("not valid JSON: see line 2, column 9");
    expect(printed).not.toContain("hunter2");
  });

  it("[A8] refuses a configuration it can't read, that of the environment that is meant: it names the key and exits with 1", async () => {
    const staging = '[env.staging.vars.config.client]\nping_intervall = "4s"';
    const worker = new WorkerFolder(staging, testSecrets);
    const { code, printed } = await refusedStart(["-c", worker.configFile, "-e", "staging"]);
    worker.remove();
    expect(code).toBe(1);
    expect(printed).toContain("client.ping_intervall");
  });

  it("[A8] does not take another server on its port for its own: it exits with 1", async () => {
    const other = createServer((_, response) => response.end("{}"));
    const taken = await listen(other);
    const { code, printed } = await refusedStart(["--port", String(taken)]);
    other.close();
    expect(code).toBe(1);
    expect(printed).toContain(`Port ${taken} is used by another server`);
    expect(printed).not.toContain("Dormouse serves");
  });
});

describe("a second npm start in the same folder", () => {
  it("[O1] is refused whatever its port, because both would number the same channels", async () => {
    const { code, printed } = await startAgain();
    expect(code).toBe(1);
    expect(printed).toContain(`another server uses the state folder ${folder}`);
    expect(printed).not.toContain("Dormouse serves");
  });

  it("[O1] is refused while only the runtime of the first is left", async () => {
    await server.killScripts();
    const { code, printed } = await startAgain();
    expect(code).toBe(1);
    expect(printed).toContain(`a server whose parent process was killed still uses ${folder}`);
    await server.kill();
    server = await StartedServer.start(port, folder);
  });
});

/** Runs a second server on the first one's state, which must be refused. */
async function startAgain() {
  return refusedStart(["--port", String(await freePort()), "--persist-to", folder]);
}

describe("a server that is killed", () => {
  it("[O2] [R2] [H5] has everything it acknowledged when it is started again, and clients of both kinds miss nothing", async () => {
    const network = await BreakableNetwork.to(`http://127.0.0.1:${port}`);
    const address = network.address.replace("http", "ws");
    const clients = [
      `${address}/channel/${channel}/websocket`,
      `${address}/connection/websocket`,
    ].map((endpoint) => new SdkClient(endpoint, { token: server.welcome.token }));
    const subscriptions = await Promise.all(clients.map((client) => client.subscribed(channel)));

    const acknowledged = new Map<number, number>();
    const publishers = [1, 2, 3, 4].map((publisher) => publishUntilKilled(publisher, acknowledged));
    await Promise.all(subscriptions.map(({ publications }) => publications.count(30)));
    await server.kill();
    network.break();
    await Promise.all(publishers);

    server = await StartedServer.start(port, folder);
    const before = await server.backend.history(channel);
    const after = await server.backend.publishAll(channel, [-1, -2, -3]);
    expect(after).toEqual({ offset: before.offset + 3, epoch: before.epoch });
    network.mend();

    const { publications } = await server.backend.history(channel);
    expect(publications.map(({ offset }) => offset)).toEqual(
      Array.from({ length: after.offset }, (_, index) => index + 1),
    );
    expect(acknowledged.size).toBeGreaterThan(0);
    for (const [data, offset] of acknowledged) {
      expect(publications[offset - 1]).toMatchObject({ offset, data });
    }
    for (const subscription of subscriptions) {
      const [first, again] = await subscription.subscribed.count(2);
      expect(after.epoch).toBe(first?.streamPosition?.epoch);
      expect(again).toMatchObject({ wasRecovering: true, recovered: true });
      await subscription.publications.count(after.offset);
      const seen = subscription.publications.all.map(({ offset, data }) => ({ offset, data }));
      expect(seen).toEqual(publications.map(({ offset, data }) => ({ offset, data })));
    }
    for (const client of clients) client.close();
    await network.close();
  });
});

const channel = "killed";

/** Publishes numbers of its own, and notes the offset of each that was acknowledged. */
async function publishUntilKilled(
  publisher: number,
  acknowledged: Map<number, number>,
): Promise<void> {
  const { backend } = server;
  // The four of them together stay below the 100 publications that the channel keeps.
  for (let number = publisher * 1_000; number < publisher * 1_000 + 22; number++) {
    try {
      const { offset } = await backend.publish(channel, number);
      acknowledged.set(number, offset);
    } catch {
      return; // The server was killed.
    }
  }
}
