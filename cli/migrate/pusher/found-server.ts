import type { JsonValue } from "../../../src/protocol/wire-value.ts";
import type { Row } from "../conversion.ts";

/** A server of the Pusher protocol, as its configuration describes it. */
export interface FoundServer {
  readonly apps: readonly FoundApp[];
  /** The outcome of each key that belongs to no application. */
  readonly rows: readonly Row[];
  /** Sentences about what may belong to the configuration, and wasn't read. */
  readonly unread: readonly string[];
  /** Sentences about what is to be done, such as where the application says where its server is. */
  readonly todo: readonly string[];
}

/** One of its applications. */
export interface FoundApp {
  readonly id: Named<string>;
  readonly key: Named<string>;
  readonly secret: Named<string>;
  /** Options of the application that Dormouse may have under a name. */
  readonly options: readonly (Named<JsonValue> & { readonly option: string })[];
  /** Patterns of hosts of pages; undefined if pages of all may connect. */
  readonly hosts: Named<readonly string[]> | undefined;
  /** The outcome of each of its other keys. */
  readonly rows: readonly Row[];
}

/** A value, and its name in the source. */
interface Named<Value> {
  readonly from: string;
  readonly value: Value;
}

/** A key that becomes nothing. */
export function rowWithout(key: string, outcome: "platform" | "absent", reason: string): Row {
  return { key, outcome, becomes: "", reason };
}

/** Keys that say nothing here, by what their names match. */
export const reasons = {
  address:
    "says where the server listens, or where it is found: both the application and its pages get the new address",
  pings: "isn't needed: the platform answers the pings of clients, who send one after 120 s",
  machine: "isn't needed: there is no machine to size, to watch or to join with others",
  bound: "is no bound of one application here: docs/limits.md has those of all clients",
} as const;
