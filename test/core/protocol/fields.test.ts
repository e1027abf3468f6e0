import * as fc from "fast-check";
import { MapField, Type } from "protobufjs";
import { describe, expect, it } from "vitest";
import { ignoredFields, neverSentFields, proto } from "./protobuf/peers.ts";
import { sentCommand } from "./random-command.ts";
import { sentMessages } from "./sent-messages.ts";

/** The names of fields by the message of client.proto that has them. */
type Seen = Map<string, Set<string>>;

/** Notes the fields of a message in JSON, and those of the messages in it. Throws for a field that client.proto lacks. */
function note(type: Type, message: object, seen: Seen): void {
  const names = seen.get(type.name) ?? new Set();
  seen.set(type.name, names);
  for (const [name, value] of Object.entries(message)) {
    const field = type.fields[name]?.resolve();
    if (field === undefined) throw new Error(`client.proto has no ${type.name}.${name}`);
    names.add(name);
    if (!(field.resolvedType instanceof Type) || value === null || value === undefined) continue;
    const isSeveral = field instanceof MapField || field.repeated;
    const inner: readonly object[] = isSeveral ? Object.values(Object(value)) : [Object(value)];
    for (const one of inner) note(field.resolvedType, one, seen);
  }
}

/** By message, the fields of client.proto that weren't noted. */
function missing(seen: Seen): Record<string, string[]> {
  const unseen = [...seen].map(([message, names]) => {
    const all = proto.lookupType(message).fieldsArray.map(({ name }) => name);
    return [message, all.filter((name) => !names.has(name))] as const;
  });
  return Object.fromEntries(unseen.filter(([, names]) => names.length > 0));
}

// Other tests compare what is written and read with what protobufjs makes of client.proto.
describe("the fields of client.proto", () => {
  it("[W1] [W5] are all among the messages of the tests, but for those that are never sent", () => {
    const seen: Seen = new Map();
    for (const [json] of sentMessages) note(proto.lookupType("Reply"), JSON.parse(json), seen);
    expect(missing(seen)).toStrictEqual(neverSentFields);
  });

  it("[W1] [W5] are all among the random commands, but for those that are ignored", () => {
    const seen: Seen = new Map();
    for (const { wire } of fc.sample(sentCommand, { seed: 13, numRuns: 500 }))
      note(proto.lookupType("Command"), wire, seen);
    expect(missing(seen)).toStrictEqual(ignoredFields);
  });
});
