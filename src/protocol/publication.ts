import type { JsonText } from "./json/text.ts";
import type { Payload } from "./payload.ts";

/** Who published, joined or is present, as others see them (docs/protocol.md 1.3, ClientInfo). */
export interface ClientInfo {
  /** User ID from the token's `sub`; "" for an anonymous connection. */
  readonly user: string;
  /** The connection's own ID, a UUID. */
  readonly client: string;
  /** From the connection token's `info`. */
  readonly connInfo?: JsonText;
  /** From the subscription token's `info`. */
  readonly chanInfo?: JsonText;
}

/** A place in a channel's stream. Offset 0 is the place before the first publication. */
export interface StreamPosition {
  readonly offset: number;
  readonly epoch: string;
}

export type Tags = Readonly<Record<string, string>>;

/** One message on a channel, as subscribers receive it. */
export interface Publication {
  readonly data: Payload;
  /** Its place in the stream, from 1 on; 0 on a channel without history. */
  readonly offset: number;
  /** The stream's epoch; only on the live publication at offset 1, from which a client may adopt it (docs/protocol.md 2.6). */
  readonly epoch?: string;
  /** Present when a client published it, absent when a backend did. */
  readonly info?: ClientInfo;
  readonly tags?: Tags;
  /** Subscribers who get patches may be sent this one as a patch: its publisher, or its namespace, says so. */
  readonly mayBePatch?: boolean;
  /** `data` is a patch: it makes the payload out of the one that the same subscriber got before (docs/protocol.md 3.1). */
  readonly delta?: boolean;
}
