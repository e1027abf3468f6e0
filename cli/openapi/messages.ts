/** The schemas that several answers and requests share, by their names among the document's components. */
import {
  anything,
  count,
  flag,
  large,
  listOf,
  mapOf,
  object,
  reference,
  type Schema,
  text,
} from "./schema.ts";
import { limits } from "../../src/limits.ts";

/** The shared schemas. */
export const messages: Readonly<Record<string, Schema>> = {
  Error: object("An application error.", {
    code: {
      type: "integer",
      description:
        "100: internal server error, and the outcome may be unknown. 102: the namespace isn't configured. 103: the API " +
        "key doesn't admit it. 106: a limit. 107: a bad request. 108: not available, such as history where the namespace " +
        "has none. 111: too many requests, and nothing was done. 112: a position of another stream. A later release may " +
        "have further codes.",
    },
    message: text("The code in words. `X-Dormouse-Error-Detail` says more."),
  }),
  ErrorAnswer: object("The answer to a command that failed.", { error: reference("Error") }),
  EmptyResult: { type: "object", description: "Nothing: the command was carried out." },
  Publication: object(
    "A publication that a channel keeps.",
    {
      data: anything("The payload. Bytes that aren't JSON are a text in base64."),
      offset: large("The number of the publication in its channel."),
    },
    {
      tags: mapOf({ type: "string" }, "The tags of the publication; absent without any."),
      info: reference("ClientInfo", "The client that published; absent if a backend did."),
    },
  ),
  MapEntry: object(
    "The value of a key of a map, or a change of it.",
    { key: text("The key."), offset: large("The number of the change.") },
    {
      data: anything("The value; absent if the key was removed."),
      tags: mapOf({ type: "string" }, "The tags of the value; absent without any."),
      score: { type: "integer", description: "The score of the value; absent for 0." },
      info: reference("ClientInfo", "The client that published; absent if a backend did."),
      removed: flag("The key was removed."),
      time: large("When the change was made, in ms since 1970; absent if it isn't known."),
    },
  ),
  ClientInfo: object(
    "A client as other clients are shown it.",
    {
      user: text("The user's ID; empty for an anonymous user."),
      client: text("The ID of the connection."),
    },
    {
      conn_info: anything("The info of the connection's token; absent without any."),
      chan_info: anything("The info of the subscription's token; absent without any."),
    },
  ),
  Connection: object(
    "A connection of a user.",
    {
      user: text("The user's ID."),
      transport: text("`websocket`, `sse`, `http_stream`, the same after `uni_`, or `long_poll`."),
      protocol: text("`json`, `protobuf` or `messagepack`."),
      connected_at_ms: large("When the connection was opened, in ms since 1970."),
      ping_pong_latency_ms: { type: "integer", description: "-1: unknown." },
      node: text("The object that holds the connection. Dormouse's own."),
      labels: { type: "object", description: "Empty." },
      state: reference("ConnectionState"),
    },
    {
      app_name: text("`name` of the client's connect; absent if empty."),
      app_version: text("`version` of the client's connect; absent if empty."),
      region: text("The region of the object; a channel's own object has none. Dormouse's own."),
      expire_at: large(
        "When the connection's token ends, in seconds since 1970; absent for never. Dormouse's own.",
      ),
    },
  ),
  ConnectionState: object(
    "What a connection is subscribed to, and the tokens that it came with.",
    { channels: mapOf(reference("Subscription"), "Subscriptions by channel.") },
    {
      connection_token: reference("TokenInfo", "Absent without a token that has a name or an age."),
      subscription_tokens: mapOf(reference("TokenInfo"), "Tokens of subscriptions, by channel."),
    },
  ),
  TokenInfo: object(
    "The name and the age of a token.",
    {},
    { uid: text("The claim `jti`."), issued_at: large("The claim `iat`, in seconds since 1970.") },
  ),
  Subscription: object(
    "A subscription of a connection.",
    {
      source: count(
        "What made it: 1 the connection's token, 2 the connect hook, 3 a subscription token, 4 the subscribe hook, 5 a " +
          "user-limited channel, 6 the namespace allows it, 7 `client.insecure`, 8 a unidirectional client's request, 9 " +
          "the personal channel, 10 the API's `subscribe`, 11 a capability.",
      ),
    },
    {
      offset: large(
        "The newest offset that the object has passed on; absent without history, and while it isn't known.",
      ),
      epoch: text("The epoch that the offset belongs to."),
      expire_at: large("When the subscription ends, in seconds since 1970; absent for never."),
      recoverable: flag("The client may recover what it missed."),
      positioned: flag("The server checks that the client misses nothing."),
      presence: flag("The client is present on the channel."),
      join_leave: flag("The client's joins and leaves are told."),
      push_join_leave: flag("The client is told joins and leaves."),
      delta: flag("The client gets deltas."),
      tags_filter: flag("The client has set a tags filter."),
      server_tags_filter: flag("The client's token or a backend has set a tags filter."),
    },
  ),
  Placement: object(
    "Where an object is kept.",
    { jurisdiction: text("The jurisdiction that it never leaves, or `none`.") },
    { location: text("Near what it is created; absent: near the first caller.") },
  ),
  Node: object(
    "A gateway, which is what Centrifugo calls a node.",
    {
      uid: text("The node that connections on it show."),
      name: text("The name of the gateway."),
      version: text("The release that it runs."),
      num_clients: count("Its connections."),
      num_users: count("The different users among them."),
      num_channels: count("The channels that they are subscribed to."),
      num_subs: count("Their subscriptions."),
      uptime: count("The seconds since it last woke."),
    },
    { region: text("The region whose connections it holds. Dormouse's own.") },
  ),
  ChannelInfo: object("A channel that has subscribers.", {
    num_clients: count("Its subscribers, in all objects together."),
  }),
  UserStatus: object("When a user was active and online.", {
    user: text("The user's ID."),
    active: large("When a backend last updated the status, in seconds since 1970; 0 for never."),
    online: large(
      "When the user was last known to be connected, in seconds since 1970; 0 for never.",
    ),
    state: text("The state that the last update gave."),
  }),
  TagsFilter: {
    type: "object",
    description:
      `A node of a tags filter, of at most ${limits.filterNodesMax} nodes in ${limits.filterDepthMax} levels. ` +
      "A node with `op` has `nodes` and nothing else; a node without `op` compares a tag, and has no `nodes`.",
    properties: {
      op: text("`and`, `or` or `not`; absent for a comparison."),
      key: text("The tag that is compared."),
      cmp: text(
        "`eq`, `neq`, `in`, `nin`, `ex`, `nex`, `sw`, `ew`, `ct`, `lt`, `lte`, `gt` or `gte`.",
      ),
      val: text("With which the tag is compared; absent for `in`, `nin`, `ex` and `nex`."),
      vals: listOf({ type: "string" }, "With which the tag is compared by `in` and `nin`."),
      nodes: listOf(reference("TagsFilter"), "The nodes that `op` joins; exactly one for `not`."),
    },
  },
};
