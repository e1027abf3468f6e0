import type { Post, Wire } from "./wire.ts";

/** bench/peers/ws-server.js. Every connection is subscribed. */
export const wsWire: Wire = {
  connectScript: ({ channel }) => ({ path: `/?channel=${encodeURIComponent(channel)}`, steps: [] }),
  publish: (channel, data) => post([channel], data),
  publishBatch: post,
  receipt: "receipt",
};

/** bench/peers/socket-io-server.js: engine.io 4 over WebSocket alone, and Socket.IO's own connect packet in it. */
export const socketIoWire: Wire = {
  connectScript: ({ channel }) => ({
    path: `/socket.io/?EIO=4&transport=websocket&channel=${encodeURIComponent(channel)}`,
    steps: [{ send: "40", answer: "40{" }],
  }),
  publish: (channel, data) => post([channel], data),
  publishBatch: post,
  ping: { sent: "2", answer: "3" },
  // An event that asks for an acknowledgement.
  receipt: '421["receipt"]',
};

/** bench/peers/partyserver-worker.js. Every connection is in the room. */
export const partyserverWire: Wire = {
  connectScript: ({ channel }) => ({ path: channelPath(channel), steps: [] }),
  publish: (channel, data) => ({
    path: channelPath(channel),
    headers: {},
    body: `{"channel":${JSON.stringify(channel)},"data":${data}}`,
  }),
  receipt: "receipt",
};

function post(channels: readonly string[], data: string): Post {
  return {
    path: "/publish",
    headers: { "Content-Type": "application/json" },
    body: `{"channels":${JSON.stringify(channels)},"data":${data}}`,
  };
}

function channelPath(channel: string): string {
  return `/parties/rooms/${encodeURIComponent(channel)}`;
}
