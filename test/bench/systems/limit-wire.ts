import type { Wire } from "./wire.ts";

/** The object that does nothing but batch and send. A connection costs it one exchange of frames, as others have at least. */
export const limitWire: Wire = {
  entrance: ({ channel, token }) => ({
    path: `/channel/${encodeURIComponent(channel)}/websocket${token === "" ? "" : `?token=${token}`}`,
    steps: [{ send: "hello", answer: "welcome" }],
  }),
  publish: (channel, data) => ({
    path: `/channel/${encodeURIComponent(channel)}/publish`,
    headers: {},
    body: data,
  }),
  publishBatch: (channels, data) => ({
    path: "/publish",
    headers: {},
    body: `{"channels":${JSON.stringify(channels)},"data":${data}}`,
  }),
};
