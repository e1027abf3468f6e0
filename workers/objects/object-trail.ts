import type { Refusal } from "../../src/access/refusal.ts";
import { RefusalTrail } from "../../src/access/refusal-trail.ts";
import type { ObjectState, StateQuery } from "../../src/contract/object-state.ts";
import type { TrailAnswer, TrailQuery } from "../../src/contract/trail.ts";
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
import { EventCounts, type EventKind } from "./event-counts.ts";

/**
 * What an object of either kind remembers for those who ask why something didn't arrive (rules Y1, Y2, Y4 and Y5), and
 * what it tells of itself. All of it is in memory, bounded, and lost when the object hibernates.
 */
export class ObjectTrail {
  readonly clock = { nowMs: () => Date.now() };
  readonly frames: FrameTrail;
  readonly clients = new ClientTrail(this.clock);
  readonly #events = new EventCounts();
  readonly #refusals = new RefusalTrail();
  readonly #awakeSinceMs = Date.now();

  /** @param framesMax how many frames are remembered */
  constructor(framesMax: number) {
    this.frames = new FrameTrail(this.clock, framesMax);
  }

  /** Counts an event. */
  happened(kind: EventKind): void {
    this.#events.note(kind, Date.now());
  }

  /** Remembers a refusal. */
  refused(refusal: Refusal): void {
    this.#refusals.note(refusal, Date.now());
  }

  /** What the object tells of the way of a publication. */
  trail(
    node: string,
    query: TrailQuery,
    { tags, ...told }: KindTrail,
    connections: readonly OpenConnection[],
  ): TrailAnswer {
    const frame = this.frames.find(query.channel, query.offset);
    const { sinceMs } = this.frames;
    return {
      node,
      awakeSinceMs: this.#awakeSinceMs,
      ...(sinceMs === undefined ? {} : { remembersSinceMs: sinceMs }),
      ...(frame === undefined ? {} : { frame }),
      ...traceConnections(query, tags, connections, this.clients),
      ...told,
    };
  }

  /** The object's state. */
  async state(
    node: string,
    { refusals }: StateQuery,
    told: KindState,
    connections: readonly OpenConnection[],
    storage: DurableObjectStorage,
  ): Promise<ObjectState> {
    const alarmAtMs = await storage.getAlarm();
    return {
      node,
      version,
      awakeSinceMs: this.#awakeSinceMs,
      wokenBy: this.#events.first ?? "question",
      events: this.#events.counts(Date.now()),
      ...(alarmAtMs === null ? {} : { alarmAtMs }),
      storedBytes: storage.sql.databaseSize,
      connections: countConnections(connections),
      ...countBacklogs(connections),
      closes: this.clients.lastCloses,
      refusals: this.#refusals.last(refusals),
      ...told,
    };
  }
}

/** What a kind of object knows, beside what all remember. */
export interface KindTold {
  trail(query: TrailQuery, nowMs: number): KindTrail;
  state(query: StateQuery, nowMs: number): KindState;
}

/** What a kind of object adds to the way of a publication, with its tags if they are known. */
type KindTrail = Pick<
  TrailAnswer,
  "subscribers" | "isSending" | "position" | "taken" | "channel"
> & {
  readonly tags?: Tags;
};

/** What a kind of object adds to its state. */
type KindState = Pick<ObjectState, "channel" | "gateway" | "subscribers">;
