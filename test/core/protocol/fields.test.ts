import { type Field, MapField, Type } from "protobufjs";
import { describe, expect, it } from "vitest";
import { readCommand, subscribeRequest } from "../../../src/protocol/command-fields.ts";
import type { CommandMethod } from "../../../src/protocol/command.ts";
import { decodeFilter } from "../../../src/protocol/json/decode.ts";
import { pushReplyFields, replyFields } from "../../../src/protocol/reply-fields.ts";
import { proto, ignoredFields, neverSentFields } from "./protobuf/peers.ts";
import { type RecordedField, RecordingReader, writtenFields } from "./recorded-fields.ts";
import { sentMessages } from "./sent-messages.ts";

const methods: readonly Exclude<CommandMethod, "pong">[] = [
  "connect",
  "subscribe",
  "unsubscribe",
  "publish",
  "presence",
  "presence_stats",
  "history",
  "ping",
  "send",
  "rpc",
  "refresh",
  "sub_refresh",
];

/** The types of Protobuf that a kind can be in client.proto. */
const types: Readonly<Record<string, readonly string[]>> = {
  text: ["string"],
  texts: ["string"],
  textMap: ["string"],
  flag: ["bool"],
  unsigned: ["uint32", "uint64", "int32", "int64"],
  wide: ["uint64"],
  signed: ["sint64"],
  seconds: ["uint32"],
  uint32: ["uint32"],
  uint64: ["uint64"],
  int32: ["int32"],
  int64: ["int64"],
  payload: ["bytes"],
  json: ["bytes"],
};

/**
 * Compares recorded fields with a message of client.proto, and the messages in them likewise.
 *
 * @param seen by message of client.proto, the names of the fields that were recorded
 * @returns the fields that client.proto doesn't have so
 */
function faults(
  type: Type,
  recorded: readonly RecordedField[],
  seen: Map<string, Set<string>>,
): readonly string[] {
  const names = seen.get(type.name) ?? new Set();
  seen.set(type.name, names);
  return recorded.flatMap((one) => {
    names.add(one.name);
    const field = type.fieldsById[one.number]?.resolve();
    const fault = field !== undefined && isSame(field, one) ? [] : [`${type.name}.${one.name}`];
    const inner = field?.resolvedType;
    const innerFaults =
      inner instanceof Type && one.fields !== undefined ? faults(inner, one.fields, seen) : [];
    return [...fault, ...innerFaults];
  });
}

function isSame(field: Field, { name, kind }: RecordedField): boolean {
  const isMap = kind === "map" || kind === "sharedMap" || kind === "textMap";
  const isRepeated = kind === "messages" || kind === "texts";
  const isMessage =
    kind === "map" || kind === "sharedMap" || kind === "messages" || kind === "message";
  return (
    field.name === name &&
    field instanceof MapField === isMap &&
    field.repeated === isRepeated &&
    (isMessage ? field.resolvedType instanceof Type : (types[kind] ?? []).includes(field.type))
  );
}

/** By message, the fields of client.proto that weren't recorded. */
function missing(seen: ReadonlyMap<string, ReadonlySet<string>>): Record<string, string[]> {
  const unseen = [...seen].map(([message, names]) => {
    const all = proto.lookupType(message).fieldsArray.map(({ name }) => name);
    return [message, all.filter((name) => !names.has(name))] as const;
  });
  return Object.fromEntries(unseen.filter(([, names]) => names.length > 0));
}

/** Whether no field stands before one of a smaller number, nor within any message among them. */
function isAscending(fields: readonly RecordedField[]): boolean {
  return fields.every(({ number, fields: inner }, index) => {
    return number > (fields[index - 1]?.number ?? 0) && isAscending(inner ?? []);
  });
}

describe("the fields that the server sends", () => {
  const written = sentMessages.map(([, message]) =>
    "type" in message
      ? writtenFields(message, pushReplyFields)
      : writtenFields(message, replyFields),
  );

  it("[W1] [W5] are those of client.proto, by name, number and type, and only these are missing", () => {
    const seen = new Map<string, Set<string>>();
    const type = proto.lookupType("Reply");
    const wrong = written.flatMap((fields) => faults(type, fields, seen));
    expect(wrong).toStrictEqual([]);
    expect(missing(seen)).toStrictEqual(neverSentFields);
  });

  it("[W1] stand in the order of their numbers", () => {
    expect(written.filter((fields) => !isAscending(fields))).toStrictEqual([]);
  });
});

describe("the fields by which a command is read", () => {
  it("[W1] [W5] are those of client.proto, by name, number and type, and only these are ignored", () => {
    const seen = new Map<string, Set<string>>();
    for (const method of methods) {
      // Two levels of a tags filter stand within a subscribe request.
      const command = new RecordingReader(method, 3);
      const decoded = readCommand(command, [], (request) => {
        decodeFilter(request);
        return subscribeRequest(request);
      });
      expect(decoded).toMatchObject({ outcome: "command", command: { method } });
      expect(faults(proto.lookupType("Command"), command.recorded, seen)).toStrictEqual([]);
    }
    expect(missing(seen)).toStrictEqual(ignoredFields);
  });
});
