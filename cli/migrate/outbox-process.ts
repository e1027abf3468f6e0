/** Makes a command line of `dormouse outbox` of a consumer of the type `postgresql` (docs/outbox.md). */
import { isPlaceholder } from "../../src/access/secrets.ts";
import { isJsonObject, type JsonObject } from "../../src/protocol/wire-value.ts";
import { shown } from "../text/printable.ts";

/** The process that does what a consumer did. */
export interface OutboxProcess {
  /** Of the secrets with which it runs. */
  readonly file: string;
  /** The address of the database, which may have a password; undefined if the source has none. */
  readonly dsn: string | undefined;
  /** What a person types, without a secret. */
  readonly commandLine: string;
  /** Sentences about what is left to do. */
  readonly todo: readonly string[];
}

/**
 * The process for a consumer.
 *
 * @param file  of its secrets
 * @param place of the consumer in the source, for sentences
 */
export function outboxProcess(consumer: JsonObject, file: string, place: string): OutboxProcess {
  const section = consumer["postgresql"] ?? {};
  const given = isJsonObject(section) ? section : {};
  const { dsn, tls } = given;
  const address = typeof dsn === "string" && dsn !== "" && !isPlaceholder(dsn) ? dsn : undefined;
  const options = optionNames.flatMap((name) => {
    const value = given[name];
    if (typeof value !== "string" && typeof value !== "number") return [];
    return value === "" || value === 0 ? [] : [`--${name.replaceAll("_", "-")} ${word(value)}`];
  });
  const commandLine = [
    "dormouse outbox --url https://dormouse.example.com",
    `--secrets ${file}`,
    ...options,
  ].join(" ");
  const hasTls = tls !== undefined && isJsonObject(tls) && tls["enabled"] === true;
  return {
    file,
    dsn: address,
    commandLine,
    todo: [
      `run what ${place} did beside the database: ${commandLine}`,
      `make the table of rows that can't be carried out: dormouse outbox --sql prints it`,
      ...(address === undefined ? [`set OUTBOX_DSN, the database of ${place}`] : []),
      ...(hasTls
        ? [`write sslmode=verify-full, and sslrootcert=FILE, into OUTBOX_DSN, for ${place}.tls`]
        : []),
    ],
  };
}

/** The options of Centrifugo that the command has, too, in their order. */
const optionNames = [
  "outbox_table_name",
  "num_partitions",
  "partition_select_limit",
  "partition_poll_interval",
  "partition_notification_channel",
] as const;

/** A word of a shell's command line. */
function word(value: string | number): string {
  const text = shown(value);
  return /^[\w.:/-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
