import { createHash, createHmac } from "node:crypto";
import type { Peer } from "./peer.ts";
import type { Post, Wire } from "./wire.ts";

/** A server of the Pusher protocol: subscribers of public channels, and an application's server that signs its requests. */
export function pusherWire({ sockets, api, key: secret }: Peer): Wire {
  const key = sockets.path.split("/").at(-1) ?? "";
  const path = (body: string) => signedPath(`${api.path}/events`, body, { key, secret });
  const post = (place: object, data: string): Post => {
    const body = JSON.stringify({ name: "bench", ...place, data });
    return {
      path: path(body),
      headers: { "Content-Type": "application/json" },
      body,
      pathOf: path,
    };
  };
  return {
    connectScript: ({ channel }) => ({
      path: `${sockets.path}?protocol=7&client=bench&version=1.0.0`,
      steps: [
        {
          send: JSON.stringify({ event: "pusher:subscribe", data: { channel } }),
          answer: "subscription_succeeded",
        },
      ],
    }),
    publish: (channel, data) => post({ channel }, data),
    publishBatch: (channels, data) => post({ channels }, data),
    receipt: ping,
    ping: { sent: ping, answer: ping.replace("ping", "pong") },
  };
}

const ping = '{"event":"pusher:ping","data":{}}';

/** The path of a request with its signature, which holds for ten minutes. */
function signedPath(
  path: string,
  body: string,
  { key, secret }: { readonly key: string; readonly secret: string },
): string {
  const query = [
    `auth_key=${key}`,
    `auth_timestamp=${Math.floor(Date.now() / 1_000)}`,
    "auth_version=1.0",
    `body_md5=${createHash("md5").update(body).digest("hex")}`,
  ].join("&");
  const signature = createHmac("sha256", secret).update(`POST\n${path}\n${query}`).digest("hex");
  return `${path}?${query}&auth_signature=${signature}`;
}
