import { originFault } from "../access/origin.ts";
import { limits } from "../limits.ts";
import { readOption, readTexts } from "./fields.ts";
import type { Options } from "./option.ts";
import type { Section } from "./section.ts";

/** `client.*`: how connections are admitted, kept and closed, before the rates of commands are read. */
export const connectionOptions = {
  /**
   * Patterns such as `"https://{www,*.app}.example.com"`, one of which the Origin of a browser page must match, in whatever
   * case: `*` stands for any characters, `?` for one, `[a-z]` and `[!a-z]` for one of a class, `{a,b}` for one of several
   * patterns, and a backslash takes the next character literally. A pattern that no Origin can match, such as one with a
   * path, is refused. An empty list admits no page. `npm start` adds localhost.
   */
  allowed_origins: { is: "texts", read: readOrigins },
  /** A connection without a token is allowed, as user "". */
  allow_anonymous_connect_without_token: { is: "boolean" },
  /** A token without `sub` closes 3507. */
  disallow_anonymous_connection_tokens: { is: "boolean" },
  /** The time between two pings of the server, in whole seconds. */
  ping_interval: {
    is: "duration",
    default: 25_000,
    min: 1_000,
    max: 3_600_000,
    wholeSeconds: true,
  },
  /**
   * Which clients are asked to answer pings, so that they are found if they disappear: `"auto"` those that others may see,
   * `"always"` all, `"never"` none; see [Keepalive](keepalive.md#clients-that-arent-asked-to-answer).
   */
  pong: { is: "choice", own: true, of: ["auto", "always", "never"] },
  /** The time until which the client must have sent `connect`, else close 3502. */
  stale_close_delay: { is: "duration", default: 10_000, min: 1_000 },
  /** The time for a refresh after the token has expired, else close 3005. */
  expired_close_delay: { is: "duration", default: 25_000 },
  /** The same for a subscription, which then ends with 2501. */
  expired_sub_close_delay: { is: "duration", default: 25_000 },
  /** Bytes that a client may be behind on its socket or stream, else close 3008. A smaller queue couldn't take one large frame. */
  queue_max_size: { is: "whole", default: 1_048_576, min: 65_536, unit: "Bytes" },
  /** The most publications in one reply to a client's `history` command. */
  history_max_publication_limit: {
    is: "whole",
    default: 300,
    min: 1,
    max: limits.historySizeMax,
  },
  /** A client that missed this many publications or more isn't recovered. */
  recovery_max_publication_limit: {
    is: "whole",
    default: 300,
    min: 1,
    max: limits.historySizeMax,
  },
  /**
   * The most connections that one object (a channel's or a gateway's) holds; others are answered 503. An object without a
   * limit would run out of memory.
   *
   * @differs per object
   */
  connection_limit: {
    is: "whole",
    default: 0,
    min: 0,
    max: limits.connectionsMax,
    zeroIs: limits.connectionsDefault,
  },
  /**
   * The most connections of one user, in all objects together: a further one is closed with 3504
   * ([users.md](users.md#a-limit-for-each-user)); 0 means no limit. It requires `users.enabled`.
   *
   * @differs of all objects together, where Centrifugo counts on each node
   */
  user_connection_limit: {
    is: "whole",
    default: 0,
    min: 0,
    max: limits.userConnectionLimitMax,
  },
  /**
   * The most connections that one object accepts per second, else 503; 0 means no limit.
   *
   * @differs per object
   */
  connection_rate_limit: { is: "whole", default: 0, min: 0 },
} as const satisfies Options;

/** `client.users` (rules U1 to U6). */
export const usersOptions = {
  /**
   * Each user has a home, which knows where the user's connections are, so that `disconnect`, `unsubscribe`, `subscribe` and
   * `refresh` work ([users.md](users.md)), and a directory lists all objects for `info` and `channels`
   * ([directory.md](directory.md)). With `false` connections cost no registration, and these methods are answered 108.
   */
  enabled: { is: "boolean", default: true },
  /** The status of users. */
  status: {
    is: "section",
    of: {
      /**
       * Homes keep when users were active and online, for `update_user_status` and its like
       * ([users.md](users.md#active-and-online)); the end of a user's last connection on an object then costs a row.
       * Otherwise these methods are answered 108.
       */
      enabled: { is: "boolean" },
    },
  },
} as const satisfies Options;

/** `client.subscribe_to_user_personal_channel` (docs/protocol.md 2.7). */
export const personalChannelOptions = {
  /** On `/connection/websocket`, the connections of each user are subscribed to the channel `#<user>`. */
  enabled: { is: "boolean" },
  /** The namespace of that channel, which is then `<namespace>:#<user>`. */
  personal_channel_namespace: { is: "text", as: "namespace" },
  /**
   * A user's new connection closes the older ones with 3504, also those at channels' own addresses (there only with
   * `users.enabled`) (rule C10).
   */
  single_connection: { is: "boolean", needs: "enabled" },
} as const satisfies Options;

/** `client.*` after the rates of commands. */
export const sessionOptions = {
  /** The most subscriptions of one connection, server-side ones included, else error 106, or close 3505 when a token names more. */
  channel_limit: {
    is: "whole",
    default: limits.channelLimitDefault,
    min: 1,
    max: limits.channelLimitMax,
  },
  /** The connect reply has the field `time`. */
  connect_include_server_time: { is: "boolean" },
  /** The personal channel, to which the server subscribes each user's connections. */
  subscribe_to_user_personal_channel: {
    is: "section",
    as: "personalChannel",
    of: personalChannelOptions,
  },
  /** The homes of users. */
  users: { is: "section", own: true, of: usersOptions, read: readUsers },
  /**
   * Under `npm start` only: clients may connect without a token and do everything but subscribe to a `$` channel without
   * one; connections don't end with their tokens.
   *
   * @differs under `npm start` only
   */
  insecure: { is: "boolean", development: "lets every client do everything" },
  /**
   * An upgrade request without a valid token is answered 401, and reaches no object. Without it, a WebSocket's token may come
   * in the connect command, and its object is awake until then. A backend's answer
   * [at the upgrade](hooks.md#asking-at-the-upgrade) takes the place of the token.
   */
  require_edge_token: { is: "boolean", own: true },
  /** The name of a cookie that may carry the token of an upgrade request; with `""`, no cookie is read. */
  token_cookie: {
    is: "text",
    own: true,
    // A token of HTTP (RFC 6265 section 4.1.1).
    shape: /^[-!#$%&'*+.^_`|~0-9A-Za-z]*$/,
    meaning: "a cookie name",
  },
} as const satisfies Options;

function readOrigins(section: Section, name: string): readonly string[] {
  return readTexts(section, name, originFault).map((pattern) => pattern.toLowerCase());
}

/** The users' homes (rules U1 to U6): whether there are any, and whether these keep the status of users. */
function readUsers(
  parent: Section,
  name: string,
): { readonly enabled: boolean; readonly status: boolean } {
  const section = parent.section(name);
  const status = section.section("status");
  const enabled = readOption(section, "enabled", usersOptions.enabled);
  const keepsStatus = readOption(status, "enabled", usersOptions.status.of.enabled);
  if (keepsStatus && !enabled) status.problem("enabled", "requires client.users.enabled");
  status.refuseOthers({});
  section.refuseOthers({});
  return { enabled, status: keepsStatus };
}
