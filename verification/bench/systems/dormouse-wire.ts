import type { Caller, Post, Step, Wire } from "./wire.ts";

/** The commands of the official SDKs: connect, and then subscribe. */
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

/** The API key of the bench. */
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
