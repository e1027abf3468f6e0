import type { ClientInfo } from "../../protocol/publication.ts";

/**
 * What the object of a channel tells the object of its presence map, and is asked by it (rules Z21 and Z22). During a
 * deploy the two sides may be one release apart (rule V1): fields are only added, and the absence of an added field has a
 * meaning.
 */
export interface PresenceTold {
  /** The channel whose subscribers the map shows. */
  readonly source: string;
  /** In the order in which they happened, one for each client or user. */
  readonly changes: readonly PresenceChange[];
}

/** A client has subscribed, or its subscription has ended. Of a user only the first is told, with "" for the client. */
export interface PresenceChange {
  readonly type: "here" | "away";
  readonly info: ClientInfo;
}
