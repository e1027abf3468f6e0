import type { Caller, Post, Step, Wire } from "./wire.ts";

/** Dormouse as official SDKs speak to it: they connect, and subscribe when that was answered. */
export function dormouseWire(endpoint: "channel" | "gateway"): Wire {
  return {
    connectScript: (caller) => ({ path: pathOf(endpoint, caller.channel), steps: stepsOf(caller) }),
    publish: (channel, data) =>
      post("/api/publish", `{"channel":${JSON.stringify(channel)},"data":${data}}`),
    publishBatch: (channels, data) => {
      const commands = channels.map(
        (channel) => `{"publish":{"channel":${JSON.stringify(channel)},"data":${data}}}`,
      );
      return post("/api/batch", `{"commands":[${commands.join(",")}],"parallel":true}`);
    },
    ping: { sent: "{}", answer: "{}" },
  };
}

/** What a backend of the bench must know. */
export const apiKey = "the key of the bench";

function pathOf(endpoint: "channel" | "gateway", channel: string): string {
  return endpoint === "channel"
    ? `/channel/${encodeURIComponent(channel)}/websocket`
    : "/connection/websocket";
}

function stepsOf({ channel, token, since }: Caller): readonly Step[] {
  const connect = JSON.stringify(token === "" ? {} : { token });
  const subscribe = JSON.stringify({
    channel,
    ...(since !== undefined && { recover: true, epoch: since.epoch, offset: since.offset }),
  });
  return [
    { send: `{"id":1,"connect":${connect}}`, answer: '"connect":{' },
    { send: `{"id":2,"subscribe":${subscribe}}`, answer: '"subscribe":{' },
  ];
}

function post(path: string, body: string): Post {
  return {
    path,
    headers: { "X-API-Key": apiKey, "Content-Type": "application/json" },
    body,
  };
}
