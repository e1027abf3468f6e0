import { channelEndpoint, type Endpoint, gatewayEndpoint } from "./endpoint.ts";
import type { TestServer } from "./test-server.ts";

/**
 * Where the clients of a test connect, and what happens to the objects between two of its steps (rule S2): nothing must be
 * seen of either from outside.
 */
export interface Variant {
  /** Short enough to be a part of a channel's name: tests that share a server don't share channels. */
  readonly name: string;
  readonly endpoint: Endpoint;
  /** Between two steps. Rejects when there was no instance to throw away. */
  readonly betweenSteps: (server: TestServer, channel: string) => Promise<void>;
}

/** The gateway that takes everybody on this machine, as long as it has room. */
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
    betweenSteps: async (server, channel) => {
      // After some steps only one of the two has anything to do: a connect is the gateway's, a publish the channel's.
      let evictions = 0;
      while (!(await server.gatewayAsleep(firstGateway))) evictions++;
      while (!(await server.asleep(channel))) evictions++;
      if (evictions === 0) throw new Error("neither the gateway nor the channel was running");
    },
  },
];

/** The same, for what only gateways can do. */
export const gatewayVariants = variants.filter(({ endpoint }) => endpoint.name === "gateway");
