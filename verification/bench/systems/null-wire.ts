import type { Wire } from "./wire.ts";

/** The null system: whoever connects is there at once, and what is posted goes to everybody as it is. */
export const nullWire: Wire = {
  connectScript: () => ({ path: "/", steps: [] }),
  publish: (_channel, data) => ({ path: "/", headers: {}, body: data }),
};
