import type { Refusal } from "../../access/refusal.ts";
import { LastRefusals } from "../../access/last-refusals.ts";
import type { ObjectState, StateQuery } from "./object-state.ts";
import type { TrailAnswer, TrailQuery } from "./trail.ts";
import { FrameTrail } from "./frame-trail.ts";
import type { Tags } from "../../protocol/publication.ts";
import { ClientTrail } from "./client-trail.ts";
import {
  countBacklogs,
  countConnections,
  type OpenConnection,
  traceConnections,
} from "./inspection.ts";
import { version } from "../../version.ts";
import { EventCounts, type EventKind } from "./event-counts.ts";
import type { Platform } from "../../object/platform.ts";

/**
 * What an object of either kind remembers for those who ask why something didn't arrive (rules Y1, Y2, Y4 and Y5), and
 * what it tells of itself. All of it is in memory, bounded, and lost when the object hibernates.
 */
export class ObjectTrail {
  readonly frames: FrameTrail;
  readonly clients: ClientTrail;
  readonly #platform: Pick<Platform, "nowMs" | "readAlarm" | "storedBytes">;
  readonly #events = new EventCounts();
  readonly #refusals = new LastRefusals();
  readonly #awakeSinceMs: number;

  /** @param framesMax how many frames are remembered */
  constructor(platform: Pick<Platform, "nowMs" | "readAlarm" | "storedBytes">, framesMax: number) {
    this.#platform = platform;
    this.#awakeSinceMs = platform.nowMs();
    this.frames = new FrameTrail(platform, framesMax);
    this.clients = new ClientTrail(platform);
  }

  /** Counts an event. */
  happened(kind: EventKind): void {
    this.#events.note(kind, this.#platform.nowMs());
  }

  /** Remembers a refusal. */
  refused(refusal: Refusal): void {
    this.#refusals.note(refusal, this.#platform.nowMs());
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
  state(
    node: string,
    { refusals }: StateQuery,
    told: KindState,
    connections: readonly OpenConnection[],
    done: (state: ObjectState) => void,
  ): void {
    this.#platform.readAlarm((alarmAtMs) =>
      done({
        node,
        version,
        awakeSinceMs: this.#awakeSinceMs,
        wokenBy: this.#events.first ?? "question",
        events: this.#events.counts(this.#platform.nowMs()),
        ...(Number.isFinite(alarmAtMs) && { alarmAtMs }),
        storedBytes: this.#platform.storedBytes(),
        connections: countConnections(connections),
        ...countBacklogs(connections),
        closes: this.clients.lastCloses,
        refusals: this.#refusals.last(refusals),
        ...told,
      }),
    );
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
