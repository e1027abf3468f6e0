import { env } from "cloudflare:workers";
import { handoverAddress, handoverRequest } from "../../../workers/http/placement.ts";
import type { ChannelObject } from "../../../workers/objects/channel-object.ts";
import type { GatewayObject } from "../../../workers/objects/gateway-object.ts";
import type { UsersObject } from "../../../workers/objects/users-object.ts";
import { gatewayName } from "../../../src/contract/object-names.ts";
import { fullHeader, type Handover } from "../../../src/contract/handover.ts";
import { address, fetchWith } from "./api-request.ts";
import { watchedUpgrades } from "./watched-upgrades.ts";

/** The stub of an object that can hold sockets. */
export type Holder =
  | DurableObjectStub<ChannelObject>
  | DurableObjectStub<GatewayObject>
  | DurableObjectStub<UsersObject>;

/** The object that holds a client's socket. A client's actions on a channel have the same effect in every place. */
export interface Place {
  readonly name: string;
  /** Whether the socket knows no channel but the one it was opened on (rule C6). */
  readonly oneChannel: boolean;
  /** Asks for a WebSocket, as a client's handshake does; the edge is the real one. */
  upgrade(channel: string, query?: string, headers?: object): Promise<Response>;
  /** The object that holds the place's sockets for this channel. */
  holder(channel: string): Holder;
}

/** A socket that was opened on the channel. */
export const channelPlace: Place = {
  name: "a channel's socket",
  oneChannel: true,
  upgrade: (channel, query = "", headers = {}) =>
    fetchWith({}, handshake(channelPath(channel) + query, headers)),
  holder: (channel) => env.CHANNELS.getByName(channel),
};

/** The same when the channel's object is full. */
export const spillPlace: Place = {
  name: "a spill gateway's socket",
  oneChannel: true,
  upgrade: (channel, query = "", headers = {}) => {
    const full = { status: 503, headers: { [fullHeader]: "1" } };
    const CHANNELS = watchedUpgrades(env.CHANNELS, async () => new Response(null, full));
    return fetchWith({ CHANNELS }, handshake(channelPath(channel) + query, headers));
  },
  holder: (channel) => env.GATEWAYS.getByName(gatewayName({ kind: "channel", channel, index: 0 })),
};

/** A socket for many channels. Each test's channel has gateways of its own, and is their region, so to speak. */
export function gatewayPlace(index = 0): Place {
  const holder = (channel: string) =>
    env.GATEWAYS.getByName(gatewayName({ kind: "pool", region: channel, index }));
  return {
    name: "a gateway's socket",
    oneChannel: false,
    upgrade: (channel, query = "", headers = {}) => {
      const GATEWAYS = watchedUpgrades(env.GATEWAYS, ({ request }) =>
        holder(channel).fetch(request),
      );
      return fetchWith({ GATEWAYS }, handshake(`/connection/websocket${query}`, headers));
    },
    holder,
  };
}

/** For tables of tests. */
export const places: readonly Place[] = [channelPlace, gatewayPlace(), spillPlace];

/** Asks an object itself to take a socket, past the edge, which would try another one. */
export function requestUpgrade(holder: Holder, more: Partial<Handover> = {}): Promise<Response> {
  const handover = { v: 1, keepalive: "server", ...more } as const;
  return holder.fetch(handoverAddress, handoverRequest(handshake("/", {}), handover));
}

function channelPath(channel: string): string {
  return `/channel/${encodeURIComponent(channel)}/websocket`;
}

function handshake(path: string, headers: object): Request {
  return new Request(address(path), { headers: { Upgrade: "websocket", ...headers } });
}
