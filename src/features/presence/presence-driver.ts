import { PresenceListing, shownClients } from "../../channel/presence.ts";
import { mirrorChange, type PresenceMap } from "./presence-map.ts";
import type { PresenceTeller, PresenceTelling, PresenceTold } from "./presence-teller.ts";
import type { ChannelPresenceReply, PresenceKind } from "../../contract/relay-request.ts";
import { limits } from "../../limits.ts";
import type { ClientInfo } from "../../protocol/publication.ts";
import { mapLimits } from "../maps/limits.ts";
import { MirrorDriver } from "../maps/mirror/mirror-driver.ts";
import type { MirrorToldReply } from "../maps/mirror/mirror-map.ts";
import { NextTimer } from "../../object/alarm-schedule.ts";
import type { ObjectPart, PartedChannelObject } from "../../object/part.ts";
import { gatherPresence } from "../../object/channel-presence.ts";
import { answerOf } from "../../object/object-call.ts";

/** Tells the presence maps of a channel who comes and goes, and lists the subscribers: `PresenceTeller` decides when. */
export class PresenceDriver implements ObjectPart {
  readonly #object: PartedChannelObject;
  readonly #teller: PresenceTeller;
  readonly #timer: NextTimer;

  constructor(object: PartedChannelObject, teller: PresenceTeller) {
    this.#object = object;
    this.#teller = teller;
    const { platform } = object;
    this.#timer = new NextTimer(platform, (nowMs) => object.endEvent(nowMs));
  }

  /** Makes the calls that are due. */
  settle(nowMs: number): void {
    for (const telling of this.#teller.calls(nowMs)) this.#tell(telling);
    this.#timer.set(this.#teller.retryInMs(nowMs), nowMs);
  }

  /** Lists the clients or users that the channel's presence map shows, in slices, and tells it of later ones. */
  listShown(kind: PresenceKind, done: (reply: ChannelPresenceReply) => void): void {
    const { channel, platform, called, later, bounds, sweep, endEvent } = this.#object;
    sweep();
    this.#teller.asked(kind);
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

  #tell(telling: PresenceTelling): void {
    const { platform, called, endEvent } = this.#object;
    called();
    const { map, told } = telling;
    platform.call("presenceTold", map.channel, [told], limits.objectAnswerMs, (reply) => {
      const nowMs = platform.nowMs();
      this.#teller.answered(telling, answerOf(reply) ?? "failed", nowMs);
      endEvent(nowMs);
    });
  }
}

/** Has the object of a presence map count, and take what it is told. */
export class PresenceMapDriver extends MirrorDriver<ClientInfo> {
  constructor(object: PartedChannelObject, map: PresenceMap) {
    const { channel, kind } = map.shown;
    super(object, map, (done) => {
      const { mirrorCountMs } = mapLimits;
      object.platform.call("present", channel, [kind], mirrorCountMs, (reply) => {
        const answer = answerOf(reply);
        const list = answer?.outcome === "present" ? answer : undefined;
        done(list && { items: list.clients, isComplete: list.complete });
      });
    });
  }

  /** Takes what the channel that this presence map shows has told. */
  told({ source, changes }: PresenceTold, done: (reply: MirrorToldReply) => void): void {
    this.take(source, changes.map(mirrorChange), undefined, done);
  }
}
