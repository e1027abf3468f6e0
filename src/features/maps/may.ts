/** The permissions of clients to change the keys of maps (rule Z18). */
import type { ChannelOptions } from "../../config/config.ts";
import { errorCodes } from "../../protocol/codes.ts";
import {
  allowed,
  type AskedChannel,
  type Caller,
  deniedByOptions,
  isClosed,
  isPermitted,
  type MayByBackend,
  type NotAllowed,
  type Permission,
  refused,
} from "../../session/may.ts";
import type { MapOptions } from "./config.ts";

/** Options of a namespace whose channels may be maps, with hooks of any kind. */
type MapPermissions<Backend> = Pick<
  ChannelOptions,
  "subscriptionType" | "limitedChannelsForSubscribersOnly"
> & { readonly map?: ClientsMap<Backend> };

type ClientsMap<Backend> = Pick<
  MapOptions,
  | "clientKey"
  | "allowPublishForClient"
  | "allowPublishForSubscriber"
  | "allowPublishForAnonymous"
  | "allowRemoveForClient"
  | "allowRemoveForSubscriber"
  | "allowRemoveForAnonymous"
> & { readonly publishHook?: Backend; readonly removeHook?: Backend };

/** Whether a client may set a key of a map. */
export function maySetKey<Backend>(
  channel: AskedChannel<MapPermissions<Backend>>,
  caller: Caller,
): MayByBackend<Backend> {
  return mayChange(channel, caller, "publish", (map) => ({
    client: map.allowPublishForClient,
    subscriber: map.allowPublishForSubscriber,
    anonymous: map.allowPublishForAnonymous,
    hook: map.publishHook,
  }));
}

/** Whether a client may remove a key of a map. */
export function mayRemoveKey<Backend>(
  channel: AskedChannel<MapPermissions<Backend>>,
  caller: Caller,
): MayByBackend<Backend> {
  return mayChange(channel, caller, "remove", (map) => ({
    client: map.allowRemoveForClient,
    subscriber: map.allowRemoveForSubscriber,
    anonymous: map.allowRemoveForAnonymous,
    hook: map.removeHook,
  }));
}

/** Whether a client may append to the value of a key: as it may set the key (rule Z45). */
export function mayAppend<Backend>(
  channel: AskedChannel<MapPermissions<Backend>>,
  caller: Caller,
): MayByBackend<Backend> {
  if (clientsMapOf(channel.options) === undefined) return noClientsMap("Z45");
  return maySetKey(channel, caller);
}

/** The options of a map whose keys clients may change; undefined of other channels, and of maps that the server keeps. */
export function clientsMapOf<Map>({
  subscriptionType,
  map,
}: Pick<ChannelOptions, "subscriptionType"> & { readonly map?: Map }): Map | undefined {
  return subscriptionType === "map" ? map : undefined;
}

function noClientsMap(rule: string): NotAllowed {
  const because = "the channel is no map that clients change";
  return { ...refused(errorCodes.badRequest, rule, because), ofNamespace: true };
}

/** @param optionsOf the options about the kind of change, as a map has them */
function mayChange<Backend>(
  channel: AskedChannel<MapPermissions<Backend>>,
  caller: Caller,
  what: "publish" | "remove",
  optionsOf: (map: ClientsMap<Backend>) => Permission & { readonly hook: Backend | undefined },
): MayByBackend<Backend> {
  const map = clientsMapOf(channel.options);
  if (map === undefined) return noClientsMap("Z18");
  const options = optionsOf(map);
  const { hook } = options;
  const hasKey = map.clientKey !== "user_id" || caller.user !== "";
  if (hasKey && hook !== undefined && !isClosed(channel, caller))
    return { allowed: "asked", by: hook };
  if (hasKey && hook === undefined && isPermitted(channel, caller, "pub", options)) return allowed;
  const because = `no map.allow_${what}_for_… option lets this client, or it has no map.client_key`;
  return deniedByOptions("Z18", because);
}
