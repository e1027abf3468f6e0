import type { MapOptions } from "./config.ts";
import type { StreamPosition } from "../../protocol/publication.ts";
import type { Grant } from "../../session/decision.ts";
import type { Subscription } from "../../session/subscription.ts";
import type { SubscriptionFlow } from "../../session/subscriptions.ts";
import { dueMoment } from "../../moment.ts";

/**
 * A client's synchronisation with a map, from its first request until it is subscribed (docs/protocol.md 3.4). Its
 * subscription is pending meanwhile, and takes one of the connection's places.
 *
 * A flow lives in memory alone, because it lasts for seconds: after an eviction the client starts again (rule Z16).
 */
export class MapFlow implements SubscriptionFlow {
  /** The decision on the first request, which holds for the later ones. */
  readonly grant: Grant;
  readonly subscription: Subscription;
  readonly map: MapOptions;
  /** The type of the subscription, as the client knows it. */
  readonly type: number;
  /** Whether the client came back with a position, instead of reading the state. */
  readonly recovering: boolean;
  /**
   * The position from which the client needs the changes: the top when the first page was read, then the last change of
   * each page of the stream, or what the client came back with. Undefined before the first page.
   */
  position: StreamPosition | undefined;
  /** The top when the last page of the state was read: the client lacks keys that were changed since the first one. */
  readOffset = 0;
  /** Whether one of the flow's requests is being answered. */
  answering = false;
  /** Whether the channel has been asked to begin the subscription, and hasn't answered. */
  joining = false;
  readonly #endsAtMs: number;

  /** @param since the position of a client that comes back; undefined for one that reads the state */
  constructor(
    grant: Grant,
    subscription: Subscription,
    map: MapOptions,
    type: number,
    since: StreamPosition | undefined,
    nowMs: number,
  ) {
    this.grant = grant;
    this.subscription = subscription;
    this.map = map;
    this.type = type;
    this.recovering = since !== undefined;
    this.position = since;
    this.#endsAtMs = nowMs + map.subscribeCatchUpTimeoutMs;
  }

  get channel(): string {
    return this.subscription.channel;
  }

  /** Whether the client has taken longer than the namespace allows (rule Z17). */
  isOver(nowMs: number): boolean {
    return nowMs > dueMoment(this.#endsAtMs, this.map.subscribeCatchUpTimeoutMs, nowMs - 1);
  }

  /** Whether clients get offsets, and can recover. */
  get hasStream(): boolean {
    return this.map.mode !== "ephemeral";
  }

  /** How many entries a page has, if the client asks for so many; 0 for the namespace's default. */
  pageSize(requested: number): number {
    const { defaultPageSize, minPageSize, maxPageSize } = this.map;
    const size = requested > 0 ? requested : defaultPageSize;
    return Math.min(Math.max(size, minPageSize), maxPageSize);
  }
}
