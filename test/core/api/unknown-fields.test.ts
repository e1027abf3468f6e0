import { describe, expect, it } from "vitest";
import type { CommandName } from "../../../src/access/operations.ts";
import { entriesOf } from "../../../src/api/command.ts";
import { parseBatch } from "../../../src/api/batch.ts";
import { parseCommand } from "../../../src/api/methods.ts";
import { unknownFieldText } from "../../../src/api/unknown-fields.ts";
import { limits } from "../../../src/limits.ts";
import { caller, json } from "./channel-config.ts";

/** What is noted of the unknown fields of a request, with the method. */
function noted(read: (backend: ReturnType<typeof caller>) => unknown): readonly string[] {
  const notes: string[] = [];
  read({
    ...caller(),
    noteUnknown: (method, fields) =>
      notes.push(...fields.map((field) => `${method}: ${unknownFieldText(field)}`)),
  });
  return notes;
}

function notedIn(method: CommandName, request: object): readonly string[] {
  return noted((backend) => parseCommand(method, JSON.stringify(request), backend));
}

/** The detail with which a request is refused. */
function detailOf(method: CommandName, request: object): string | undefined {
  const parsed = parseCommand(method, JSON.stringify(request), caller());
  if (parsed.outcome === "malformed") return undefined;
  return entriesOf(parsed.command).find((entry) => entry.outcome === "refused")?.detail;
}

describe("an unknown field of a request", () => {
  const published = { channel: "news", data: { secret: 1 } };
  const broadcast = { channels: ["news"], data: 1 };
  const subscribe = { channel: "news", user: "ada" };
  it.each<[CommandName, object, string]>([
    [
      "publish",
      { ...published, idempotencyKey: "x" },
      "idempotencyKey; did you mean idempotency_key?",
    ],
    ["publish", { ...published, skipHistory: true }, "skipHistory; did you mean skip_history?"],
    ["publish", { ...published, tag: {} }, "tag; did you mean tags?"],
    ["publish", { ...published, priority: 1 }, "priority"],
    ["publish", { ...published, "a\nb": 1 }, '"a\\nb"'],
    ["broadcast", { ...broadcast, Version: 1 }, "Version; did you mean version?"],
    [
      "subscribe",
      { ...subscribe, serverTagsFilter: 1 },
      "serverTagsFilter; did you mean server_tags_filter?",
    ],
    ["presence", { channel: "news", user: "ada" }, "user"],
  ])("[W14] is noted with the one that was meant, and the request is read: %s %j", (...given) => {
    const [method, request, text] = given;
    expect(notedIn(method, request)).toStrictEqual([`${method}: unknown field ${text}`]);
    expect(detailOf(method, request)).toBeUndefined();
  });

  it("[W14] is noted in a batch, with the method of its command", () => {
    const text = '{"commands":[{"publish":{"channel":"news","data":1,"idempotencyKey":"x"}}]}';
    expect(noted((backend) => parseBatch(json(text), backend))).toStrictEqual([
      "publish: unknown field idempotencyKey; did you mean idempotency_key?",
    ]);
  });

  it("[W14] [B1] is one of a few, however many there are", () => {
    const many = Object.fromEntries(
      Array.from({ length: 10 * limits.unknownFieldsMax }, (_, index) => [`field${index}`, 1]),
    );
    expect(notedIn("publish", { ...published, ...many })).toHaveLength(limits.unknownFieldsMax);
  });

  it.each<[CommandName, object, string]>([
    [
      "publish",
      { chanel: "news", data: 1 },
      "channel is required; unknown field chanel; did you mean channel?",
    ],
    [
      "publish",
      { channel: "news", Data: 1 },
      "data is required; unknown field Data; did you mean data?",
    ],
    [
      "broadcast",
      { chanels: ["news"], data: 1 },
      "channels is required; unknown field chanels; did you mean channels?",
    ],
    ["publish", { data: 1, payload: 2 }, "channel is required"],
  ])("[W4] is named where another one is missing: %s %j", (method, request, detail) => {
    expect(detailOf(method, request)).toBe(detail);
  });
});
