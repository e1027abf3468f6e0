import type { TestServer } from "../servers/test-server.ts";

/** One of the two places where a client reaches a channel. */
export interface Endpoint {
  /** Of the kind of object that holds the socket there. */
  readonly name: "channel" | "gateway";
  /** The address for a client, through another address of the server if one is given. */
  readonly address: (server: TestServer, channel: string, at?: string) => string;
}

/** `/channel/<name>/websocket`: a socket for this channel alone, on the channel's own object. */
export const channelEndpoint: Endpoint = {
  name: "channel",
  address: (server, channel, at) => server.socketAddress(channel, at),
};

/** `/connection/websocket`: a socket for many channels, on a gateway. */
export const gatewayEndpoint: Endpoint = {
  name: "gateway",
  address: (server, _, at) => server.gatewayAddress(at),
};

/** For `describe.each`: the same test at both. */
export const endpoints: readonly Endpoint[] = [channelEndpoint, gatewayEndpoint];
