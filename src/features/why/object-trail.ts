import type { Erased } from "../../contract/erased.ts";
import type { Refusal } from "../../access/refusal.ts";
import { LastRefusals } from "../../access/last-refusals.ts";
import type { ChannelSetup } from "../../channel/channel-setup.ts";
import type { GatewaySetup } from "../../gateway/gateway-setup.ts";
import { trailLimits } from "./limits.ts";
import type { EventKind, ObjectPart, PartHost } from "../../object/part.ts";
import type { SessionContext } from "../../session/ports.ts";
import { version } from "../../version.ts";
import { BatchTrail } from "./batch-trail.ts";
import { ProcedureDriver } from "../procedures/procedure-driver.ts";
import { codeState } from "./code-state.ts";
import { CallTrails } from "./call-trail.ts";
import { ClientTrail } from "./client-trail.ts";
import { FrameTrail } from "./frame-trail.ts";
import { countBacklogs, countConnections, traceConnections } from "./inspection.ts";
import type { ObjectState, StateQuery, EventCount } from "./object-state.ts";
import { PublicationTrail } from "./publication-trail.ts";
import {
  type ChannelTrails,
  channelState,
  ownSubscribers,
  reportOfChannel,
  subscribersHere,
  reportOfGateway,
} from "./reports.ts";
import type { TrailAnswer, TrailQuery } from "./trail.ts";

/**
 * The memory of an object of either kind, so that it can answer why something didn't arrive (rules Y1, Y2, Y4 and Y5),
 * and the object's reports about itself. All of it is in memory, bounded, and lost when the object hibernates.
 */
export class ObjectTrail implements ObjectPart {
  readonly #object: PartHost;
  readonly #events = new EventCounts();
  readonly #refusals = new LastRefusals();
  /** The observers: a channel, a gateway and sessions each use some of them. */
  readonly #heard: Heard;
  readonly ofSessions: Pick<SessionContext, "clients">;
  readonly ofGateway: Pick<GatewaySetup, "batches" | "frames" | "clients">;

  constructor(object: PartHost) {
    const { platform, kind } = object;
    const { trailFramesMax, trailGatewayFramesMax } = trailLimits;
    this.#object = object;
    this.#heard = {
      frames: new FrameTrail(platform, kind === "channel" ? trailFramesMax : trailGatewayFramesMax),
      clients: new ClientTrail(platform),
      publications: new PublicationTrail(),
      calls: new CallTrails(),
      batches: new BatchTrail(platform),
    };
    this.ofSessions = this.#heard;
    this.ofGateway = this.#heard;
  }

  ofChannel(): Pick<ChannelSetup, "frames" | "publications" | "calls"> {
    return this.#heard;
  }

  happened(kind: EventKind): void {
    this.#events.note(kind, this.#object.platform.nowMs());
  }

  refused(refusal: Refusal, nowMs: number): void {
    this.#refusals.note(refusal, nowMs);
  }

  handsOn(nowMs: number): void {
    this.#heard.publications.committed(nowMs);
  }

  erase(erased: Erased): undefined {
    this.#heard.publications.erase(erased);
  }

  /** What the object reports of the way of a publication. */
  trail(query: TrailQuery): TrailAnswer {
    const nowMs = this.#object.looked();
    const { node, awakeSinceMs } = this.#object;
    const held = this.#object;
    const { tags, ...ofKind } =
      held.kind === "channel"
        ? reportOfChannel(held.channel, this.#heard, query.offset, nowMs)
        : reportOfGateway(held.gateway, this.#heard.batches, query);
    const { frames, clients } = this.#heard;
    const frame = frames.find(query.channel, query.offset);
    const { sinceMs } = frames;
    return {
      node,
      awakeSinceMs,
      ...(sinceMs === undefined ? {} : { remembersSinceMs: sinceMs }),
      ...(frame === undefined ? {} : { frame }),
      ...traceConnections(query, tags, this.#object.sockets.clients, clients),
      ...ofKind,
    };
  }

  /** The object's state. */
  inspect(query: StateQuery, done: (state: ObjectState) => void): void {
    const nowMs = this.#object.looked();
    const { node, platform, awakeSinceMs } = this.#object;
    const ofKind = this.#kindState(query, nowMs);
    const connections = this.#object.sockets.clients;
    platform.readAlarm((alarmAtMs) =>
      done({
        node,
        version,
        awakeSinceMs,
        wokenBy: this.#events.first ?? "question",
        events: this.#events.counts(platform.nowMs()),
        ...(Number.isFinite(alarmAtMs) && { alarmAtMs }),
        storedBytes: platform.storedBytes(),
        connections: countConnections(connections),
        ...countBacklogs(connections),
        closes: this.#heard.clients.lastCloses,
        refusals: this.#refusals.last(query.refusals),
        ...ofKind,
      }),
    );
  }

  /** What the kind of object adds to its state. */
  #kindState(
    { channel }: StateQuery,
    nowMs: number,
  ): Pick<ObjectState, "channel" | "gateway" | "subscribers"> {
    const held = this.#object;
    const connections = this.#object.sockets.clients;
    if (held.kind === "channel") {
      const { committing: isCommitting, waitingBytes } = held.queue;
      const state = channelState(held.channel, this.#heard.calls, nowMs);
      const isKnown = this.#object.knownChannel !== undefined;
      const driver = this.#object.part(ProcedureDriver);
      const code = driver === undefined ? {} : { code: codeState(driver, nowMs) };
      return {
        channel: { ...state, isKnown, isCommitting, waitingBytes, ...code },
        subscribers: ownSubscribers(held.channel, connections),
      };
    }
    const { channelCount: channels, heldBytes } = held.gateway;
    const gateway = { channels, heldBytes };
    return channel === undefined
      ? { gateway }
      : { gateway, subscribers: subscribersHere(held.gateway, channel, connections) };
  }
}

/**
 * The parts of this memory, by observer. Only a channel's object observes publications and calls, and only a gateway
 * observes batches.
 */
interface Heard extends ChannelTrails {
  readonly frames: FrameTrail;
  readonly clients: ClientTrail;
  readonly batches: BatchTrail;
}

/**
 * How often an object had something to do, by kind, since it woke and in its last hour (rule Y4). The hour is counted in
 * parts of ten minutes.
 */
export class EventCounts {
  readonly #kinds = new Map<EventKind, EventWindow>();
  #first: EventKind | undefined;

  /** Notes an event; the first one woke the object. */
  note(kind: EventKind, nowMs: number): void {
    this.#first ??= kind;
    const counts = this.#kinds.get(kind) ?? {
      total: 0,
      parts: new Float64Array(partsKept),
      part: 0,
    };
    this.#kinds.set(kind, counts);
    advance(counts, nowMs);
    counts.total++;
    const index = counts.part % partsKept;
    counts.parts[index] = (counts.parts[index] ?? 0) + 1;
  }

  /** The event that woke the object. */
  get first(): EventKind | undefined {
    return this.#first;
  }

  /** All kinds that came, in the order in which they first did. */
  counts(nowMs: number): readonly EventCount[] {
    return [...this.#kinds].map(([kind, counts]) => {
      advance(counts, nowMs);
      const lastHour = counts.parts.reduce((sum, count) => sum + count, 0);
      return { kind, sinceWake: counts.total, lastHour };
    });
  }
}

interface EventWindow {
  total: number;
  readonly parts: Float64Array;
  /** The number of the newest part since 1970. */
  part: number;
}

/** Empties the parts that have passed since the last event. */
function advance(counts: EventWindow, nowMs: number): void {
  const part = Math.max(counts.part, Math.floor(nowMs / partMs));
  const passed = Math.min(part - counts.part, partsKept);
  for (let index = part - passed + 1; index <= part; index++) counts.parts[index % partsKept] = 0;
  counts.part = part;
}

const partMs = 600_000;
const partsKept = 6;
