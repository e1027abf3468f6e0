import type { HistoryEvent } from "../../checker/history-event.ts";
import type { CursorEvent } from "../../checker/cursors/cursor-event.ts";

/**
 * Reads one line of a history.
 *
 * @param where the file and the line's number, for the error
 * @throws if the line isn't JSON, or lacks a field that its kind of event needs
 */
export function parseEvent(line: string, where: () => string): HistoryEvent {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new Error(`${where()} isn't JSON`);
  }
  if (isHappening(value)) return value;
  throw new Error(`${where()} ${parseLack(value)}`);
}

function isHappening(value: unknown): value is HistoryEvent {
  return parseLack(value) === undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** The problem of a value as an event; undefined if there is none. */
function parseLack(value: unknown): string | undefined {
  if (!isRecord(value)) return "isn't an object";
  const { time, process, type, f, channel }: Readonly<Record<string, unknown>> = value;
  if (typeof time !== "number") return "has no time";
  if (typeof process !== "string") return "has no process";
  if (typeof f !== "string" || typeof type !== "string") return "has no f or type";
  const shape = shapes.get(f);
  if (shape === undefined || !shape.types.includes(type)) return `is not an event: ${type} ${f}`;
  if (shape.hasChannel && typeof channel !== "string") return "has no channel";
  for (const [name, wanted] of shape.fields) {
    if (typeof value[name] !== wanted) return `has no ${name}`;
  }
  const offset = value["offset"];
  if (offset !== undefined && typeof offset !== "number") return "has an offset that is no number";
  if (f === "events" && !Array.isArray(value["channels"])) return "has no channels";
  if (f === "map-subscribe" && !Array.isArray(value["changes"])) return "has no changes";
  if (f === "map-read" && !Array.isArray(value["entries"])) return "has no entries";
  if (f === "audience" && !Array.isArray(value["users"])) return "has no users";
  if (f === "receipts" && !Array.isArray(value["entries"])) return "has no entries";
  if (f === "marks" && !Array.isArray(value["marks"])) return "has no marks";
  if (f === "text-read" && !Array.isArray(value["texts"])) return "has no texts";
  if (f === "presence" && !Array.isArray(value["clients"])) return "has no clients";
  return undefined;
}

interface Shape {
  readonly types: readonly string[];
  readonly hasChannel: boolean;
  readonly fields: readonly (readonly [string, "string" | "number" | "boolean"])[];
}

function shaped(types: readonly string[], hasChannel: boolean, fields: Shape["fields"]): Shape {
  return { types, hasChannel, fields };
}

/** Marks of users, and questions about them. */
const cursorCalls: readonly CursorEvent["f"][] = ["mark", "unread", "delivered"];
const callShape = shaped(["invoke", "ok", "fail", "info"], true, [
  ["call", "string"],
  ["user", "string"],
]);

const shapes: ReadonlyMap<string, Shape> = new Map([
  ["deliver", shaped(["ok"], true, [["value", "string"]])],
  ["publish", shaped(["invoke", "ok", "fail", "info"], true, [["value", "string"]])],
  [
    "subscribe",
    shaped(["ok"], true, [
      ["client", "string"],
      ["recovering", "boolean"],
      ["recovered", "boolean"],
    ]),
  ],
  ["channel", shaped(["info"], true, [["recovery", "string"]])],
  ["signal", shaped(["info"], true, [["code", "number"]])],
  ["detach", shaped(["info"], true, [])],
  ["forget", shaped(["info"], true, [["what", "string"]])],
  ["crash", shaped(["info"], true, [])],
  [
    "order",
    shaped(["invoke", "ok", "fail", "info"], false, [
      ["order", "string"],
      ["user", "string"],
      ["method", "string"],
    ]),
  ],
  [
    "hook",
    shaped(["ok", "fail"], false, [
      ["hook", "string"],
      ["answer", "string"],
      ["client", "string"],
    ]),
  ],
  [
    "call",
    shaped(["ok"], false, [
      ["value", "string"],
      ["result", "string"],
    ]),
  ],
  ["disconnect", shaped(["info"], false, [["client", "string"]])],
  ["events", shaped(["info"], false, [["keepMax", "number"]])],
  [
    "event",
    shaped(["ok"], false, [
      ["object", "string"],
      ["number", "number"],
      ["event", "string"],
    ]),
  ],
  ["told", shaped(["info"], false, [["what", "string"]])],
  ["connect", shaped(["invoke", "ok"], false, [["user", "string"]])],
  ["map", shaped(["info"], true, [["mode", "string"]])],
  [
    "map-change",
    shaped(["invoke", "ok", "fail", "info"], true, [
      ["change", "string"],
      ["key", "string"],
    ]),
  ],
  ["map-subscribe", shaped(["ok"], true, [["epoch", "string"]])],
  ["map-deliver", shaped(["ok"], true, [["key", "string"]])],
  ["map-end", shaped(["info"], true, [])],
  ["map-forget", shaped(["info"], true, [])],
  [
    "map-read",
    shaped(["ok"], true, [
      ["epoch", "string"],
      ["offset", "number"],
    ]),
  ],
  ["cursors", shaped(["info"], true, [["audience", "string"]])],
  ["member", shaped(["invoke"], true, [["user", "string"]])],
  ["audience", shaped(["ok"], true, [])],
  ["pong", shaped(["ok"], true, [])],
  ...cursorCalls.map((f) => [f, callShape] as const),
  ["receipts", shaped(["ok"], true, [])],
  ["receipt", shaped(["ok"], true, [["user", "string"]])],
  ["receipts-end", shaped(["info"], true, [])],
  ["marks", shaped(["ok"], true, [["epoch", "string"]])],
  ["forget-user", shaped(["invoke"], true, [["user", "string"]])],
  ["append", shaped(["invoke", "ok", "fail", "info"], true, [["key", "string"]])],
  ["text-remove", shaped(["invoke", "ok", "fail", "info"], true, [["key", "string"]])],
  [
    "text-follow",
    shaped(["ok"], true, [
      ["asked", "number"],
      ["epoch", "string"],
      ["offset", "number"],
    ]),
  ],
  [
    "text-show",
    shaped(["ok"], true, [
      ["key", "string"],
      ["kept", "number"],
      ["added", "string"],
    ]),
  ],
  ["text-leave", shaped(["info"], true, [])],
  ["text-unusable", shaped(["info"], true, [["problem", "string"]])],
  [
    "text-read",
    shaped(["ok"], true, [
      ["asked", "number"],
      ["epoch", "string"],
    ]),
  ],
  ["presence", shaped(["ok"], true, [])],
  ["settled", shaped(["info"], false, [])],
  [
    "fault",
    shaped(["invoke", "info"], false, [
      ["kind", "string"],
      ["target", "string"],
    ]),
  ],
]);
