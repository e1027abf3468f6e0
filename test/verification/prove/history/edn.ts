import type { HistoryEvent } from "../../checker/history-event.ts";
import type { ChangedTold } from "../../checker/changes/change-event.ts";
import type { ReceiptTold } from "../../checker/cursors/cursor-event.ts";
import type { MapEntryTold } from "../../checker/maps/map-event.ts";
import type { EdnProcesses } from "./edn-processes.ts";

/**
 * One event as a line of EDN that Jepsen's `jepsen.history` reads. Publishes are operations of integer processes. An
 * event without an invocation belongs to a process with a keyword as its name and is `:info`, so that pairing never
 * fails.
 *
 * @param index the number of the line, from 0
 * @param processes of this history; remembers the operation of each process
 */
export function ednLine(event: HistoryEvent, index: number, processes: EdnProcesses): string {
  const { time, process, type, f, ...rest } = event;
  const number = processes.numberOf(event);
  const who = number === undefined ? ednKeyword(process) : String(number);
  const kind = number === undefined ? "info" : type;
  const stamp = `:index ${index}, :time ${Math.round(time * 1000)}`;
  const value = ednMap({ who: process, ...rest });
  return `{${stamp}, :process ${who}, :type :${kind}, :f :${f}, :value ${value}}`;
}

/** A name as a keyword; characters that a keyword can't hold become hyphens. */
function ednKeyword(name: string): string {
  return `:${name.replaceAll(/[^\w.*+!?$%&=<>-]/g, "-").replace(/^(?=[^A-Za-z])|^$/, "process-")}`;
}

type Scalar = string | number | boolean;
type Value =
  | Scalar
  | readonly (string | MapEntryTold | ChangedTold | Omit<ReceiptTold, "epoch">)[]
  | { readonly epoch: string; readonly offset: number };

function ednMap(fields: Readonly<Record<string, Value | undefined>>): string {
  const entries: string[] = [];
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) entries.push(`:${name} ${ednValue(value)}`);
  }
  return `{${entries.join(", ")}}`;
}

function ednValue(value: Value): string {
  if (typeof value === "string") return ednString(value);
  if (typeof value !== "object") return String(value);
  if ("epoch" in value) return ednMap({ ...value });
  const items = value.map((item) =>
    typeof item === "string" ? ednString(item) : ednMap({ ...item }),
  );
  return `[${items.join(" ")}]`;
}

/** JSON's escapes are among those that EDN knows. */
function ednString(text: string): string {
  return JSON.stringify(text);
}
