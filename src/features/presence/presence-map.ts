import type { PresenceChange } from "./presence-teller.ts";
import { noPayload } from "../../protocol/payload.ts";
import type { ClientInfo } from "../../protocol/publication.ts";
import type { ChannelMap } from "../maps/channel-map.ts";
import { isKey } from "../maps/map-call.ts";
import {
  type MirrorChange,
  type MirrorKey,
  MirrorMap,
  type MirrorTimes,
} from "../maps/mirror/mirror-map.ts";
import type { PresenceChannel } from "./presence-channels.ts";

/**
 * The keys of a presence map: the clients that are subscribed to another channel, or their users (rules Z21 to Z24,
 * Z27, Z28 and Z35 to Z37). It is a mirror, whose source's object lists the subscribers, and tells who comes and goes.
 *
 * A client that isn't found any more is removed, if all gateways have answered. A user, or a client where a gateway hasn't
 * answered, is removed `key_ttl` after the first census that didn't find it.
 */
export class PresenceMap extends MirrorMap<ClientInfo> {
  /** The channel whose subscribers the map shows. */
  readonly shown: PresenceChannel;

  constructor(map: ChannelMap, { shown, ...times }: PresenceMapSetup) {
    const { kind, channel } = shown;
    super(map, channel, {
      ...times,
      keyOf: (info) => keyOf(kind, info),
      hidesAtOnce: (isComplete) => kind === "clients" && isComplete,
    });
    this.shown = shown;
  }
}

interface PresenceMapSetup extends MirrorTimes {
  readonly shown: PresenceChannel;
}

/** Who has come or gone, as a change of the mirror. */
export function mirrorChange({ type, info }: PresenceChange): MirrorChange<ClientInfo> {
  return { isGone: type === "away", item: info };
}

/** The key of a client; undefined if it has none. An anonymous user has none in a map of users. */
function keyOf(kind: PresenceChannel["kind"], info: ClientInfo): MirrorKey | undefined {
  const key = kind === "clients" ? info.client : info.user;
  if (!isKey(key)) return undefined;
  const data = noPayload();
  return kind === "clients" ? { key, data, info } : { key, data };
}
