import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { describe, expect, it } from "vitest";
import { convert } from "../../../cli/migrate/conversion.ts";
import { outboxCommand } from "../../../cli/outbox/outbox.ts";
import { isJsonObject, jsonValue } from "../../../src/protocol/wire-value.ts";
import { recordedShell, shellOf, temporaryFolder } from "./recorded-shell.ts";

const dsn = "postgresql://app:hunter2@db:5432/app";
const postgresql = {
  dsn,
  outbox_table_name: "app.centrifugo_outbox",
  num_partitions: 8,
  partition_select_limit: 50,
  partition_poll_interval: "300ms",
  partition_notification_channel: "centrifugo_partition_change",
  use_try_lock: true,
};

/** Converts a configuration with consumers. */
function converted(...consumers: readonly object[]) {
  const document = jsonValue(
    JSON.stringify({ http_api: { key: "an-api-key-of-many-characters" }, consumers }),
  );
  return convert(isJsonObject(document) ? document : {}, () => "fresh");
}

function consumer(changes: object = {}, section: object = {}): object {
  const made = { name: "outbox", type: "postgresql", enabled: true };
  return { ...made, postgresql: { ...postgresql, ...section }, ...changes };
}

describe("[A8] a consumer of the type postgresql", () => {
  it("becomes a command line that the command takes, without its secret", () => {
    const { config, rows, outboxes, todo, secrets } = converted(consumer());
    const [outbox] = outboxes;
    expect(config).toEqual({});
    expect(rows.find(({ key }) => key === "consumers[0]")).toMatchObject({
      outcome: "platform",
      reason: "is dormouse outbox here, see docs/outbox.md",
    });
    expect(outbox?.commandLine).toBe(
      "dormouse outbox --url https://dormouse.example.com --secrets .dev.vars.outbox " +
        "--outbox-table-name app.centrifugo_outbox --num-partitions 8 --partition-select-limit 50 " +
        "--partition-poll-interval 300ms --partition-notification-channel centrifugo_partition_change",
    );
    const words = outbox?.commandLine.split(" ").slice(2) ?? [];
    expect(outboxCommand(shellOf("/").shell).parseOptions(words).unknown).toEqual([]);
    expect(outbox?.dsn).toBe(dsn);
    expect(JSON.stringify([rows, todo, secrets])).not.toContain("hunter2");
    expect(todo).toContain(`run what consumers[0] did beside the database: ${outbox?.commandLine}`);
  });

  it.each<[string, object, object, string, RegExp]>([
    ["an unknown option", {}, { num_partition: 4 }, "postgresql.num_partition", /^is unknown/],
    [
      "a value of another kind",
      {},
      { num_partitions: "many" },
      "postgresql.num_partitions",
      /^must be a whole number/,
    ],
  ])("says what isn't taken over: %s", (_, changes, section, place, reason) => {
    const { rows } = converted(consumer(changes, section));
    expect(rows).toContainEqual({
      key: `consumers[0].${place}`,
      outcome: "absent",
      becomes: "",
      reason: expect.stringMatching(reason),
    });
  });

  it("says what is left to do", () => {
    const { todo } = converted(consumer({}, { dsn: "${DSN}", tls: { enabled: true } }));
    expect(todo).toContain("set OUTBOX_DSN, the database of consumers[0]");
    expect(todo).toContain(
      "write sslmode=verify-full, and sslrootcert=FILE, into OUTBOX_DSN, for consumers[0].tls",
    );
  });

  it("quotes what a shell would take apart", () => {
    const { outboxes } = converted(consumer({}, { outbox_table_name: `"it's; rm"` }));
    expect(outboxes[0]?.commandLine).toContain(`--outbox-table-name '"it'\\''s; rm"' `);
  });

  it("is nothing if it is off", () => {
    const { outboxes, rows, todo } = converted(consumer({ enabled: false }));
    expect(outboxes).toEqual([]);
    expect(rows).toContainEqual(
      expect.objectContaining({ key: "consumers[0]", reason: "is off, or a default" }),
    );
    expect(todo.join(" ")).not.toContain("outbox");
  });

  it("has a file of secrets of its own, which only the user reads, and each has another one", async () => {
    const folder = temporaryFolder();
    const other = consumer({ name: "../../other" }, { dsn: `${dsn}2` });
    const document = { http_api: { key: "an-api-key-of-many-characters" } };
    const config = JSON.stringify({ ...document, consumers: [consumer(), other] });
    const { printed } = await recordedShell(
      { "config.json": config },
      folder,
    )(["migrate", "config.json"]);
    expect(printed).not.toContain("hunter2");
    const secretsIn = (name: string) => ({ ...parseEnv(readFileSync(join(folder, name), "utf8")) });
    const keys = { API_KEY: "an-api-key-of-many-characters" };
    const files = [".dev.vars.outbox-2", ".dev.vars.outbox"].map(secretsIn);
    expect(files.map(({ OUTBOX_DSN }) => OUTBOX_DSN)).toEqual([dsn, `${dsn}2`]);
    expect(secretsIn(".dev.vars.outbox")).toMatchObject(keys);
    expect(secretsIn(".dev.vars.migrated")).toEqual(keys);
    expect(statSync(join(folder, ".dev.vars.outbox")).mode & 0o777).toBe(0o600);
    expect(existsSync(join(folder, "wrangler.jsonc"))).toBe(true);
  });
});
