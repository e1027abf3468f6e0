import {
  centrifugoBatch,
  centrifugoPublish,
  centrifugoPublishKey,
  centrifugoReceipt,
  centrifugoSteps,
} from "./centrifugo-requests.ts";
import type { Wire } from "./wire.ts";

/** The commands of the official SDKs: connect, and then subscribe. */
export function dormouseWire(endpoint: "channel" | "gateway"): Wire {
  return {
    connectScript: (caller) => ({
      path: pathOf(endpoint, caller.channel),
      steps: centrifugoSteps(caller),
    }),
    publish: (channel, data) => centrifugoPublish({ path: "/api", key: apiKey }, channel, data),
    publishBatch: (channels, data) =>
      centrifugoBatch({ path: "/api", key: apiKey }, channels, data),
    publishKey: (channel, key, data) =>
      centrifugoPublishKey({ path: "/api", key: apiKey }, channel, key, data),
    appendKey: (channel, key, text) => ({
      path: "/api/map_append",
      headers: { "X-API-Key": apiKey, "Content-Type": "application/json" },
      body: JSON.stringify({ channel, key, text }),
    }),
    call: (channel, data) => ({
      path: "/api/call",
      headers: { "X-API-Key": apiKey, "Content-Type": "application/json" },
      body: `{"channel":${JSON.stringify(channel)},"procedure":"say","args":${data}}`,
    }),
    receipt: centrifugoReceipt,
    mark: (channel, offset) =>
      `{"id":3,"rpc":{"method":"dormouse.read","data":{"channel":${JSON.stringify(channel)},"offset":${offset}}}}`,
    ping: { sent: "{}", answer: "{}" },
  };
}

/** The API key of the bench. */
export const apiKey = "the key of the bench";

function pathOf(endpoint: "channel" | "gateway", channel: string): string {
  return endpoint === "channel"
    ? `/channel/${encodeURIComponent(channel)}/websocket`
    : "/connection/websocket";
}
