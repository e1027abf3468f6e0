import type { PresenceKind } from "../../contract/relay-request.ts";
import type { ChannelPart } from "../../channel/channel-part.ts";
import type { RelayEntry } from "../../contract/relay-batch.ts";
import { MirrorLine, type MirrorTelling } from "../maps/mirror/mirror-line.ts";
import type { MirrorToldReply } from "../maps/mirror/mirror-map.ts";
import type { ClientInfo } from "../../protocol/publication.ts";
import type { PresenceChannel } from "./presence-channels.ts";

declare module "../../contract/relay-batch.ts" {
  interface RelayEntries {
    /** A client has subscribed to a channel with presence maps (rule Z27). It goes to the channel's object only. */
    readonly here: { readonly info: ClientInfo };
    /** Its subscription has ended. */
    readonly away: { readonly info: ClientInfo };
  }
}

/**
 * Reports to the presence maps of a channel who comes and goes (rule Z27), to each on a line of its own. The platform
 * makes the calls and reports the reply of each to {@link answered}.
 */
export class PresenceTeller implements ChannelPart {
  readonly #source: string;
  readonly #lines: readonly PresenceLine[];

  /**
   * @param source the channel
   * @param maps   its presence maps
   */
  constructor(source: string, maps: readonly PresenceChannel[]) {
    this.#source = source;
    this.#lines = maps.map((map) => ({ map, line: new MirrorLine(keyOf(map.kind)) }));
  }

  announced(entry: RelayEntry): void {
    if (entry.type === "here" || entry.type === "away") this[entry.type](entry.info);
  }

  /** A client's subscription has begun: here, or on a gateway. */
  here(info: ClientInfo): void {
    for (const { map, line } of this.#lines)
      if (map.kind === "clients") line.tell({ type: "here", info });
      else if (info.user !== "") line.tell({ type: "here", info: { user: info.user, client: "" } });
  }

  /** A client's subscription has ended. Users stay in their map for a while, so nothing is reported about them. */
  away(info: ClientInfo): void {
    for (const { map, line } of this.#lines)
      if (map.kind === "clients") line.tell({ type: "away", info });
  }

  /** A map's object asks who is subscribed: from now on changes are reported to it. */
  asked(kind: PresenceKind): void {
    for (const { map, line } of this.#lines) if (map.kind === kind) line.asked();
  }

  /** The calls to make now. Report the reply of each to {@link answered}, once. */
  calls(nowMs: number): readonly PresenceTelling[] {
    return this.#lines.flatMap(({ map, line }) => {
      const telling = line.next(nowMs);
      if (telling === undefined) return [];
      return [{ map, told: { source: this.#source, changes: telling.changes }, telling }];
    });
  }

  /**
   * Takes the reply to a call.
   *
   * @param reply "failed" if it is unknown whether the map's object took it
   */
  answered(
    { map, telling }: PresenceTelling,
    reply: MirrorToldReply | "failed",
    nowMs: number,
  ): void {
    const outcome = reply === "failed" ? reply : reply.outcome;
    this.#lines.find((one) => one.map === map)?.line.answered(telling, outcome, nowMs);
  }

  /** In how many ms {@link calls} is to be called again because of a call that failed; undefined if none did. */
  retryInMs(nowMs: number): number | undefined {
    const due = Math.min(...this.#lines.map(({ line }) => line.dueAtMs(nowMs)));
    return due === Number.POSITIVE_INFINITY ? undefined : Math.max(0, due - nowMs);
  }
}

/** A call to make to the object of a presence map. */
export interface PresenceTelling {
  readonly map: PresenceChannel;
  readonly told: PresenceTold;
  readonly telling: MirrorTelling<PresenceChange>;
}

/** One presence map, and the changes that are still to be reported to it. */
interface PresenceLine {
  readonly map: PresenceChannel;
  readonly line: MirrorLine<PresenceChange>;
}

function keyOf(kind: PresenceKind): (change: PresenceChange) => string {
  return kind === "users" ? ({ info }) => info.user : ({ info }) => info.client;
}

/**
 * The reports of a channel's object to the object of its presence map, and that object's questions (rules Z21 and Z22).
 * During a deploy the two sides may be one release apart (rule V1): fields are only added, and the absence of an added
 * field has a meaning.
 */
export interface PresenceTold {
  /** The channel whose subscribers the map shows. */
  readonly source: string;
  /** In the order in which they happened, one for each client or user. */
  readonly changes: readonly PresenceChange[];
}

/**
 * A client has subscribed, or its subscription has ended. For a user only the first case is reported, with "" for the
 * client.
 */
export interface PresenceChange {
  readonly type: "here" | "away";
  readonly info: ClientInfo;
}
