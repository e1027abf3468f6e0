import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { isCommandName, operationNames } from "../../../src/api/operations.ts";
import { missingMethods } from "../../../src/api/methods.ts";
import { publicationFields } from "../../../src/api/publish.ts";
import { disconnectCodes, errorCodes, unsubscribeCodes } from "../../../src/protocol/codes.ts";
import type {
  CommandMethod,
  ConnectRequest,
  HistoryRequest,
  PublishRequest,
  SubRefreshRequest,
  SubscribeRequest,
} from "../../../src/protocol/command.ts";

interface Row {
  readonly section: string;
  /** The subject of the row: the first cell. */
  readonly what: string;
  /** The names in the first cell that stand in backticks. */
  readonly names: readonly string[];
  readonly second: string;
}

/** The rows of all tables of a document whose headings are `## …`, without the heads of the tables. */
function rowsOf(document: string): readonly Row[] {
  const rows: Row[] = [];
  let section = "";
  const lines = readFileSync(document, "utf8").split("\n");
  for (const [index, line] of lines.entries()) {
    if (line.startsWith("## ")) section = line.slice(3);
    const isHead = lines[index + 1]?.startsWith("| ---") === true;
    if (!line.startsWith("|") || line.startsWith("| ---") || isHead) continue;
    const [, what = "", second = ""] = line.split("|").map((cell) => cell.trim());
    const names = Array.from(what.matchAll(/`([^`]+)`/g), ([, name = ""]) => name);
    rows.push({ section, what, names, second });
  }
  return rows;
}

const featureTable = "docs/compatibility.md";
const features = rowsOf(featureTable);

function keyOf({ section, what }: Row): string {
  return `${section}: ${what}`;
}

function rowsIn(section: string): readonly Row[] {
  return features.filter((row) => row.section === section);
}

/** The second cell of the feature row that names something. Fails when no row, or more than one, does. */
function statusOf(section: string, name: string): string {
  const [found, another] = rowsIn(section).filter(({ names }) => names.includes(name));
  if (found === undefined) throw new Error(`no row of ${section} names ${name}`);
  if (another !== undefined) throw new Error(`two rows of ${section} name ${name}`);
  return found.second;
}

describe("a row of docs/compatibility.md", () => {
  it("[W1] has two cells", () => {
    const lines = readFileSync(featureTable, "utf8").split("\n");
    const tables = lines.filter((line) => line.startsWith("|"));
    expect(tables.filter((line) => line.split("|").length !== 4)).toStrictEqual([]);
  });

  it("[W1] has a first cell that no other row of its section has", () => {
    const keys = features.map(keyOf);
    expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toStrictEqual([]);
  });

  it("[W1] says in one of five words what Dormouse does", () => {
    const words = /^(yes|refused|ignored|not yet|never)\b/;
    expect(features.filter(({ second }) => !words.test(second))).toStrictEqual([]);
  });
});

describe("the codes in docs/compatibility.md", () => {
  const sections = [
    ["Error codes", Object.values(errorCodes).map(({ code, message }) => `${code} ${message}`)],
    ["Disconnect codes", reasonsOf(disconnectCodes)],
    ["Unsubscribe codes", reasonsOf(unsubscribeCodes)],
  ] as const;

  it.each(sections)(
    "[W1] are for %s with a yes exactly those that Dormouse has",
    (section, codes) => {
      const had = rowsIn(section).filter(({ second }) => second.startsWith("yes"));
      expect(had.map(({ what }) => what)).toStrictEqual(codes);
    },
  );
});

function reasonsOf(codes: Record<string, { code: number; reason: string }>): readonly string[] {
  return Object.values(codes).map(({ code, reason }) => `${code} ${reason}`);
}

/** The compiler sees to it that none is missing here and in the maps below. */
const commands: Record<Exclude<CommandMethod, "pong">, true> = {
  connect: true,
  subscribe: true,
  unsubscribe: true,
  publish: true,
  presence: true,
  presence_stats: true,
  history: true,
  refresh: true,
  sub_refresh: true,
  rpc: true,
  send: true,
  ping: true,
};

const fields: {
  readonly connect: Record<keyof ConnectRequest, string>;
  readonly subscribe: Record<keyof SubscribeRequest, string>;
  readonly publish: Record<keyof PublishRequest, string>;
  readonly history: Record<keyof HistoryRequest, string>;
  readonly sub_refresh: Record<keyof SubRefreshRequest, string>;
} = {
  connect: {
    token: "token",
    data: "data",
    name: "name",
    version: "version",
    headers: "headers",
    subscriptions: "subs",
  },
  subscribe: {
    channel: "channel",
    token: "token",
    recover: "recover",
    epoch: "epoch",
    offset: "offset",
    positioned: "positioned",
    recoverable: "recoverable",
    joinLeave: "join_leave",
    delta: "delta",
    filter: "tf",
    data: "data",
    flag: "flag",
    type: "type",
    phase: "phase",
    cursor: "cursor",
    limit: "limit",
    asc: "asc",
  },
  publish: { channel: "channel", data: "data", type: "type", key: "key", removed: "removed" },
  history: { channel: "channel", limit: "limit", since: "since", reverse: "reverse" },
  sub_refresh: {
    channel: "channel",
    token: "token",
    type: "type",
    track: "track",
    untrack: "untrack",
  },
};

describe("the client protocol in docs/compatibility.md", () => {
  it.each(Object.keys(commands))("[W1] has a row for the command %s", (method) => {
    expect(statusOf("Commands", method)).toMatch(/^yes\b/);
  });

  const fieldNames = Object.entries(fields).flatMap(([method, names]) =>
    Object.values(names).map((name) => `${method}.${name}`),
  );
  it.each(fieldNames)("[W1] has a row for the field %s, which is read", (name) => {
    expect(statusOf("Fields of commands", name)).not.toBe("");
  });
});

describe("the HTTP API in docs/compatibility.md", () => {
  it.each([...operationNames().filter(isCommandName), "batch"])(
    "[W1] has a row for the method %s",
    (method) => {
      expect(statusOf("Methods of the HTTP API", method)).toMatch(/^yes\b/);
    },
  );

  it.each(missingMethods)("[W1] doesn't have the method %s", (method) => {
    expect(statusOf("Methods of the HTTP API", method)).toMatch(/^not yet\b/);
  });

  it.each(["channel", "data", "version", ...Object.keys(publicationFields())])(
    "[W1] has a row for the field %s of a publish",
    (field) => {
      const about = rowsIn("Fields of the HTTP API").filter(({ what }) =>
        what.startsWith("`publish`:"),
      );
      expect(about.filter(({ names }) => names.includes(field))).toHaveLength(1);
    },
  );
});
