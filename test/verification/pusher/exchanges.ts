import type { Exchange } from "./exchange.ts";
import { caches, channels, presence } from "./scenes/channels.ts";
import { connections, users } from "./scenes/connections.ts";
import { clientEvents, delivered } from "./scenes/events.ts";
import { requests } from "./scenes/requests.ts";

/** All frames and requests that are sent to servers of the Pusher protocol to compare their answers. */
export const exchanges: readonly Exchange[] = [
  ...connections,
  ...users,
  ...channels,
  ...presence,
  ...caches,
  ...clientEvents,
  ...delivered,
  ...requests,
];
