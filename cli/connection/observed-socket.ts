import { WebSocket, type ClientOptions } from "ws";
import { failureCause } from "./failure-cause.ts";
import { isJsonObject, type JsonValue } from "../../src/protocol/wire-value.ts";

/** How a publication came over the wire, which the SDK doesn't tell. */
export interface Arrival {
  readonly isDelta: boolean;
  /** The size of the payload as it came. */
  readonly bytes: number;
}

/**
 * Notes how publications arrive on the WebSockets of an SDK that speaks JSON, and why a socket fails.
 *
 * @param failed called with the cause of a failure, before the SDK hears of it
 * @param noted  called for each publication in a push or a recovery, before the SDK gets it
 * @returns a class of WebSockets for the SDK's option `websocket`
 */
export function observedSocket(
  failed: (cause: string) => void,
  noted: (offset: number, arrival: Arrival) => void = () => undefined,
): new (address: string, protocols?: string | string[]) => WebSocket {
  return class extends WebSocket {
    constructor(address: string, protocols?: string | string[], options?: ClientOptions) {
      super(address, protocols, options);
      this.addEventListener("error", ({ error }) => failed(failureCause(error)));
      this.addEventListener("message", ({ data }) => {
        if (typeof data === "string") for (const line of data.split("\n")) noteLine(line, noted);
      });
    }
  };
}

function noteLine(line: string, noted: (offset: number, arrival: Arrival) => void): void {
  if (!line.includes('"offset"')) return;
  const message: JsonValue = JSON.parse(line);
  const push = at(message, "push");
  for (const publication of [at(push, "pub"), ...listAt(at(message, "subscribe"))]) {
    const [offset, data] = [at(publication, "offset"), at(publication, "data")];
    if (typeof offset !== "number" || data === undefined) continue;
    const text = typeof data === "string" ? data : JSON.stringify(data);
    noted(offset, { isDelta: at(publication, "delta") === true, bytes: Buffer.byteLength(text) });
  }
}

function at(value: JsonValue | undefined, key: string): JsonValue | undefined {
  return value !== undefined && isJsonObject(value) ? value[key] : undefined;
}

function listAt(subscribe: JsonValue | undefined): readonly JsonValue[] {
  const publications = at(subscribe, "publications");
  return Array.isArray(publications) ? publications : [];
}
