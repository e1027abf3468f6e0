import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../../src/protocol/wire-value.ts";
import { parseFile } from "../../configuration/document.ts";
import type { Variables } from "../compose/interpolation.ts";
import type { Row } from "../conversion.ts";
import { parsePath, pathText, Tree } from "../tree.ts";
import { type FoundApp, type FoundServer, reasons, rowWithout } from "./found-server.ts";

/** Whether a document is a configuration of soketi, whose keys are flat, nested or both. */
export function isSoketi(document: JsonObject): boolean {
  return Object.keys(document).some((key) => /^appManager(?:\.|$)/.test(key));
}

/**
 * Reads soketi's JSON.
 *
 * @param given variables of soketi, which win over the file
 */
export function readSoketi(document: JsonObject, given: Variables): FoundServer {
  const root = nested(document);
  const manager = objectAt(root, "appManager");
  const list = objectAt(manager, "array")["apps"] ?? [];
  const apps = isJsonArray(list) ? list.filter(isJsonObject) : [];
  const place = "appManager.array.apps";
  const on = apps.flatMap((app, index) =>
    app["enabled"] === false ? [] : [readApp(app, `${place}[${index}].`)],
  );
  const off = apps.flatMap((app, index) =>
    app["enabled"] === false ? [rowWithout(`${place}[${index}]`, "platform", "is off")] : [],
  );
  const { appManager: _, ...others } = root;
  const rows = Object.keys(others).map(rowOf);
  const fromVariables = readSoketiVariables(given);
  return {
    apps: [...on, ...(fromVariables?.apps ?? [])],
    rows: [...off, ...rows, ...(fromVariables?.rows ?? [])],
    unread: [...elsewhere(manager["driver"]), ...(fromVariables?.unread ?? [])],
    todo: [],
  };
}

/** Reads soketi's variables. @returns undefined if there are none */
export function readSoketiVariables(given: Variables): FoundServer | undefined {
  const all = Object.entries(given).flatMap(([name, text = ""]) =>
    name.startsWith("SOKETI_") && text !== "" ? [[name, text] as const] : [],
  );
  if (all.length === 0) return undefined;
  const own = all.filter(([name]) => name.startsWith(appPrefix));
  const app: Record<string, JsonValue> = {};
  const names = new Map<string, string>();
  for (const [name, text] of own) {
    const option = name
      .slice(appPrefix.length)
      .toLowerCase()
      .replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    names.set(option, name);
    app[option] = isText(option) ? text : valueOf(text);
  }
  const rest = all.filter(([name]) => !name.startsWith(appPrefix));
  const driver = given["SOKETI_APP_MANAGER_DRIVER"];
  return {
    apps: own.length === 0 ? [] : [readApp(app, "", names)],
    rows: rest.map(([name]) => rowWithout(name, "platform", reasons.machine)),
    unread: elsewhere(driver),
    todo: [],
  };
}

const appPrefix = "SOKETI_DEFAULT_APP_";

/** Whether an option's value stays a text although it may look like a number. */
function isText(option: string): boolean {
  return ["id", "key", "secret"].includes(option);
}

/** The value of a variable, which is JSON, a switch such as 1, or a text. */
function valueOf(text: string): JsonValue {
  if (/^(?:true|1)$/i.test(text)) return true;
  if (/^(?:false|0)$/i.test(text)) return false;
  const parsed = parseFile("a variable", `{"value":${text}}`);
  return parsed.outcome === "document" ? (parsed.document["value"] ?? text) : text;
}

/** @param names of the options in the source, where these aren't their own after the prefix */
function readApp(
  app: JsonObject,
  prefix: string,
  names: ReadonlyMap<string, string> = new Map(),
): FoundApp {
  const nameOf = (option: string) => names.get(option) ?? `${prefix}${option}`;
  const textAt = (option: string, otherwise: string) => {
    const { [option]: value = otherwise } = app;
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return { from: nameOf(option), value: text };
  };
  const options = Object.entries(own).flatMap(([theirs, option]) => {
    const value = app[theirs];
    return value === undefined ? [] : [{ from: nameOf(theirs), option, value }];
  });
  const known = new Set(["id", "key", "secret", "enabled", ...Object.keys(own)]);
  const rows = Object.keys(app)
    .filter((option) => !known.has(option))
    .map((option) => rowWithout(nameOf(option), "absent", reasons.bound));
  return {
    // soketi's own defaults.
    id: textAt("id", "app-id"),
    key: textAt("key", "app-key"),
    secret: textAt("secret", "app-secret"),
    options,
    hosts: undefined,
    rows,
  };
}

/** The options of an application, by soketi's names. */
const own: Readonly<Record<string, string>> = {
  enableClientMessages: "enable_client_messages",
  enableUserAuthentication: "require_signin",
  webhooks: "webhooks",
};

function rowOf(key: string): Row {
  if (["host", "port", "pathPrefix", "ssl"].includes(key))
    return rowWithout(key, "platform", reasons.address);
  return rowWithout(key, "platform", reasons.machine);
}

function elsewhere(driver: JsonValue | undefined): readonly string[] {
  return driver === undefined || driver === "array"
    ? []
    : [
        "the applications are in a database, which wasn't read: write them as appManager.array.apps",
      ];
}

/** The sections of keys such as `appManager.array.apps`. */
function nested(document: JsonObject): JsonObject {
  const tree = new Tree();
  for (const [path, value] of new Tree(document).leaves())
    tree.set(parsePath(pathText(path)), value);
  return tree.root;
}

function objectAt(from: JsonObject, key: string): JsonObject {
  const value = from[key];
  return value !== undefined && isJsonObject(value) ? value : {};
}
