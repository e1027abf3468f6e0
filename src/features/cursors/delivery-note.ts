import type { DeliveryNote } from "../../contract/session-snapshot.ts";
import type { DeliveryStart } from "../../session/observer.ts";
import type { Coverage } from "./coverage.ts";

/** How far the subscribers of a channel in one object are. */
export interface SentPosition {
  /** "" where the channel has no stream, or isn't known to have one. */
  readonly epoch: string;
  /** The newest offset that they have been sent, or are about to be. */
  readonly top: number;
  /** Everything up to this offset has been handed to their sockets. */
  readonly sent: number;
  /** Where a subscriber is, that has been there since before the epoch, or that isn't known to have been. */
  readonly begun: number;
}

/** The note of a subscription that begins. */
export function noteOfStart(
  { epoch, top }: SentPosition,
  start: DeliveryStart | undefined,
  nowMs: number,
): DeliveryNote {
  const since = Math.min(start?.since ?? top, top);
  const recovered = start?.isClients === true;
  return { epoch, since, offset: since, atMs: nowMs, sent: since, recovered };
}

/**
 * The note when a ping is sent.
 *
 * @param answeredMs when the ping before was answered, at the latest; undefined if it isn't known to be
 * @param isTold     whether an answer to this ping can be told from an earlier one
 * @returns the same note if it says the same
 */
export function noteAtPing(
  note: DeliveryNote,
  answeredMs: number | undefined,
  at: SentPosition,
  isTold: boolean,
  nowMs: number,
): DeliveryNote {
  if (note.epoch !== at.epoch) {
    const { epoch, begun, sent } = at;
    const fresh = { epoch, since: begun, offset: begun, atMs: nowMs, recovered: false };
    return { ...fresh, sent: isTold ? Math.max(sent, begun) : begun };
  }
  const { offset, atMs } = arrived(note, answeredMs);
  const sent = isTold ? Math.max(at.sent, offset) : offset;
  if (offset === note.offset && sent === note.sent) return note;
  return { ...note, offset, atMs, sent };
}

/** What a note proves; undefined for nothing. */
export function provenBy(note: DeliveryNote, answeredMs: number | undefined): Coverage | undefined {
  const { epoch, since, recovered } = note;
  const { offset, atMs } = arrived(note, answeredMs);
  if (epoch === "") return undefined;
  if (offset > since) return { epoch, since, offset, by: "ping", atMs };
  return recovered ? { epoch, since, offset, by: "recovery", atMs } : undefined;
}

function arrived(
  { offset, atMs, sent }: DeliveryNote,
  answeredMs: number | undefined,
): Pick<DeliveryNote, "offset" | "atMs"> {
  const isMore = answeredMs !== undefined && sent > offset;
  return isMore ? { offset: sent, atMs: answeredMs } : { offset, atMs };
}
