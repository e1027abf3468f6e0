import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { run } from "../../../cli/program.ts";
import { outboxCommand } from "../../../cli/outbox/outbox.ts";
import { documentedCommands } from "../../support/environments/documented-command.ts";
import { keyedMethods } from "../../../cli/outbox/row-command.ts";
import { operationNames } from "../../../src/api/operations.ts";
import { codeBlocksOf } from "../../support/documented-code.ts";
import { linkPackage } from "../../support/environments/installed-example.ts";
import { PythonEnvironment } from "../../support/environments/python-environment.ts";
import { Inbox } from "../../support/inbox.ts";
import { numbersOf, OutboxRows } from "../../support/outbox-rows.ts";
import { shellOf } from "../../core/cli/recorded-shell.ts";
import { Postgres } from "../../support/environments/postgres.ts";
import { freePort, listen } from "../../support/servers/listen.ts";
import { OutboxProcess } from "../../support/servers/outbox-process.ts";
import { ServedServer } from "../../support/servers/served-server.ts";
import { SdkClient } from "../../support/sockets/sdk-client.ts";
import { signToken, testSecrets } from "../../support/test-tokens.ts";

const programs = await Postgres.install();
const config = {
  client: { recovery_max_publication_limit: 20_000 },
  channel: {
    without_namespace: {
      allow_subscribe_for_client: true,
      history_size: 20_000,
      history_ttl: "1h",
      force_recovery: true,
    },
  },
};
const notifies = ["--partition-notification-channel", "centrifugo_partition_change"];

/** The blocks of code in a section of docs/outbox.md. */
function codeOf(section: string, language: string): readonly string[] {
  return codeBlocksOf("outbox.md")
    .filter((block) => block.heading === section && block.language === language)
    .map(({ code }) => code);
}

let folder: string;
let serveOptions: readonly string[];
let server: ServedServer;
let postgres: Postgres;
let dsn: string;
let rows: OutboxRows;
const processes: OutboxProcess[] = [];

beforeAll(async () => {
  if (programs === undefined) return;
  folder = mkdtempSync(join(tmpdir(), "dormouse-outbox-"));
  const port = String(await freePort());
  const variable = `config:${JSON.stringify(config)}`;
  serveOptions = ["--port", port, "--state", join(folder, "state"), "--var", variable];
  [server, postgres] = await Promise.all([
    ServedServer.start(serveOptions),
    Postgres.start(programs),
  ]);
  // The tables of the page, and a user with the rights that it names, and no others.
  const [tables = "", rights = ""] = codeOf("The table", "sql");
  await postgres.query(`${tables} CREATE USER publisher PASSWORD 'secret'; ${rights}`);
  rows = new OutboxRows(postgres);
  dsn = postgres.dsn("postgres", "publisher");
}, 300_000);
afterEach(async () => {
  await Promise.all(processes.splice(0).map((each) => each.kill()));
  if (programs !== undefined)
    await postgres.query("TRUNCATE centrifugo_outbox, centrifugo_outbox_refused RESTART IDENTITY");
});
afterAll(async () => {
  if (programs === undefined) return;
  await server.kill();
  await postgres.close();
  rmSync(folder, { recursive: true });
});

/** Starts the command, which ends with the test. */
async function outbox(...options: readonly string[]): Promise<OutboxProcess> {
  const url = ["--url", `http://127.0.0.1:${server.port}`];
  const started = await OutboxProcess.start([...url, ...options], {
    ...testSecrets,
    OUTBOX_DSN: dsn,
  });
  processes.push(started);
  return started;
}

/** The data that a channel has, in its order. */
async function published(channel: string): Promise<readonly unknown[]> {
  const { publications } = await server.backend.history(channel);
  return publications.map(({ data }) => data);
}

/** Ends the server's runtime at once; the script starts another one. */
function killRuntime(): void {
  process.kill(Number(readFileSync(join(folder, "state", "process"), "utf8")), "SIGKILL");
}

describe.runIf(programs !== undefined)("dormouse outbox", () => {
  it("[I1] [O3] [H5] publishes 4,800 rows once and in order, while it, the server and the database are killed", async () => {
    const [partitions, all, chunk] = [4, 4_800, 240];
    const options = ["--num-partitions", String(partitions), ...notifies];
    const address = `ws://127.0.0.1:${server.port}/connection/websocket`;
    const client = new SdkClient(address, { token: signToken({ sub: "listener" }) });
    const { publications } = await client.subscribed("killed1");
    let publisher = await outbox(...options);
    const killProcess = async () => {
      await publisher.kill();
      publisher = await outbox(...options);
    };
    const killDatabase = async () => {
      await postgres.kill();
      await postgres.run();
    };
    const killServer = async () => {
      await server.kill();
      server = await ServedServer.start(serveOptions);
    };
    const killBoth = async () => {
      await Promise.all([publisher.kill(), postgres.kill()]);
      await postgres.run();
      publisher = await outbox(...options);
    };
    /** What ends amid which part of the rows, and after how many publications of that part. */
    const ends = new Map<number, readonly [number, () => void | Promise<void>]>([
      [3, [10, killProcess]],
      [6, [30, killDatabase]],
      [9, [20, killServer]],
      [12, [40, killProcess]],
      [14, [40, killRuntime]],
      [17, [5, killBoth]],
    ]);
    for (let part = 0; part < all / chunk; part++) {
      await rows.insert("killed", part * chunk + 1, chunk, partitions);
      const [after, end] = ends.get(part) ?? [];
      if (end === undefined) continue;
      await publications.count((part * chunk) / partitions + (after ?? 0));
      await end();
    }
    await rows.emptied();
    for (const partition of [0, 1, 2, 3])
      expect(await published(`killed${partition}`)).toEqual(numbersOf(partition, all, partitions));
    const heard = await publications.count(all / partitions);
    expect(heard.map(({ data }): unknown => data)).toEqual(numbersOf(1, all, partitions));
    expect(client.reconnects).toBeGreaterThan(0);
    expect(await postgres.query("SELECT id FROM centrifugo_outbox_refused")).toEqual([]);
    expect(await publisher.stop()).toMatchObject({ event: "ended", refused: 0 });
    client.close();
  }, 180_000);

  it("[I1] shares partitions with another process, and takes those of one that is killed", async () => {
    const partitions = 8;
    const options = ["--num-partitions", "8", "--partition-select-limit", "10"];
    const polling = [...options, "--partition-poll-interval", "10ms"];
    const pair = [await outbox(...polling), await outbox(...polling)];
    await rows.insert("shared", 1, 1_600, partitions);
    await rows.emptied();
    const [one = 0, other = 0] = await Promise.all(
      pair.map(async (each) => (await each.stop())?.done),
    );
    // None was taken twice.
    expect(one + other).toBe(1_600);
    expect(one * other).toBeGreaterThan(0);
    const [killed, left] = [await outbox(...polling), await outbox(...polling)];
    await rows.insert("shared", 1_601, 1_600, partitions);
    await rows.until((waiting) => waiting < 1_400);
    await killed.kill();
    await rows.emptied();
    for (let partition = 0; partition < partitions; partition++)
      expect(await published(`shared${partition}`)).toEqual(
        numbersOf(partition, 3_200, partitions),
      );
    await left.stop();
  });

  it("[M5] sets aside what can't be carried out, with the reason, and goes on", async () => {
    const bytes = 10 << 20;
    const refused: readonly (readonly [
      method: string,
      payload: string,
      reason: string | RegExp,
    ])[] = [
      ["nope", "{}", /^there is no method nope$/],
      ["history", `{"channel":"aside"}`, /^history only reads/],
      ["publish", "[]", /^the payload is not a JSON object$/],
      ["publish", `{"channel":"unknown:x","data":1}`, /^102 unknown channel \(channel\.namespaces/],
      ["publish", `{"channel":7,"data":1}`, /channel must be a string/],
      ["publish", `{"channel":"aside"}`, /^107 bad request/],
      ["publish", `{"channel":"aside","data":"${"x".repeat(2 << 20)}"}`, /^107 .*1048576 bytes/],
      [
        "publish",
        `{"channel":"aside","data":"${"x".repeat(bytes)}"}`,
        /^the payload has 104857\d\d bytes/,
      ],
      [
        "broadcast",
        `{"channels":["aside","unknown:x"],"data":"both"}`,
        /^channel 2 of the broadcast: 102/,
      ],
    ];
    const publisher = await outbox(...notifies, "--num-partitions", "2");
    const values = refused.flatMap(([method, payload], index) => [
      [method, payload],
      ["publish", JSON.stringify({ channel: "aside", data: index })],
    ]);
    await postgres.query(
      `INSERT INTO centrifugo_outbox (method, payload)
        SELECT method, payload FROM unnest($1::text[], $2::jsonb[]) AS given (method, payload)`,
      [values.map(([method]) => method), values.map(([, payload]) => payload)],
    );
    await rows.emptied();
    const aside = await postgres.query<{ method: string; reason: string }>(
      "SELECT method, reason FROM centrifugo_outbox_refused ORDER BY id",
    );
    expect(aside).toEqual(
      refused.map(([method, , reason]) => ({
        method,
        reason: expect.stringMatching(reason),
      })),
    );
    const data = await published("aside");
    expect(data.filter((each) => each !== "both")).toEqual(refused.map((_, index) => index));
    expect(data).toContain("both");
    // Nothing is mended, so they come back.
    const [again = ""] = codeOf("Rows that can't be carried out", "sql");
    await postgres.query(again);
    await publisher.lines.count(2 * refused.length + 1);
    await rows.emptied();
    const { refused: told } = (await publisher.stop()) ?? {};
    expect(told).toBe(2 * refused.length);
  });

  it("[N12] publishes each digit that the transaction wrote, and tells of partitions that nobody takes", async () => {
    await postgres.query(`INSERT INTO centrifugo_outbox (method, payload, partition) VALUES
      ('publish', '{"channel":"digits","data":[1.50,12345678901234567890]}', 0),
      ('publish', '{"channel":"digits","data":1}', 5)`);
    const publisher = await outbox();
    expect(await publisher.lines.first(({ event }) => event === "strayed")).toMatchObject({
      rows: 1,
    });
    await rows.emptied(1);
    const answer = await fetch(`http://127.0.0.1:${server.port}/api/history`, {
      method: "POST",
      headers: { "X-API-Key": testSecrets.API_KEY },
      body: `{"channel":"digits","limit":10}`,
    });
    expect(await answer.text()).toContain(`"data":[1.50, 12345678901234567890]`);
  });

  it("[A7] says in a sentence that the server has another key", async () => {
    const environment = { OUTBOX_DSN: dsn, API_KEY: "hunter2" };
    const { shell, printed, noted } = shellOf(folder, environment);
    const code = await run(["outbox", "--url", `http://127.0.0.1:${server.port}`], shell);
    expect([code, printed]).toEqual([1, []]);
    expect(noted).toEqual([
      "the server refuses the key: API_KEY is another one there (status 401)",
    ]);
  });

  it("keeps the rows of a server that refuses the key, or doesn't answer, and ends all the same", async () => {
    const requests = new Inbox<number>();
    const statuses = [200, 401, 503];
    const other = createServer((request, response) => {
      request.resume();
      const status = statuses.shift();
      requests.push(status ?? 0);
      if (status !== undefined) response.writeHead(status).end(`{"replies":[]}`);
    });
    const port = await listen(other);
    const secrets = { ...testSecrets, OUTBOX_DSN: dsn };
    const publisher = await OutboxProcess.start(["--url", `http://127.0.0.1:${port}`], secrets);
    processes.push(publisher);
    await rows.insert("away", 1, 2, 1);
    expect(await requests.count(4)).toEqual([200, 401, 503, 0]);
    expect(await publisher.stop()).toMatchObject({ event: "ended", done: 0, refused: 0 });
    const troubles = publisher.lines.all.filter(({ event }) => event === "trouble");
    expect(troubles).toMatchObject([{ side: "server" }]);
    other.closeAllConnections();
    other.close();
    await rows.emptied(2);
  });
});

describe.runIf(programs !== undefined)("docs/outbox.md", () => {
  it("has the SQL that the command prints, and a first row", async () => {
    const { shell, printed } = shellOf(folder);
    await run(["outbox", "--sql", ...notifies], shell);
    expect(`${printed.join("\n")}\n`).toBe(codeOf("The table", "sql")[0]);
    const commands = documentedCommands(["docs/outbox.md"]).commands.flatMap(({ text }) =>
      Array.from(text.matchAll(/^dormouse outbox ([^|]+)/g), ([, options = ""]) => options),
    );
    expect(commands).toHaveLength(2);
    for (const options of commands)
      expect(outboxCommand(shell).parseOptions(options.trim().split(" ")).unknown).toEqual([]);
    await postgres.query(codeOf("A first row", "sql").join(""));
    await outbox();
    await rows.emptied();
    expect(await published("news")).toEqual([{ text: "hello" }]);
  });

  it("has each method that changes something, with what its repetition does", () => {
    const page = readFileSync("docs/outbox.md", "utf8");
    const table = Array.from(page.matchAll(/^\| (`\w+`(?:, `\w+`)*) \| (.*) \|$/gm));
    const named = new Set(
      table
        .filter(([, , second = ""]) => !second.startsWith("`") && !second.includes("OUTBOX_DSN"))
        .flatMap(([, names = ""]) => names.replaceAll("`", "").split(", ")),
    );
    const changing = operationNames(({ changes }) => changes === true);
    expect(changing.filter((name) => !named.has(name))).toEqual([]);
    const [keyed = ""] = table.flatMap(([, names = "", does]) =>
      does === "does nothing" ? names : [],
    );
    expect(new Set(keyed.replaceAll("`", "").split(", "))).toEqual(keyedMethods);
  });

  it("publishes what a view of Django commits, and nothing of what it rolls back", async (test) => {
    const [realtime = "", view = ""] = codeOf("Django", "python");
    writeFileSync(join(folder, "realtime.py"), realtime);
    writeFileSync(join(folder, "views.py"), view);
    const python = await PythonEnvironment.open();
    const script = python.run(test, "outbox_django", { folder, port: postgres.port });
    const { answer } = await script.next("committed");
    await script.ended();
    expect(answer).toMatchObject({ id: 1 });
    await outbox();
    await rows.emptied();
    expect(await published("groups")).toEqual([{ id: 1, name: "readers" }]);
  }, 300_000);

  it("publishes what Express commits, and nothing of what it rolls back", async () => {
    await postgres.query(
      "CREATE TABLE orders (id SERIAL, item TEXT UNIQUE DEFERRABLE INITIALLY DEFERRED)",
    );
    const place = join(folder, "express");
    mkdirSync(place);
    writeFileSync(join(place, "package.json"), `{"dependencies":{"express":"5.3.0"}}`);
    const install = ["install", "--prefer-offline", "--no-audit", "--no-fund"];
    await promisify(execFile)("npm", install, { cwd: place });
    linkPackage(place, "pg");
    writeFileSync(join(place, "app.mjs"), codeOf("Express", "js").join(""));
    const port = await freePort();
    const app = spawn(process.execPath, ["app.mjs"], {
      cwd: place,
      env: { ...process.env, DATABASE_URL: postgres.dsn(), PORT: String(port) },
      stdio: "ignore",
    });
    try {
      const order = async () => {
        const options = { method: "POST", headers: { "Content-Type": "application/json" } };
        const body = JSON.stringify({ item: "a book" });
        const answer = await fetch(`http://127.0.0.1:${port}/orders`, { ...options, body });
        return answer.status;
      };
      await expect.poll(() => order().catch(() => undefined)).toBe(201);
      // The transaction fails when it commits, and the row is in it.
      expect(await order()).toBe(500);
    } finally {
      app.kill("SIGKILL");
    }
    await outbox();
    await rows.emptied();
    expect(await published("orders")).toEqual([{ id: 1, item: "a book" }]);
  });
});
