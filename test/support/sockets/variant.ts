import { channelEndpoint, type Endpoint, gatewayEndpoint } from "./endpoint.ts";
import type { TestServer } from "../servers/test-server.ts";

/**
 * The address of a test's clients, and what happens to the objects between two of its steps (rule S2): clients must not
 * notice either.
 */
export interface Variant {
  /** Short enough to be a part of a channel's name: tests that share a server don't share channels. */
  readonly name: string;
  readonly endpoint: Endpoint;
  /** Between two steps. Rejects when there was no instance to throw away. */
  readonly betweenSteps: (server: TestServer, channel: string) => Promise<void>;
}

/** The gateway that all clients on this machine reach, as long as it isn't full. */
export const firstGateway = "na/0";

/** For `describe.each`: the same test with objects that stay in memory, and with objects that are thrown away all the time. */
export const variants: readonly Variant[] = [
  { name: "channel-awake", endpoint: channelEndpoint, betweenSteps: () => Promise.resolve() },
  {
    name: "channel-evicted",
    endpoint: channelEndpoint,
    betweenSteps: (server, channel) => server.evict(channel),
  },
  { name: "gateway-awake", endpoint: gatewayEndpoint, betweenSteps: () => Promise.resolve() },
  {
    name: "gateway-evicted",
    endpoint: gatewayEndpoint,
    betweenSteps: (server, channel) => evictBoth(server, firstGateway, channel),
  },
];

/** Throws away the instances of a gateway and of a channel. Rejects when there was none. */
export async function evictBoth(
  server: TestServer,
  gateway: string,
  channel: string,
): Promise<void> {
  // After some steps only one of the two is running: a connect concerns the gateway, a publish the channel.
  let evictions = 0;
  while (!(await server.gatewayAsleep(gateway))) evictions++;
  while (!(await server.asleep(channel))) evictions++;
  if (evictions === 0) throw new Error("neither the gateway nor the channel was running");
}

/** The variants with many channels for each connection. */
export const gatewayVariants = variants.filter(({ endpoint }) => endpoint.name === "gateway");
