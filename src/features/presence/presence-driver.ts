import { PresenceListing, shownClients } from "../../channel/presence.ts";
import type { PresenceMap } from "./presence-map.ts";
import type { PresenceTeller, PresenceTelling } from "./presence-teller.ts";
import type { PresenceTold, PresenceToldReply } from "./presence-call.ts";
import type { ChannelPresenceReply, PresenceKind } from "../../contract/relay-request.ts";
import { presenceLimits } from "./limits.ts";
import { limits } from "../../limits.ts";
import type { ClientInfo } from "../../protocol/publication.ts";
import { NextTimer } from "../../object/alarm-schedule.ts";
import type { ObjectPart, PartedChannelObject } from "../../object/part.ts";
import { gatherPresence } from "../../object/gather-presence.ts";
import { answerOf } from "../../object/object-call.ts";

/**
 * Makes the calls between the objects of channels and of their presence maps (rules Z21 to Z24, Z27, Z28 and Z35 to
 * Z37): for a channel that has such maps, it tells them who comes and goes, and lists the subscribers; for a map, it
 * asks for that list. `PresenceTeller` and `PresenceMap` decide when.
 */
export class PresenceDriver implements ObjectPart {
  readonly #object: PartedChannelObject;
  readonly #map: PresenceMap | undefined;
  readonly #teller: PresenceTeller | undefined;
  readonly #timer: NextTimer;

  /**
   * @param map    undefined if the channel is no presence map
   * @param teller undefined if it has none
   */
  constructor(
    object: PartedChannelObject,
    map: PresenceMap | undefined,
    teller: PresenceTeller | undefined,
  ) {
    this.#object = object;
    this.#map = map;
    this.#teller = teller;
    const { platform } = object;
    this.#timer = new NextTimer(platform, () => object.endEvent(platform.nowMs()));
  }

  /** Asks and calls what is due. */
  settle(nowMs: number): void {
    if (this.#map?.begins(nowMs) === true) this.#count(this.#map);
    const teller = this.#teller;
    if (teller === undefined) return;
    for (const telling of teller.calls(nowMs)) this.#tell(telling);
    this.#timer.set(teller.retryInMs(nowMs), nowMs);
  }

  ring(nowMs: number): void {
    this.#map?.ring(nowMs);
  }

  dueAtMs(nowMs: number): number {
    return this.#map?.dueAtMs(nowMs) ?? Number.POSITIVE_INFINITY;
  }

  /** Lists the clients or users that the channel's presence map shows, in slices, and tells it of later ones. */
  listShown(kind: PresenceKind, done: (reply: ChannelPresenceReply) => void): void {
    const { channel, platform, called, later, bounds, sweep, endEvent } = this.#object;
    sweep();
    this.#teller?.asked(kind);
    const { gateways } = channel.relay;
    called(gateways.length);
    gatherPresence(platform, gateways, channel.name, true, (others) => {
      const listing = new PresenceListing(shownClients(channel.hub.subscribers), others);
      const clients: ClientInfo[] = [];
      const users = new Set<string>();
      const listSlice = (): void => {
        const part = listing.next(bounds.presenceSliceClients);
        if (kind === "clients") clients.push(...part);
        else for (const { user } of part) users.add(user);
        if (!listing.over) {
          later(0, listSlice);
          return;
        }
        for (const user of users) clients.push({ user, client: "" });
        endEvent(platform.nowMs());
        done({ outcome: "present", clients, complete: others.complete });
      };
      listSlice();
    });
  }

  /** Takes what the channel that this presence map shows has told. */
  presenceTold({ source, changes }: PresenceTold, done: (reply: PresenceToldReply) => void): void {
    const { channel, queue, platform } = this.#object;
    const { hub } = channel;
    const presenceMap = this.#map;
    if (source !== presenceMap?.shown.channel) {
      done({ outcome: "left" });
      return;
    }
    const job = (): PresenceToldReply => {
      const nowMs = platform.nowMs();
      return hub.overloaded(nowMs) ? busy : presenceMap.told(changes, nowMs);
    };
    queue.enqueue("publish", changes.length * changeBytes, job, (carriedOut) => {
      this.#object.endEvent(platform.nowMs());
      done(carriedOut.outcome === "done" ? carriedOut.result : busy);
    });
  }

  /** Makes a census, and applies it in slices, each of them a job. */
  #count(presenceMap: PresenceMap): void {
    const { platform, called, queue, later, endEvent } = this.#object;
    const { channel, kind } = presenceMap.shown;
    const slice = (): void =>
      queue.enqueue(
        "publish",
        sliceBytes,
        () => presenceMap.slice(platform.nowMs()),
        (carriedOut) => {
          if (carriedOut.outcome === "done" && carriedOut.result) endEvent(platform.nowMs());
          else later(0, slice);
        },
      );
    called();
    platform.call("present", channel, [kind], presenceLimits.presenceCountMs, (reply) => {
      if (presenceMap.listed(answerOf(reply), platform.nowMs())) slice();
      else endEvent(platform.nowMs());
    });
  }

  #tell(telling: PresenceTelling): void {
    const { platform, called, endEvent } = this.#object;
    called();
    const { map, told } = telling;
    platform.call("presenceTold", map.channel, [told], limits.objectAnswerMs, (reply) => {
      const nowMs = platform.nowMs();
      this.#teller?.answered(telling, answerOf(reply) ?? "failed", nowMs);
      endEvent(nowMs);
    });
  }
}

const busy = { outcome: "busy" } as const;

/** What a change that is told takes in memory, roughly. */
const changeBytes = 512;

const sliceBytes = limits.presenceSliceClients * changeBytes;
