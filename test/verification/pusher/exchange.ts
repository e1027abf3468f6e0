import { createHash, createHmac } from "node:crypto";
import type { JsonData } from "../../../src/protocol/wire-value.ts";
import { channelText, requestText, signinText } from "../../../src/features/pusher/signed-text.ts";

/** An application as its server knows it. */
export interface SigningApp {
  readonly id: string;
  readonly key: string;
  readonly secret: string;
}

/**
 * A scene between clients, an application's server and a server of the Pusher protocol. `ROOM` in a step stands for a text
 * that nobody else uses on the server; `SOCKET:NAME` stands for the `socket_id` of a client.
 */
export interface Exchange {
  readonly name: string;
  readonly steps: readonly Step[];
}

/** What a client or the application's server does. */
export type Step =
  | { readonly do: "connect"; readonly who: string; readonly key: string; readonly query: string }
  | { readonly do: "send"; readonly who: string; readonly text: TextOf }
  | { readonly do: "leave"; readonly who: string }
  | { readonly do: "request"; readonly request: GivenRequest };

/** The text of a frame, whose `ROOM` is filled in already where something is signed. */
type TextOf = (scene: Scene) => string;

/** What a step may refer to. */
export interface Scene {
  readonly app: SigningApp;
  /** Fills in `ROOM` and `SOCKET:NAME`. */
  readonly fill: (text: string) => string;
}

/** A request of the application's server. */
export interface GivenRequest {
  readonly method: "GET" | "POST" | "PUT";
  /** After `/apps/ID`. */
  readonly path: string;
  readonly body?: string;
  readonly parameters?: Readonly<Record<string, string>>;
  /** Replaces what is signed by default; undefined leaves it out. */
  readonly changes?: Readonly<Record<string, string | undefined>>;
  /** Stands in the query in place of what was signed. */
  readonly forged?: Readonly<Record<string, string>>;
  readonly appId?: string;
}

export function connect(
  who: string,
  query = "?protocol=7&client=js&version=8.4.0&flash=false",
  key = "KEY",
): Step {
  return { do: "connect", who, key, query };
}

/** A frame that is sent as it is, but for `ROOM`. */
export function raw(who: string, text: string): Step {
  return { do: "send", who, text: ({ fill }) => fill(text) };
}

export function frame(who: string, event: string, data: JsonData, channel?: string): Step {
  return raw(who, JSON.stringify({ event, ...(channel !== undefined && { channel }), data }));
}

/** A subscription without a token. */
export function subscribe(who: string, channel: string): Step {
  return frame(who, "pusher:subscribe", { channel });
}

export function unsubscribe(who: string, channel: string): Step {
  return frame(who, "pusher:unsubscribe", { channel });
}

/** What of a token isn't as it should be. */
interface Forgery {
  readonly channel?: string;
  readonly socket?: string;
  readonly key?: string;
  readonly secret?: string;
  /** The `channel_data` that is signed. */
  readonly data?: string;
  readonly write?: (auth: string) => JsonData | undefined;
}

/** A subscription with a token. @param data the `channel_data` */
export function enter(who: string, channel: string, data?: string, forged: Forgery = {}): Step {
  return {
    do: "send",
    who,
    text: ({ app, fill }) => {
      const name = fill(channel);
      const signedData = forged.data ?? data;
      const text = channelText(
        forged.socket ?? fill(`SOCKET:${who}`),
        fill(forged.channel ?? channel),
        signedData === undefined ? undefined : fill(signedData),
      );
      const token = `${forged.key ?? app.key}:${sign(text, forged.secret ?? app.secret)}`;
      const auth = forged.write === undefined ? token : forged.write(token);
      const member = data === undefined ? {} : { channel_data: fill(data) };
      return JSON.stringify({
        event: "pusher:subscribe",
        data: { channel: name, auth, ...member },
      });
    },
  };
}

/** A member's subscription. */
export function join(who: string, channel: string, user: string): Step {
  return enter(
    who,
    channel,
    JSON.stringify({ user_id: user, user_info: { name: `name of ${user}` } }),
  );
}

/** A sign-in. @param signed the text that is signed */
export function signIn(who: string, data: string, signed = data): Step {
  return {
    do: "send",
    who,
    text: ({ app, fill }) => {
      const text = signinText(fill(`SOCKET:${who}`), fill(signed));
      const auth = `${app.key}:${sign(text, app.secret)}`;
      return JSON.stringify({ event: "pusher:signin", data: { auth, user_data: fill(data) } });
    },
  };
}

export function leave(who: string): Step {
  return { do: "leave", who };
}

export function request(given: GivenRequest): Step {
  return { do: "request", request: given };
}

/** An event of the application's server, as the server libraries send it. */
export function trigger(channel: string, name: string, data: string, more: object = {}): Step {
  return post("/events", { name, channel, data, ...more });
}

export function post(path: string, body: JsonData, more: Partial<GivenRequest> = {}): Step {
  return request({ method: "POST", path, body: JSON.stringify(body), ...more });
}

export function get(path: string, parameters: Readonly<Record<string, string>> = {}): Step {
  return request({ method: "GET", path, parameters });
}

/** The path and the query of a request, signed. */
export function signedPath({ app, fill }: Scene, given: GivenRequest): string {
  const { method, body, parameters = {}, changes = {}, forged = {}, appId = app.id } = given;
  const path = `/apps/${appId}${fill(given.path)}`;
  const all: Readonly<Record<string, string | undefined>> = {
    auth_key: app.key,
    auth_timestamp: String(Math.floor(Date.now() / 1_000)),
    auth_version: "1.0",
    body_md5: body === undefined ? undefined : createHash("md5").update(fill(body)).digest("hex"),
    ...parameters,
    ...changes,
  };
  const signed = Object.entries(all).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, fill(value)] as const],
  );
  const auth_signature = sign(requestText(method, path, signed), app.secret);
  const query = new URLSearchParams({ ...Object.fromEntries(signed), auth_signature, ...forged });
  return `${path}?${query.toString()}`;
}

function sign(text: string, secret: string): string {
  return createHmac("sha256", secret).update(text).digest("hex");
}
