import { readFileSync } from "node:fs";
import { Type } from "protobufjs";
import { describe, expect, it } from "vitest";
import { ignoredFields, neverSentFields, proto } from "../protocol/protobuf/peers.ts";

/** The rows of all tables: the messages in the first cell, and the cell of the fields that Dormouse sends or reads. */
const rows = readFileSync("docs/protocol.md", "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| "))
  .map((line) => {
    const [, messages = "", fields = ""] = line.split("|");
    return { messages: messages.split(",").map((name) => name.trim()), fields };
  });

/** Messages without a row: they have no fields, or are never sent. */
const withoutRow: ReadonlySet<string> = new Set(["Connect", "Message", "PingResult"]);

/** The page says of a reply's `ping` that it is never sent. */
const unusedFields: Readonly<Record<string, readonly string[]>> = {
  ...neverSentFields,
  ...ignoredFields,
  Reply: [],
};

const { parent } = proto.lookupType("Reply");
const messages = parent?.nestedArray.filter((one) => one instanceof Type) ?? [];

describe("the tables of messages in docs/protocol.md", () => {
  // Another test holds client.proto to what is written and read.
  it.each(messages.filter(({ name }) => !withoutRow.has(name)))(
    "[W1] name the fields of $name in client.proto that are sent or read, and no others",
    ({ name, fieldsArray }) => {
      const row = rows.find((one) => one.messages.includes(name));
      const named = Array.from((row?.fields ?? "none").matchAll(/`(\w+)`\[(\d+)\]/g));
      const unused = unusedFields[name] ?? [];
      expect(row).toBeDefined();
      expect(named.map(([, field, number]) => `${number} ${field}`).toSorted()).toStrictEqual(
        fieldsArray
          .filter((field) => !unused.includes(field.name))
          .map((field) => `${field.id} ${field.name}`)
          .toSorted(),
      );
    },
  );
});
