import { createServer } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { run } from "../../../cli/program.ts";
import { shellOf } from "../../core/cli/recorded-shell.ts";
import { codeBlocksOf } from "../../support/documented-code.ts";
import { Postgres } from "../../support/environments/postgres.ts";
import { Inbox } from "../../support/inbox.ts";
import { OutboxRows } from "../../support/outbox-rows.ts";
import { listen } from "../../support/servers/listen.ts";
import { OutboxProcess } from "../../support/servers/outbox-process.ts";
import { testSecrets } from "../../support/test-tokens.ts";

// What ends, or waits, before the server has a part in it. outbox.test.ts has all else.
const programs = await Postgres.install();

let postgres: Postgres;
let dsn: string;

beforeAll(async () => {
  if (programs === undefined) return;
  postgres = await Postgres.start(programs);
  const sql = codeBlocksOf("outbox.md").filter(({ heading }) => heading === "The table");
  const [tables, rights] = sql.map(({ code }) => code);
  await postgres.query(`${tables} CREATE USER publisher PASSWORD 'secret'; ${rights}`);
  dsn = postgres.dsn("postgres", "publisher");
}, 300_000);
afterAll(async () => {
  if (programs !== undefined) await postgres.close();
});

/** Runs the command, which has to end by itself. */
async function refusal(
  options: readonly string[],
  secrets: Readonly<Record<string, string>>,
): Promise<readonly [number, string]> {
  const url = ["--url", "http://127.0.0.1:1"];
  const { shell, printed, noted } = shellOf("/", {
    ...testSecrets,
    OUTBOX_DSN: dsn,
    ...secrets,
  });
  const code = await run(["outbox", ...url, ...options], shell);
  expect(printed).toEqual([]);
  return [code, noted.join("\n")];
}

describe.runIf(programs !== undefined)("dormouse outbox that can't begin", () => {
  it.each<
    [
      string,
      readonly string[],
      (() => Readonly<Record<string, string>>) | undefined,
      number,
      RegExp,
    ]
  >([
    [
      "a table that isn't there",
      ["--outbox-table-name", "nothing"],
      undefined,
      2,
      /^relation "nothing" does not exist: dormouse outbox --sql prints the SQL of nothing and nothing_refused$/,
    ],
    [
      "a table with other columns",
      ["--outbox-table-name", "pg_catalog.pg_class"],
      undefined,
      2,
      /^column "id" does not exist: dormouse outbox --sql prints/,
    ],
    [
      "a table that its user may not read",
      ["--outbox-table-name", "centrifugo_outbox_refused"],
      undefined,
      2,
      /^permission denied for table centrifugo_outbox_refused; the user of OUTBOX_DSN needs SELECT and DELETE on/,
    ],
    [
      "a database that is only read",
      [],
      () => ({ OUTBOX_DSN: `${dsn}?options=-c%20default_transaction_read_only%3Don` }),
      2,
      /^the database refuses OUTBOX_DSN: cannot execute INSERT in a read-only transaction$/,
    ],
    [
      "a wrong password",
      [],
      () => ({ OUTBOX_DSN: dsn.replace("secret", "hunter2") }),
      2,
      /^the database refuses OUTBOX_DSN: password authentication failed for user "publisher"$/,
    ],
    [
      "a database that isn't there",
      [],
      () => ({ OUTBOX_DSN: postgres.dsn("nothing", "publisher") }),
      2,
      /^the database refuses OUTBOX_DSN: database "nothing" does not exist$/,
    ],
    [
      "a host that isn't there",
      [],
      () => ({ OUTBOX_DSN: "postgresql://u:hunter2@nowhere.invalid/d" }),
      3,
      /^the database of OUTBOX_DSN can't be reached: getaddrinfo \w+ nowhere\.invalid$/,
    ],
    [
      "a database without TLS where it is asked for",
      [],
      () => ({ OUTBOX_DSN: `${dsn}?sslmode=require` }),
      3,
      /^the database of OUTBOX_DSN can't be reached: The server does not support SSL connections$/,
    ],
    ["a server that isn't there", [], undefined, 3, /^http:\/\/127\.0\.0\.1:1 can't be reached: /],
  ])(
    "says so in a sentence, and leaves nothing behind: %s",
    async (_, options, secrets, code, sentence) => {
      const [ended, noted] = await refusal(options, secrets?.() ?? {});
      expect(noted).toMatch(sentence);
      expect(noted).not.toContain("hunter2");
      expect(ended).toBe(code);
      const connections =
        "SELECT pid FROM pg_stat_activity WHERE application_name = 'dormouse outbox'";
      await expect.poll(() => postgres.query(connections)).toEqual([]);
      const tables = await postgres.query(
        "SELECT relname FROM pg_class WHERE relname ~ '^nothing'",
      );
      expect(tables).toEqual([]);
    },
  );

  it.each([200, 404])(
    "says so in a sentence: a URL where something else answers %i",
    async (status) => {
      const other = createServer((request, response) => {
        request.resume();
        response.writeHead(status).end("<html>");
      });
      const port = await listen(other);
      const [code, noted] = await refusal(["--url", `http://127.0.0.1:${port}`], {});
      other.close();
      expect(code).toBe(1);
      expect(noted).toContain(`isn't Dormouse`);
    },
  );
});

describe.runIf(programs !== undefined)("dormouse outbox that may not delete rows any more", () => {
  it("[I1] doesn't send them again until it may, because the server forgets their keys", async () => {
    const requests = new Inbox<string>();
    const other = createServer((request, response) => {
      request.resume();
      requests.push(request.url ?? "");
      response.end(request.url === "/api/batch" ? `{"replies":[]}` : `{"result":{}}`);
    });
    const port = await listen(other);
    const secrets = { ...testSecrets, OUTBOX_DSN: dsn };
    const publisher = await OutboxProcess.start(["--url", `http://127.0.0.1:${port}`], secrets);
    await postgres.query("REVOKE DELETE ON centrifugo_outbox FROM publisher");
    const before = postgres.log.all.length;
    const rows = new OutboxRows(postgres);
    await rows.insert("revoked", 1, 1, 1);
    const denials = () =>
      postgres.log.all.slice(before).filter((line) => line.includes("permission denied")).length;
    await expect.poll(denials).toBeGreaterThan(2);
    await publisher.lines.first(({ event, side }) => event === "trouble" && side === "database");
    expect(requests.all).toEqual(["/api/batch", "/api/publish"]);
    await postgres.query("GRANT DELETE ON centrifugo_outbox TO publisher");
    await rows.emptied();
    expect(requests.all).toEqual(["/api/batch", "/api/publish", "/api/publish"]);
    await publisher.kill();
    other.close();
  });
});
