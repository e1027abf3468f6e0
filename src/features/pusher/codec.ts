import { isJsonObject, type JsonObject } from "../../protocol/wire-value.ts";
import {
  type Codec,
  type DecodedFrame,
  type Message,
  malformedFrame,
} from "../../protocol/codec.ts";
import { errorCodes } from "../../protocol/codes.ts";
import type { Command } from "../../protocol/command.ts";
import { memberText, parseJsonObject, trustedJsonText } from "../../protocol/json/text.ts";
import { payloadJson } from "../../protocol/payload.ts";
import type { Publication, StreamPosition } from "../../protocol/publication.ts";
import type { Push, Reply, SubscribeResult } from "../../protocol/reply.ts";
import type { ChannelConfig } from "../../config/config.ts";
import type { PusherApp } from "./config.ts";
import { channelOf, kindOf, nameOf, watchedUser } from "./channel-names.ts";
import { eventTag, textOfPayload, unnamedEvent } from "./event-data.ts";
import { memberOf } from "./presence-member.ts";
import { socketIdOf } from "./socket-id.ts";

/**
 * The Pusher protocol, version 7, for the clients of one application (src/features/pusher/README.md). Its commands have no
 * numbers: a client knows by the channel which subscription an answer is about.
 */
export class PusherCodec implements Codec {
  readonly name = "json";
  readonly deltaForm = "text";
  readonly ping = pingFrame;
  readonly #app: PusherApp;
  readonly #channels: ChannelConfig;
  /** The namespace of the application's channels, and the boundary: their names begin with it. */
  readonly #prefix: string;
  readonly #sendsOffsets: boolean;

  /** @param sendsOffsets whether each event is followed by its offset (rule PU17) */
  constructor(app: PusherApp, channels: ChannelConfig, sendsOffsets = false) {
    this.#app = app;
    this.#sendsOffsets = sendsOffsets;
    this.#channels = channels;
    this.#prefix = channelOf("", app, channels);
  }

  decodeFrame(frame: Message): DecodedFrame {
    const parsed = typeof frame === "string" ? parseJsonObject(frame) : undefined;
    if (parsed === undefined) return malformedFrame("the frame is not a JSON object");
    const { fields, text } = parsed;
    const { event } = fields;
    if (typeof event !== "string") return malformedFrame("the frame has no event");
    const command = this.#command(event, fields, text);
    return { commands: command === undefined ? [] : [command] };
  }

  encodeReply(reply: Reply): Message {
    if ("error" in reply) return this.#encodeError(reply);
    switch (reply.method) {
      case "connect": {
        const { client, pingSeconds } = reply.result;
        const data = `{"socket_id":"${socketIdOf(client)}","activity_timeout":${pingSeconds}}`;
        return frameOf("pusher:connection_established", undefined, JSON.stringify(data));
      }
      case "subscribe":
        return this.#encodeSubscribed(reply.channel ?? "", reply.result);
      case "rpc":
        return reply.data === undefined
          ? pongFrame
          : frameOf("pusher:signin_success", undefined, payloadJson(reply.data));
      case "unsubscribe":
      case "publish":
      case "presence":
      case "presence_stats":
      case "history":
      case "refresh":
      case "sub_refresh":
        return "";
    }
  }

  encodePush(push: Push): Message {
    switch (push.type) {
      case "publication":
        return this.#encodeEvent(push.channel, push.publication);
      case "join":
        return (
          this.#encodeWatched("online", push.channel) ??
          this.#encodeMember("member_added", push.channel, push.info.chanInfo)
        );
      case "leave": {
        const watched = this.#encodeWatched("offline", push.channel);
        if (watched !== undefined) return watched;
        const id = memberOf(push.info);
        const data = id === undefined ? undefined : `{"user_id":${JSON.stringify(id)}}`;
        return this.#encodeMember("member_removed", push.channel, data);
      }
      case "unsubscribe":
        return this.#encodeRefused(push.channel, "Unsubscribed", push.code.reason, 410);
      case "subscribe":
      case "refresh":
      case "disconnect":
        return "";
    }
  }

  /** A client's socket takes one message in each WebSocket frame, and so divides these again. */
  joinFrame(messages: readonly Message[]): Message {
    return messages.filter((message) => message !== "").join("\n");
  }

  #command(event: string, fields: JsonObject, text: string): Command | undefined {
    const { channel } = fields;
    if (event.startsWith("client-"))
      return typeof channel === "string" ? this.#publish(event, channel, text) : undefined;
    const data = dataOf(fields["data"]);
    const name = typeof data["channel"] === "string" ? data["channel"] : "";
    switch (event) {
      case connectEvent:
        return connectOf(data);
      case "pusher:ping":
        return { method: "rpc", id, request: { method: "pusher:ping" } };
      case "pusher:subscribe":
        return this.#subscribe(name, JSON.stringify(data));
      case "pusher:unsubscribe":
        return { method: "unsubscribe", id, request: { channel: this.#channelOf(name) } };
      case sinceEvent:
      case "pusher:signin": {
        const request = { method: event, data: trustedJsonText(JSON.stringify(data)) };
        return { method: "rpc", id, request };
      }
      default:
        // Such as the answer to a ping.
        return undefined;
    }
  }

  #publish(event: string, name: string, text: string): Command {
    const request = {
      channel: this.#channelOf(name),
      data: memberText(text, "data") ?? trustedJsonText("{}"),
      type: 0,
      key: "",
      removed: false,
      passing: { [eventTag]: event },
    };
    return { method: "publish", id, request };
  }

  /** @param token the data of the frame, which the dialect verifies */
  #subscribe(name: string, token: string): Command {
    const isCache = kindOf(name)?.cache === true;
    const request = {
      channel: this.#channelOf(name),
      token,
      recover: false,
      epoch: "",
      offset: 0,
      positioned: false,
      recoverable: false,
      joinLeave: false,
      delta: "",
      flag: 0,
      type: 0,
      phase: 0,
      cursor: "",
      limit: 0,
      asc: false,
      ...(isCache && { newest: true as const }),
    };
    return { method: "subscribe", id, request };
  }

  #channelOf(name: string): string {
    return channelOf(name, this.#app, this.#channels);
  }

  #encodeSubscribed(channel: string, { publications, position }: SubscribeResult): Message {
    const name = nameOf(channel, this.#prefix);
    const succeeded = subscribedFrame(name, "{}");
    if (kindOf(name)?.cache !== true)
      return this.#sendsOffsets && position !== undefined
        ? `${succeeded}\n${positionFrame("subscribed", name, position)}`
        : succeeded;
    const [newest] = publications;
    const then =
      newest === undefined ? frameOf(cacheMiss, name, '"{}"') : this.#encodeEvent(channel, newest);
    return `${succeeded}\n${then}`;
  }

  #encodeEvent(channel: string, { tags, info, data, offset }: Publication): string {
    const name = nameOf(channel, this.#prefix);
    const event = tags?.[eventTag] ?? unnamedEvent;
    const isClients = info !== undefined && event.startsWith("client-");
    // A client's data goes on as it came, and a server's always is a text.
    const shown = isClients ? payloadJson(data) : JSON.stringify(textOfPayload(data));
    const member = isClients && kindOf(name)?.access === "presence" ? memberOf(info) : undefined;
    const user = member === undefined ? "" : `,"user_id":${JSON.stringify(member)}`;
    const frame = frameOf(event, name, shown, user);
    if (!this.#sendsOffsets || offset === 0) return frame;
    const at = JSON.stringify({ channel: name, offset });
    return `${frame}\n${frameOf("dormouse:offset", undefined, at)}`;
  }

  #encodeMember(event: string, channel: string, data: string | undefined): Message {
    const name = nameOf(channel, this.#prefix);
    if (data === undefined || kindOf(name)?.access !== "presence") return "";
    return frameOf(`pusher_internal:${event}`, name, JSON.stringify(data));
  }

  /** Undefined if the channel isn't one of a user who is watched. */
  #encodeWatched(state: "online" | "offline", channel: string): string | undefined {
    const user = watchedUser(nameOf(channel, this.#prefix));
    return user === undefined ? undefined : watchFrame({ [state]: [user] });
  }

  #encodeError({ error, to }: Extract<Reply, { readonly error: object }>): Message {
    const { code, message } = error;
    if (to?.method === "publish") {
      const channel = nameOf(to.request.channel, this.#prefix);
      const reason = code === errorCodes.permissionDenied.code ? rejected : message;
      return errorFrame(4301, reason, channel);
    }
    if (to?.method !== "subscribe") return errorFrame(4009, message);
    const name = nameOf(to.request.channel, this.#prefix);
    if (code === errorCodes.alreadySubscribed.code)
      return errorFrame(undefined, `Existing subscription to channel ${name}`);
    const isDenied = code === errorCodes.permissionDenied.code;
    return this.#encodeRefused(
      to.request.channel,
      isDenied ? "AuthError" : "SubscriptionError",
      message,
      isDenied ? 401 : code === errorCodes.tooManyRequests.code ? 429 : 400,
    );
  }

  #encodeRefused(channel: string, type: string, error: string, status: number): Message {
    const name = nameOf(channel, this.#prefix);
    return frameOf("pusher:subscription_error", name, JSON.stringify({ type, error, status }));
  }
}

/** No client sees the number of a command. */
const id = 1;

/** A ping of either side. A client's in other bytes is answered by its object, and not by the platform. */
export const pingFrame = '{"event":"pusher:ping","data":{}}';

/** The answer to a ping, in the same bytes whoever answers it. */
export const pongFrame = '{"event":"pusher:pong","data":{}}';

const rejected =
  "The client event is rejected: client events need enable_client_messages, and a \
subscription to a private or presence channel without encryption";

/** The frame with which the edge has a client connected. A client that sends it is closed, because it is connected. */
export function connectFrame(client: string, version: string): string {
  return JSON.stringify({ event: connectEvent, data: { client, version } });
}

const connectEvent = "dormouse:connect";

function connectOf(data: JsonObject): Command {
  const { client = "", version = "" } = data;
  const request = {
    token: "connects",
    name: typeof client === "string" ? client : "",
    version: typeof version === "string" ? version : "",
    headers: new Map(),
    subscriptions: new Map(),
  };
  return { method: "connect", id, request };
}

/** The frame with which a client asks for what came since an offset, and the method that it is (rule PU17). */
export const sinceEvent = "dormouse:since";

/** Tells a position of a channel. `subscribed`: the subscription begins there; `lost`: events before it can't be read. */
export function positionFrame(
  what: "subscribed" | "lost",
  name: string,
  { offset, epoch }: StreamPosition,
): string {
  const data = JSON.stringify({ channel: name, offset, epoch });
  return frameOf(`dormouse:${what}`, undefined, data);
}

/** The position at which a subscription begins, from the frame of its success; undefined if the frame doesn't say. */
export function startOf(success: Message): StreamPosition | undefined {
  const lines = String(success).split("\n");
  const line = lines.find((one) => one.startsWith('{"event":"dormouse:subscribed"'));
  if (line === undefined) return undefined;
  const { data }: { readonly data: StreamPosition } = JSON.parse(line);
  return { offset: data.offset, epoch: data.epoch };
}

/** Tells a user of those on the watchlist; "" if there is nothing to tell. */
export function watchFrame(users: {
  readonly online?: readonly string[];
  readonly offline?: readonly string[];
}): string {
  const events = (["online", "offline"] as const).flatMap((name) => {
    const user_ids = users[name] ?? [];
    return user_ids.length === 0 ? [] : [{ name, user_ids }];
  });
  if (events.length === 0) return "";
  const data = JSON.stringify({ events });
  return frameOf("pusher_internal:watchlist_events", undefined, JSON.stringify(data));
}

/** The success of a subscription. @param data a text, which the client reads as JSON */
export function subscribedFrame(name: string, data: string): string {
  return frameOf("pusher_internal:subscription_succeeded", name, JSON.stringify(data));
}

/** Whether the success of a subscription is followed by a cache miss. */
export function isCacheMiss(reply: Message): boolean {
  return String(reply).includes(`\n{"event":"${cacheMiss}"`);
}

const cacheMiss = "pusher:cache_miss";

/** An error. @param code undefined for null */
export function errorFrame(code: number | undefined, message: string, channel?: string): string {
  return frameOf("pusher:error", channel, JSON.stringify({ code: code ?? null, message }));
}

/**
 * A frame of the server.
 *
 * @param channel undefined for a frame about the connection
 * @param data    JSON
 * @param more    further members in JSON, each after a comma
 */
function frameOf(event: string, channel: string | undefined, data: string, more = ""): string {
  const where = channel === undefined ? "" : `,"channel":${JSON.stringify(channel)}`;
  return `{"event":${JSON.stringify(event)}${where},"data":${data}${more}}`;
}

/** The data of a client's frame: an object, or the text of one. */
function dataOf(given: JsonObject[string] | undefined): JsonObject {
  if (typeof given === "string") return parseJsonObject(given)?.fields ?? {};
  return given !== undefined && isJsonObject(given) ? given : {};
}
