import type {
  PresenceTeller,
  PresenceChange,
} from "../../../src/features/presence/presence-teller.ts";
import type { Publication } from "../../../src/protocol/publication.ts";
import type { WorldClient } from "./client.ts";
import { presenceKindOf, shownChannel } from "./presence-kinds.ts";
import { PresenceSubscription } from "./presence-subscription.ts";
import type { Timeline } from "./timeline.ts";

/**
 * What each change of a presence map may be, by who has come and gone (rules Z21 to Z23). In a world whose objects crash,
 * or whose calls are late, a map may be wrong until its next census, so there only the state at rest is compared.
 */
export class PresenceRules {
  /** Which changes are judged: all, those that a gateway can't cause by not answering a census, or none. */
  judges: "all" | "immediate" | "none" = "none";
  readonly #timeline: Timeline;
  readonly #clients: () => readonly WorldClient[];
  readonly #complain: (what: string) => void;
  /** When the channel's object last learnt that a client came, by ID. */
  readonly #came = new Map<string, number>();
  readonly #went = new Map<string, Going>();
  /** When the map of clients was last told that a client has gone. */
  readonly #heard = new Map<string, number>();
  /** The last change of each key, in the map of clients. */
  readonly #changes = new Map<string, { readonly atMs: number; readonly isRemoval: boolean }>();

  constructor(
    timeline: Timeline,
    clients: () => readonly WorldClient[],
    complain: (what: string) => void,
  ) {
    this.#timeline = timeline;
    this.#clients = clients;
    this.#complain = complain;
  }

  /** Notes what an instance of the shown channel is told. */
  watch(teller: PresenceTeller): void {
    const here = teller.here.bind(teller);
    const away = teller.away.bind(teller);
    teller.here = (info) => {
      this.#came.set(info.client, this.#timeline.nowMs);
      here(info);
    };
    teller.away = (info) => {
      const { client } = info;
      const atMs = this.#timeline.nowMs;
      this.#went.set(client, { atMs, generation: this.#subscriptionOf(client)?.generation });
      away(info);
    };
  }

  /** A presence map has taken what it was told. */
  told(map: string, changes: readonly PresenceChange[]): void {
    if (presenceKindOf(map) !== "clients") return;
    for (const { type, info } of changes)
      if (type === "away") this.#heard.set(info.client, this.#timeline.nowMs);
  }

  /**
   * A presence map is about to change.
   *
   * @param hasEnded whether the key has ended by now
   */
  changed(map: string, { key = "", ...publication }: Publication, hasEnded: boolean): void {
    const removed = publication.removed === true;
    if (this.judges === "none") return;
    const isLate = hasEnded && this.judges === "immediate";
    const isOfClients = presenceKindOf(map) === "clients";
    if (!isOfClients) {
      if (removed && !isLate && this.#isUserThere(map, key))
        this.#complain(`${map} removed ${key}, who is there`);
      return;
    }
    if (removed && !isLate && this.#isClientThere(key))
      this.#complain(`${map} removed ${key}, which is there`);
    if (!removed && this.#isGone(key)) this.#complain(`${map} has ${key} again, which is gone`);
    this.#changes.set(key, { atMs: this.#timeline.nowMs, isRemoval: removed });
  }

  /** Whether the map has heard that a client is there, and nothing else since. */
  #isClientThere(id: string): boolean {
    const { nowMs } = this.#timeline;
    const change = this.#changes.get(id);
    const cameMs = this.#came.get(id);
    if (change === undefined || cameMs === undefined || change.isRemoval) return false;
    const wentMs = this.#went.get(id)?.atMs ?? Number.NEGATIVE_INFINITY;
    const client = this.#clientOf(id);
    // A census finds a client gone once the server has closed its connection, before the client knows it.
    const isLive =
      client?.subscription(shownChannel).state === "on" &&
      client.connected?.socket?.isOpen !== false;
    return isLive && change.atMs > cameMs && nowMs - wentMs > tellingMs;
  }

  /** Whether a client has gone, which the map has heard, and hasn't come back. */
  #isGone(id: string): boolean {
    const went = this.#went.get(id);
    if (went === undefined) return false;
    const heardMs = this.#heard.get(id) ?? Number.NEGATIVE_INFINITY;
    const isTold = heardMs > went.atMs && went.atMs > (this.#came.get(id) ?? 0);
    const subscription = this.#subscriptionOf(id);
    const isOff = subscription === undefined || subscription.state === "off";
    return isTold && isOff && subscription?.generation === went.generation;
  }

  /** Whether somebody who looks has seen since a while that the user is there. */
  #isUserThere(map: string, user: string): boolean {
    const sinceMs = this.#timeline.nowMs - tellingMs;
    const isSeen = this.#clients().some((client) => {
      const seen = client.live.find(({ channel }) => channel === map);
      return seen instanceof PresenceSubscription && seen.beganAtMs < sinceMs;
    });
    return (
      isSeen &&
      this.#clients().some((client) => {
        const { id = "" } = client.connected ?? {};
        const isLive = client.live.some(({ channel }) => channel === shownChannel);
        return client.user === user && isLive && (this.#came.get(id) ?? sinceMs) < sinceMs;
      })
    );
  }

  #subscriptionOf(id: string) {
    return this.#clientOf(id)?.subscription(shownChannel);
  }

  #clientOf(id: string): WorldClient | undefined {
    return this.#clients().find(({ connected }) => connected?.id === id);
  }
}

/** A client's subscription has ended. */
interface Going {
  readonly atMs: number;
  /** That of the client's subscription then; undefined if it wasn't connected any more. */
  readonly generation: number | undefined;
}

/** Longer than a map takes to hear of something in a world whose calls to it don't fail. */
const tellingMs = 5_000;
