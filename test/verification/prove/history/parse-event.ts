import type { HistoryEvent } from "../../checker/history-event.ts";

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
  const { time, process, type, f }: Readonly<Record<string, unknown>> = value;
  if (typeof time !== "number") return "has no time";
  if (typeof process !== "string") return "has no process";
  if (typeof f !== "string" || typeof type !== "string") return "has no f or type";
  const known = byName.get(f);
  if (known === undefined || !known.types.includes(type)) return `is not an event: ${type} ${f}`;
  for (const [name, wanted] of Object.entries(known.fields)) {
    const field = value[name];
    if (wanted === "list" ? !Array.isArray(field) : typeof field !== wanted)
      return `has no ${name}`;
  }
  const offset = value["offset"];
  if (offset !== undefined && typeof offset !== "number") return "has an offset that is no number";
  return undefined;
}

/** An event of one name: the types that it may have, and the fields that it needs besides those of all events. */
interface Shape {
  readonly types: readonly string[];
  readonly fields: Readonly<Record<string, "string" | "number" | "boolean" | "list">>;
}

function shape(types: Shape["types"], fields: Shape["fields"] = {}): Shape {
  return { types, fields };
}

/** The same for an event of one channel. */
function ofChannel(types: Shape["types"], fields: Shape["fields"] = {}): Shape {
  return { types, fields: { channel: text, ...fields } };
}

const text = "string";
const number = "number";
const list = "list";
const invoke = ["invoke"];
const ok = ["ok"];
const info = ["info"];
const operation = ["invoke", "ok", "fail", "info"];

/** Marks of users, and questions about them. */
const cursorCall = ofChannel(operation, { call: text, user: text });

const shapes: Readonly<Record<HistoryEvent["f"], Shape>> = {
  deliver: ofChannel(ok, { value: text }),
  publish: ofChannel(operation, { value: text }),
  subscribe: ofChannel(ok, { client: text, recovering: "boolean", recovered: "boolean" }),
  channel: ofChannel(info, { recovery: text }),
  signal: ofChannel(info, { code: number }),
  detach: ofChannel(info),
  forget: ofChannel(info, { what: text }),
  crash: ofChannel(info),
  order: shape(operation, { order: text, user: text, method: text }),
  hook: shape(["ok", "fail"], { hook: text, answer: text, client: text }),
  call: shape(ok, { value: text, result: text }),
  connect: shape(["invoke", "ok"], { user: text }),
  disconnect: shape(info, { client: text }),
  events: shape(info, { keepMax: number, channels: list }),
  event: shape(ok, { object: text, number, event: text }),
  told: shape(info, { what: text }),
  map: ofChannel(info, { mode: text }),
  "map-change": ofChannel(operation, { change: text, key: text }),
  "map-subscribe": ofChannel(ok, { epoch: text, changes: list }),
  "map-deliver": ofChannel(ok, { key: text }),
  "map-end": ofChannel(info),
  "map-forget": ofChannel(info),
  "map-read": ofChannel(ok, { epoch: text, offset: number, entries: list }),
  cursors: ofChannel(info, { audience: text }),
  member: ofChannel(invoke, { user: text }),
  audience: ofChannel(ok, { users: list }),
  pong: ofChannel(ok),
  mark: cursorCall,
  unread: cursorCall,
  delivered: cursorCall,
  receipts: ofChannel(ok, { entries: list }),
  receipt: ofChannel(ok, { user: text }),
  "receipts-end": ofChannel(info),
  marks: ofChannel(ok, { epoch: text, marks: list }),
  "forget-user": ofChannel(invoke, { user: text }),
  append: ofChannel(operation, { key: text }),
  "text-remove": ofChannel(operation, { key: text }),
  "text-follow": ofChannel(ok, { asked: number, epoch: text, offset: number }),
  "text-show": ofChannel(ok, { key: text, kept: number, added: text }),
  "text-leave": ofChannel(info),
  "text-unusable": ofChannel(info, { problem: text }),
  "text-read": ofChannel(ok, { asked: number, epoch: text, texts: list }),
  bank: ofChannel(info, { accounts: list }),
  transfer: ofChannel(operation, { id: text, from: text, to: text, amount: number }),
  promise: ofChannel(operation, { id: text, account: text }),
  statement: ofChannel(ok, { askedTime: number, accounts: list, promises: list, pending: list }),
  change: ofChannel(operation, { change: text }),
  "change-follow": ofChannel(ok, { asked: number, epoch: text, offset: number }),
  "change-show": ofChannel(ok, { offset: number }),
  "change-leave": ofChannel(info),
  "change-read": ofChannel(ok, { asked: number, rows: list }),
  presence: ofChannel(ok, { clients: list }),
  settled: shape(info),
  fault: shape(["invoke", "info"], { kind: text, target: text }),
};

const byName: ReadonlyMap<string, Shape> = new Map(Object.entries(shapes));
