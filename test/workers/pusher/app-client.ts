import { exports } from "cloudflare:workers";
import { hexadecimal } from "../../../workers/platform/digest.ts";
import { channelText, requestText } from "../../../src/features/pusher/signed-text.ts";
import { address } from "../support/api-request.ts";
import { hmac } from "../support/sign-token.ts";
import { TestSocket } from "../support/test-socket.ts";

/** The application of these tests, and its secret. */
export const secret = "the secret of the shop, which nobody else knows";
export const app = { id: "shop", key: "shop-key", secret: "PUSHER_SECRET_SHOP", namespace: "shop" };

/** Signs a text as the application's server does. */
export const sign = (text: string, by = secret) => hmac(text, by);

/** A request of the application's server, of which the test may change what it signs. */
export async function request(
  body: string,
  changes: Record<string, string> = {},
): Promise<Response> {
  const hash = await crypto.subtle.digest("MD5", new TextEncoder().encode(body));
  const parameters = {
    auth_key: app.key,
    auth_timestamp: String(Math.floor(Date.now() / 1_000)),
    auth_version: "1.0",
    body_md5: hexadecimal(new Uint8Array(hash)),
    ...changes,
  };
  const signature = await sign(
    requestText("POST", "/apps/shop/events", Object.entries(parameters)),
  );
  const query = new URLSearchParams({ auth_signature: signature, ...parameters, ...changes });
  return exports.default.fetch(address(`/apps/shop/events?${query.toString()}`), {
    method: "POST",
    body,
  });
}

/** Asks as the application's server does. */
export async function get(path: string, asked: Record<string, string> = {}): Promise<unknown> {
  const parameters = {
    auth_key: app.key,
    auth_timestamp: String(Math.floor(Date.now() / 1_000)),
    auth_version: "1.0",
    ...asked,
  };
  const signature = await sign(requestText("GET", `/apps/shop${path}`, Object.entries(parameters)));
  const query = new URLSearchParams({ ...parameters, auth_signature: signature });
  const response = await exports.default.fetch(address(`/apps/shop${path}?${query.toString()}`));
  return response.json();
}

/** A client, and its socket_id. */
export async function connect(key = app.key, query = "?protocol=7", continent = "") {
  const response = await exports.default.fetch(address(`/app/${key}${query}`), {
    headers: { Upgrade: "websocket" },
    ...(continent !== "" && { cf: { continent } }),
  });
  const socket = TestSocket.on(response);
  const first = await socket.frame();
  const [, socketId = ""] = /"socket_id\\":\\"([\d.]+)/.exec(first) ?? [];
  return { socket, first, socketId };
}

/** The token for a channel. @param user the member on a presence channel */
async function subscription(socketId: string, channel: string, user?: string) {
  const data = user === undefined ? undefined : JSON.stringify({ user_id: user });
  const auth = `${app.key}:${await sign(channelText(socketId, channel, data))}`;
  const member = data === undefined ? {} : { channel_data: data };
  return { event: "pusher:subscribe", data: { channel, auth, ...member } };
}

/** A client that is subscribed to a channel, and has its first frame there. */
export async function subscribe(channel: string, user?: string, continent?: string) {
  const client = await connect(undefined, undefined, continent);
  client.socket.send(await subscription(client.socketId, channel, user));
  return { ...client, succeeded: await client.socket.frame() };
}
