import { isJsonObject, type JsonObject, type JsonValue } from "../../../src/protocol/wire-value.ts";
import type { Variables } from "../compose/interpolation.ts";
import type { Row } from "../conversion.ts";
import { type FoundApp, type FoundServer, reasons, rowWithout } from "./found-server.ts";
import { readPhpArray } from "./php-array.ts";

/**
 * Reads Laravel's `config/reverb.php`.
 *
 * @param given the variables of the application's `.env`
 * @returns undefined if it has no applications
 */
export function readReverb(text: string, given: Variables): FoundServer | undefined {
  const read = readPhpArray(text, given);
  const { apps: section } = read?.array ?? {};
  const apps = section !== undefined && isJsonObject(section) ? section["apps"] : undefined;
  if (read === undefined || apps === undefined || !isJsonObject(apps)) return undefined;
  const nameAt = (path: string) => read.variables.get(path) ?? path;
  const all = Object.entries(apps).map(([index, app]) =>
    readApp(isJsonObject(app) ? app : {}, (key) => nameAt(`apps.apps.${index}.${key}`)),
  );
  const { apps: _, ...others } = read.array;
  const rows = Object.keys(others).map((key) =>
    rowWithout(key, "platform", key === "servers" ? reasons.machine : "has no effect here"),
  );
  const unread = read.unread
    .filter((path) => /^apps\.apps(?:\.|$)/.test(path))
    .map((path) => `${path} is computed by PHP: write what it is`);
  return { apps: all, rows, unread, todo: [] };
}

function readApp(app: JsonObject, nameOf: (key: string) => string): FoundApp {
  const textAt = (key: string) => ({ from: nameOf(key), value: textOf(app[key]) });
  const from = nameOf("accept_client_events_from");
  const members = textOf(app["accept_client_events_from"] ?? "members");
  const { allowed_origins: origins } = app;
  const hosts = origins !== undefined && isJsonObject(origins) ? origins : { 0: "*" };
  const known = new Set([
    "app_id",
    "key",
    "secret",
    "accept_client_events_from",
    "allowed_origins",
  ]);
  const rows = Object.keys(app)
    .filter((key) => !known.has(key))
    .map((key) => rowOf(key, nameOf(key)));
  return {
    id: textAt("app_id"),
    key: textAt("key"),
    secret: textAt("secret"),
    options: [{ from, option: "enable_client_messages", value: members !== "none" }],
    hosts: { from: nameOf("allowed_origins"), value: Object.values(hosts).map(textOf) },
    rows:
      members === "all"
        ? [...rows, rowWithout(from, "absent", "is members here: others send no events")]
        : rows,
  };
}

function rowOf(key: string, name: string): Row {
  if (key === "options") return rowWithout(name, "platform", reasons.address);
  if (/ping|timeout/.test(key)) return rowWithout(name, "platform", reasons.pings);
  if (/^max_|rate_limiting/.test(key)) return rowWithout(name, "absent", reasons.bound);
  return rowWithout(name, "absent", "is unknown");
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}
