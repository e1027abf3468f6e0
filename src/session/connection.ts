import type { DisconnectCode } from "../protocol/codes.ts";
import type { Message } from "../protocol/codec.ts";
import type { SessionSnapshot } from "../contract/session-snapshot.ts";

/** One client's socket, as a session needs it. Every call returns at once and none of them throws. */
export interface Connection {
  send(frame: Message): void;
  close(code: DisconnectCode): void;
  /** Keeps the snapshot for as long as the socket lives, whatever becomes of the object's memory. */
  save(snapshot: SessionSnapshot): void;
  /** Bytes handed to the socket that the peer has not taken yet. */
  backlogBytes(): number;
  /** When the client was last heard, by us or by the runtime that answers its pings; undefined when it never was. */
  lastHeardMs(): number | undefined;
}
