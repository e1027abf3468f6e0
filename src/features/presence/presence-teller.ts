import type { PresenceKind } from "../../contract/relay-request.ts";
import type { PresenceChange, PresenceTold, PresenceToldReply } from "./presence-call.ts";
import type { ChannelPart } from "../../channel/channel-part.ts";
import type { RelayEntry } from "../../contract/relay-batch.ts";
import { presenceLimits } from "./limits.ts";
import type { ClientInfo } from "../../protocol/publication.ts";
import type { PresenceChannel } from "./presence-channels.ts";
import { dueMoment } from "../../moment.ts";

declare module "../../contract/relay-batch.ts" {
  interface RelayEntries {
    /** A client has subscribed to a channel with presence maps (rule Z27). It goes to the channel's object only. */
    readonly here: { readonly info: ClientInfo };
    /** Its subscription has ended. */
    readonly away: { readonly info: ClientInfo };
  }
}

/**
 * Tells the presence maps of a channel who comes and goes (rule Z27). Each map has one call in flight, and what happens
 * meanwhile shares the next one; of a client only the last thing that happened waits. A map that nobody looks at isn't
 * called until its object asks who is there. Calls that fail are repeated a few times and then dropped: the map's object
 * asks again anyway. The platform makes the calls and reports the reply of each to {@link answered}.
 */
export class PresenceTeller implements ChannelPart {
  readonly #source: string;
  readonly #lines: readonly Line[];

  /**
   * @param source the channel
   * @param maps   its presence maps
   */
  constructor(source: string, maps: readonly PresenceChannel[]) {
    this.#source = source;
    this.#lines = maps.map((map) => new Line(map));
  }

  announced(entry: RelayEntry): void {
    if (entry.type === "here" || entry.type === "away") this[entry.type](entry.info);
  }

  /** A client's subscription has begun: here, or on a gateway. */
  here(info: ClientInfo): void {
    for (const line of this.#lines) line.enqueue({ type: "here", info });
  }

  /** A client's subscription has ended. Users stay for a while in their map, so nothing is told of them. */
  away(info: ClientInfo): void {
    for (const line of this.#lines)
      if (line.map.kind === "clients") line.enqueue({ type: "away", info });
  }

  /** A map's object asks who is there: from now on it is told what happens. */
  asked(kind: PresenceKind): void {
    for (const line of this.#lines) if (line.map.kind === kind) line.asked();
  }

  /** The calls to make now. Report the reply of each to {@link answered}, once. */
  calls(nowMs: number): readonly PresenceTelling[] {
    return this.#lines.flatMap((line) => {
      const changes = line.next(nowMs);
      return changes.length === 0
        ? []
        : [{ map: line.map, told: { source: this.#source, changes }, asks: line.asks }];
    });
  }

  /**
   * Takes the reply to a call.
   *
   * @param reply "failed" if it is unknown whether the map's object took it
   */
  answered(telling: PresenceTelling, reply: PresenceToldReply | "failed", nowMs: number): void {
    this.#lines.find(({ map }) => map === telling.map)?.answered(telling, reply, nowMs);
  }

  /** In how many ms {@link calls} is to be called again because of a call that failed; undefined if none did. */
  retryInMs(nowMs: number): number | undefined {
    const due = Math.min(...this.#lines.map((line) => line.dueAtMs(nowMs)));
    return due === Number.POSITIVE_INFINITY ? undefined : Math.max(0, due - nowMs);
  }
}

/** A call to make to the object of a presence map. */
export interface PresenceTelling {
  readonly map: PresenceChannel;
  readonly told: PresenceTold;
  /** How often the map's object had asked who is there by then. */
  readonly asks: number;
}

/** One presence map, and what it is still to be told. */
class Line {
  readonly map: PresenceChannel;
  /** When to call again after a call that failed, ms since 1970; Infinity if none did. */
  retryAtMs = Number.POSITIVE_INFINITY;
  asks = 0;
  /** Whether somebody looks at the map. A fresh instance finds out with its first call. */
  #isHeard = true;
  #isCalling = false;
  #failures = 0;
  /** By client, or by user. */
  #waiting = new Map<string, PresenceChange>();

  constructor(map: PresenceChannel) {
    this.map = map;
  }

  enqueue({ type, info }: PresenceChange): void {
    const isUser = this.map.kind === "users";
    const key = isUser ? info.user : info.client;
    if (!this.#isHeard || (isUser && info.user === "")) return;
    const isKnown = this.#waiting.delete(key);
    if (!isKnown && this.#waiting.size >= presenceLimits.presenceToldWaitingMax) return;
    this.#waiting.set(key, { type, info: isUser ? { user: info.user, client: "" } : info });
  }

  asked(): void {
    this.asks++;
    this.#isHeard = true;
  }

  dueAtMs(nowMs: number): number {
    return dueMoment(this.retryAtMs, presenceLimits.presenceTellRetryMs, nowMs);
  }

  next(nowMs: number): readonly PresenceChange[] {
    const isLater = this.retryAtMs !== Number.POSITIVE_INFINITY && this.dueAtMs(nowMs) > nowMs;
    if (this.#isCalling || isLater || this.#waiting.size === 0) return [];
    this.retryAtMs = Number.POSITIVE_INFINITY;
    this.#isCalling = true;
    const changes: PresenceChange[] = [];
    for (const [key, change] of this.#waiting) {
      if (changes.length >= presenceLimits.presenceToldMax) break;
      changes.push(change);
      this.#waiting.delete(key);
    }
    return changes;
  }

  answered(
    { told, asks }: PresenceTelling,
    reply: PresenceToldReply | "failed",
    nowMs: number,
  ): void {
    this.#isCalling = false;
    const outcome = reply === "failed" ? reply : reply.outcome;
    switch (outcome) {
      case "taken":
        this.#failures = 0;
        return;
      case "left":
        this.#failures = 0;
        // The map's object may have said so before it asked who is there.
        if (asks !== this.asks) return;
        this.#isHeard = false;
        this.#waiting.clear();
        return;
      case "busy":
      case "failed":
        this.#failures++;
        if (this.#failures >= presenceLimits.presenceTellTriesMax) this.#failures = 0;
        else this.#putBack(told.changes);
        if (this.#waiting.size > 0) this.retryAtMs = nowMs + presenceLimits.presenceTellRetryMs;
    }
  }

  /** Puts changes back before all others, but for those of clients of whom something newer waits. */
  #putBack(changes: readonly PresenceChange[]): void {
    const newer = this.#waiting;
    this.#waiting = new Map();
    const isUser = this.map.kind === "users";
    for (const change of changes) {
      const key = isUser ? change.info.user : change.info.client;
      if (!newer.has(key)) this.#waiting.set(key, change);
    }
    for (const [key, change] of newer) this.#waiting.set(key, change);
  }
}
