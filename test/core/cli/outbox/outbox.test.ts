import { describe, expect, it } from "vitest";
import { libpqDsn, type Waiting } from "../../../../cli/outbox/database.ts";
import { Journal } from "../../../../cli/outbox/journal.ts";
import { outboxLimits } from "../../../../cli/outbox/limits.ts";
import { parseTable } from "../../../../cli/outbox/table-sql.ts";
import { Turns } from "../../../../cli/outbox/turns.ts";
import { nowMs, recordedShell, shellOf } from "../recorded-shell.ts";

const secrets = { API_KEY: "key", OUTBOX_DSN: "postgresql://u:hunter2@127.0.0.1:1/app" };

describe("dormouse outbox", () => {
  it("prints the SQL of its tables, and of the trigger if there is a channel", async () => {
    const run = recordedShell();
    const { code, printed } = await run(["outbox", "--sql"]);
    expect(code).toBe(0);
    expect(printed).toContain("CREATE TABLE IF NOT EXISTS centrifugo_outbox (");
    expect(printed).toContain("CREATE TABLE IF NOT EXISTS centrifugo_outbox_refused (");
    expect(printed).not.toContain("TRIGGER");
    const options = ["--outbox-table-name", `app."Out box"`];
    const channel = ["--partition-notification-channel", "Changed"];
    const named = await run(["outbox", "--sql", ...options, ...channel]);
    expect(named.printed).toContain(`CREATE TABLE IF NOT EXISTS app."Out box_refused" (`);
    expect(named.printed).toContain("FUNCTION app.Out_box_notify()");
    // As LISTEN has it, which isn't quoted.
    expect(named.printed).toContain("pg_notify('changed'");
  });

  it.each([
    ["a", "a_refused"],
    ["a.b$1", "a.b$1_refused"],
    [`"A".b`, `"A".b_refused`],
    [`"A b"`, `"A b_refused"`],
  ])("takes the table %s", (name, refusedName) => {
    expect(parseTable(name)).toEqual({ name, refusedName });
  });

  it.each(["", "a b", "a;b", "a.b.c", "1a", `"a`, `a"b"`, "a'"])("refuses the table %j", (name) => {
    expect(parseTable(name)).toBeUndefined();
  });

  it.each<[string, readonly string[], Readonly<Record<string, string>>, RegExp]>([
    ["no database", [], { API_KEY: "key" }, /^OUTBOX_DSN is missing: set it in the environment/],
    ["no key", [], { OUTBOX_DSN: secrets.OUTBOX_DSN }, /^API_KEY is missing/],
    [
      "a database that is no address",
      [],
      { ...secrets, OUTBOX_DSN: "host=a password=hunter2" },
      /^OUTBOX_DSN takes an address such as postgresql:/,
    ],
    [
      "another kind of database",
      [],
      { ...secrets, OUTBOX_DSN: "mysql://u:hunter2@h/d" },
      /^OUTBOX_DSN takes an address such as postgresql:/,
    ],
    ["a table that is none", ["--outbox-table-name", "a;b"], secrets, /^--outbox-table-name takes/],
    [
      "a channel that is none",
      ["--partition-notification-channel", "a b"],
      secrets,
      /^--partition-notification-channel takes/,
    ],
    ["too many partitions", ["--num-partitions", "1001"], secrets, /from 1 to 1000/],
    ["an interval without a unit", ["--partition-poll-interval", "300"], secrets, /at least 10ms/],
  ])("refuses %s in a sentence", async (_, options, environment, sentence) => {
    const { code, printed, noted } = await recordedShell()(["outbox", ...options], { environment });
    expect([code, printed]).toEqual([2, ""]);
    expect(noted.replace(/^error: option '[^']*' is invalid\. /, "")).toMatch(sentence);
    expect(noted).not.toContain("hunter2");
  });

  it("says that nothing answers for its database", async () => {
    const { code, noted } = await recordedShell()(["outbox"], { environment: secrets });
    expect([code, noted]).toEqual([
      3,
      "the database of OUTBOX_DSN can't be reached: connect ECONNREFUSED 127.0.0.1:1",
    ]);
  });

  it("reads sslmode as other programs do", () => {
    const dsn = "postgresql://h/d";
    expect(libpqDsn(dsn)).toBe(dsn);
    expect(libpqDsn(`${dsn}?sslmode=require`)).toBe(`${dsn}?sslmode=require&uselibpqcompat=true`);
    expect(libpqDsn(`${dsn}?sslmode=no-verify`)).toBe(`${dsn}?sslmode=no-verify`);
  });
});

function waiting(rows: number): Waiting {
  return { rows, oldestSeconds: rows === 0 ? 0 : 2.04, strayed: 0 };
}

describe("the lines of dormouse outbox", () => {
  it("tell of trouble once, then once a minute, and of its end", () => {
    let atMs = nowMs;
    const { shell, printed } = shellOf("/");
    const journal = new Journal({ ...shell, nowMs: () => atMs }, false);
    journal.works("server");
    journal.fails("server", "the server answers with status 500");
    atMs += outboxLimits.troubleRepeatMs - 1;
    journal.fails("server", "the server answers with status 500");
    atMs += 1;
    journal.fails("server", "the server answers with status 502");
    journal.works("database");
    journal.works("server");
    expect(printed).toEqual([
      "rows wait: the server answers with status 500",
      "rows wait: the server answers with status 502",
      "the server works again, after 60 s",
    ]);
  });

  it("tell that the server works again when it does for all partitions", () => {
    const { shell, printed } = shellOf("/");
    const journal = new Journal(shell, false);
    journal.fails("server", "the server answers 111 too many requests", 1);
    journal.fails("server", "the server answers 111 too many requests", 2);
    journal.works("server", 0);
    journal.works("server", 1);
    expect(printed).toHaveLength(1);
    journal.works("server", 2);
    expect(printed.at(-1)).toBe("the server works again, after 0 s");
  });

  it("count what was done since the last one, and are silent if nothing is", () => {
    const { shell, printed } = shellOf("/");
    const journal = new Journal(shell, false);
    journal.report(waiting(0));
    journal.done(5);
    journal.refused("7", 0, "107 bad\nrequest");
    journal.report(waiting(3));
    journal.done(1);
    journal.report(waiting(0));
    journal.ended();
    expect(printed).toEqual([
      String.raw`row 7 is set aside: 107 bad\u000arequest`,
      "5 done, 1 set aside, 3 waiting, the oldest for 2 s",
      "1 done, 0 set aside, 0 waiting",
      "ended: 6 done, 1 set aside in all",
    ]);
  });

  it("are objects with a time where they are to be JSON", () => {
    const { shell, printed } = shellOf("/");
    const journal = new Journal(shell, true);
    journal.started("centrifugo_outbox", 4, "https://dormouse.example.com");
    journal.strayed(2, 4);
    expect(printed.map((line): unknown => JSON.parse(line))).toEqual([
      {
        time: "2026-11-22T12:00:00.000Z",
        event: "started",
        table: "centrifugo_outbox",
        partitions: 4,
        address: "https://dormouse.example.com",
      },
      { time: "2026-11-22T12:00:00.000Z", event: "strayed", rows: 2 },
    ]);
  });
});

describe("[B1] turns", () => {
  it("let so many tasks run at a time, in their order, also after one that fails", async () => {
    const turns = new Turns(2);
    const begun: number[] = [];
    const ends = [0, 1, 2, 3].map(() => Promise.withResolvers<number>());
    const results = ends.map(({ promise }, index) =>
      turns.run(() => {
        begun.push(index);
        return promise;
      }),
    );
    await Promise.resolve();
    expect(begun).toEqual([0, 1]);
    ends[1]?.reject(new Error("lost"));
    await expect(results[1]).rejects.toThrow("lost");
    expect(begun).toEqual([0, 1, 2]);
    for (const [index, { resolve }] of ends.entries()) resolve(index);
    expect(await Promise.allSettled(results)).toHaveLength(4);
    expect(begun).toEqual([0, 1, 2, 3]);
  });
});
