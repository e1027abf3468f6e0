import { readFileSync } from "node:fs";
import { Type } from "protobufjs";
import { describe, expect, it } from "vitest";
import { isCommandName, operationNames } from "../../../src/api/operations.ts";
import { missingMethods } from "../../../src/api/methods.ts";
import { publicationFields } from "../../../src/api/publish.ts";
import { disconnectCodes, errorCodes, unsubscribeCodes } from "../../../src/protocol/codes.ts";
import { proto } from "../protocol/protobuf/peers.ts";

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

/** The requests of client.proto by their names in a command; another test holds client.proto to what is read. */
const requests = proto
  .lookupType("Command")
  .fieldsArray.filter((field) => field.resolve().resolvedType instanceof Type);

describe("the client protocol in docs/compatibility.md", () => {
  it.each(requests)("[W1] has a row for the command $name", ({ name }) => {
    expect(statusOf("Commands", name)).toMatch(/^yes\b/);
  });

  const fieldNames = requests.flatMap(({ name, resolvedType }) =>
    resolvedType instanceof Type
      ? resolvedType.fieldsArray.map((field) => `${name}.${field.name}`)
      : [],
  );
  it.each(fieldNames)("[W1] has a row for the field %s of a command", (name) => {
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
