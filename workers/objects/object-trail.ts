import type { Refusal } from "../../src/access/refusal.ts";
import { RefusalTrail } from "../../src/access/refusal-trail.ts";
import type { ObjectState, StateQuery } from "../../src/contract/object-state.ts";
import type { ObjectTrail as ToldTrail, TrailQuery } from "../../src/contract/trail.ts";
import { FrameTrail } from "../../src/hub/frame-trail.ts";
import type { Tags } from "../../src/protocol/publication.ts";
import { ClientTrail } from "../../src/session/client-trail.ts";
import {
  countBacklogs,
  countConnections,
  type OpenConnection,
  traceConnections,
} from "../../src/session/inspection.ts";
import { version } from "../../src/version.ts";
import { noteRefusal } from "../platform/refusal-log.ts";
import { EventCounts } from "./event-counts.ts";

/**
 * What an object of either kind remembers for those who ask why something didn't arrive (rules Y1, Y2, Y4 and Y5), and
 * what it tells of itself. All of it is in memory, bounded, and lost when the object hibernates.
 */
export class ObjectTrail {
  readonly clock = { nowMs: () => Date.now() };
  readonly frames: FrameTrail;
  readonly clients = new ClientTrail(this.clock);
  readonly events = new EventCounts();
  readonly #refusals = new RefusalTrail();
  readonly #awakeSinceMs = Date.now();

  /** @param framesMax how many frames are remembered */
  constructor(framesMax: number) {
    this.frames = new FrameTrail(this.clock, framesMax);
  }

  /** Takes a refusal of an object, for its log and its memory. */
  refused(refusal: Refusal, node: string): void {
    noteRefusal(refusal, node);
    this.#refusals.note(refusal, Date.now());
  }

  /** What the object tells of the way of a publication, apart from what its kind knows. */
  trail(
    node: string,
    query: TrailQuery,
    tags: Tags | undefined,
    connections: readonly OpenConnection[],
  ): Omit<ToldTrail, "subscribers" | "isSending"> {
    const frame = this.frames.find(query.channel, query.offset);
    const { sinceMs } = this.frames;
    return {
      node,
      awakeSinceMs: this.#awakeSinceMs,
      ...(sinceMs === undefined ? {} : { remembersSinceMs: sinceMs }),
      ...(frame === undefined ? {} : { frame }),
      ...traceConnections(query, tags, connections, this.clients),
    };
  }

  /** The object's state, apart from what its kind knows. */
  state(
    node: string,
    { refusals }: StateQuery,
    connections: readonly OpenConnection[],
    storage: { readonly alarmAtMs: number | null; readonly storedBytes: number },
  ): ObjectState {
    const { alarmAtMs, storedBytes } = storage;
    return {
      node,
      version,
      awakeSinceMs: this.#awakeSinceMs,
      wokenBy: this.events.first ?? "question",
      events: this.events.counts(Date.now()),
      ...(alarmAtMs === null ? {} : { alarmAtMs }),
      storedBytes,
      connections: countConnections(connections),
      ...countBacklogs(connections),
      closes: this.clients.lastCloses,
      refusals: this.#refusals.last(refusals),
    };
  }
}
