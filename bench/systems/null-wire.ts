import type { Wire } from "./wire.ts";

/** The null system: a socket is subscribed at once, and posted data is sent to all sockets as it is. */
export const nullWire: Wire = {
  connectScript: () => ({ path: "/", steps: [] }),
  publish: (_channel, data) => ({ path: "/", headers: {}, body: data }),
};
