import {
  connect,
  enter,
  type Exchange,
  frame,
  get,
  join,
  leave,
  type Step,
  subscribe,
  trigger,
  unsubscribe,
} from "../exchange.ts";

function refusedToken(name: string, step: Step): Exchange {
  return { name: `enters a private channel with ${name}`, steps: [connect("one"), step] };
}

/** Public and private channels. */
export const channels: readonly Exchange[] = [
  {
    name: "subscribes, and gets the events until it unsubscribes",
    steps: [
      connect("one"),
      subscribe("one", "ROOM"),
      trigger("ROOM", "order", '{"id":1}'),
      unsubscribe("one", "ROOM"),
      trigger("ROOM", "order", '{"id":2}'),
      subscribe("one", "ROOM"),
      trigger("ROOM", "order", '{"id":3}'),
    ],
  },
  {
    name: "subscribes twice",
    steps: [
      connect("one"),
      subscribe("one", "ROOM"),
      subscribe("one", "ROOM"),
      trigger("ROOM", "order", "1"),
    ],
  },
  {
    name: "unsubscribes from what it isn't subscribed to",
    steps: [
      connect("one"),
      unsubscribe("one", "ROOM"),
      unsubscribe("one", ""),
      unsubscribe("one", "a b"),
    ],
  },
  {
    name: "subscribes with a token where none is needed",
    steps: [connect("one"), enter("one", "ROOM"), enter("one", "ROOM-2", '{"user_id":"1"}')],
  },
  ...[
    ["all characters that there are", "ROOM_-=@,.;aZ09"],
    ["a space", "a b"],
    ["a slash", "a/b"],
    ["a colon", "a:b"],
    ["a star", "a*"],
    ["an umlaut", "ä"],
    ["a hash", "#a"],
    ["a tilde", "~a"],
    ["164 characters", "x".repeat(164)],
    ["200 characters", "x".repeat(200)],
    ["201 characters", "x".repeat(201)],
  ].map(([name = "", channel = ""]) => ({
    name: `subscribes to a name with ${name}`,
    steps: [connect("one"), subscribe("one", channel)],
  })),
  {
    name: "subscribes to names that are almost of another kind",
    steps: [
      connect("one"),
      subscribe("one", "privateROOM"),
      subscribe("one", "presenceROOM"),
      subscribe("one", "cacheROOM"),
      subscribe("one", "encrypted-ROOM"),
      subscribe("one", "Private-ROOM"),
    ],
  },
  {
    name: "enters private channels",
    steps: [
      connect("one"),
      enter("one", "private-ROOM"),
      enter("one", "private-encrypted-ROOM"),
      trigger("private-ROOM", "order", '{"id":1}'),
      trigger("private-encrypted-ROOM", "order", '{"nonce":"bm9uY2U=","ciphertext":"dGV4dA=="}'),
      unsubscribe("one", "private-ROOM"),
      trigger("private-ROOM", "order", '{"id":2}'),
    ],
  },
  refusedToken("no token", subscribe("one", "private-ROOM")),
  refusedToken(
    "an empty token",
    frame("one", "pusher:subscribe", { channel: "private-ROOM", auth: "" }),
  ),
  refusedToken("a number", frame("one", "pusher:subscribe", { channel: "private-ROOM", auth: 7 })),
  refusedToken(
    "a token without a key",
    enter("one", "private-ROOM", undefined, { write: (auth) => auth.split(":")[1] }),
  ),
  refusedToken(
    "another key",
    enter("one", "private-ROOM", undefined, { write: (auth) => auth.replace(/^.*:/, "other:") }),
  ),
  refusedToken(
    "a signature in capitals",
    enter("one", "private-ROOM", undefined, {
      write: (auth) => auth.replace(/:.*/, (signature) => signature.toUpperCase()),
    }),
  ),
  refusedToken(
    "half of a signature",
    enter("one", "private-ROOM", undefined, { write: (auth) => auth.slice(0, -32) }),
  ),
  refusedToken("another secret", enter("one", "private-ROOM", undefined, { secret: "guessed" })),
  refusedToken(
    "another socket's token",
    enter("one", "private-ROOM", undefined, { socket: "1.2" }),
  ),
  refusedToken(
    "another channel's token",
    enter("one", "private-ROOM", undefined, { channel: "private-x" }),
  ),
  refusedToken("data that wasn't signed", {
    ...enter("one", "private-ROOM", '{"user_id":"1"}', { data: '{"user_id":"2"}' }),
  }),
  {
    name: "enters a private channel with data that was signed",
    steps: [connect("one"), enter("one", "private-ROOM", '{"user_id":"1"}')],
  },
  {
    name: "tries again after a refusal",
    steps: [
      connect("one"),
      enter("one", "private-ROOM", undefined, { secret: "guessed" }),
      enter("one", "private-ROOM"),
      trigger("private-ROOM", "order", "1"),
    ],
  },
];

/** Channels with members. */
export const presence: readonly Exchange[] = [
  {
    name: "members come and go, each user once",
    steps: [
      connect("one"),
      connect("two"),
      connect("three"),
      join("one", "presence-ROOM", "1"),
      join("two", "presence-ROOM", "2"),
      join("three", "presence-ROOM", "2"),
      get("/channels/presence-ROOM/users"),
      unsubscribe("two", "presence-ROOM"),
      leave("three"),
      trigger("presence-ROOM", "order", "1"),
    ],
  },
  {
    name: "a member subscribes twice",
    steps: [
      connect("one"),
      connect("two"),
      join("one", "presence-ROOM", "1"),
      join("two", "presence-ROOM", "2"),
      join("two", "presence-ROOM", "2"),
      unsubscribe("two", "presence-ROOM"),
      join("two", "presence-ROOM", "2"),
    ],
  },
  ...[
    ["a number as the ID", '{"user_id":7,"user_info":{"name":"Ada"}}'],
    ["no info", '{"user_id":"7"}'],
    ["null as the info", '{"user_id":"7","user_info":null}'],
    ["a text as the info", '{"user_id":"7","user_info":"Ada"}'],
    ["a list as the info", '{"user_id":"7","user_info":[1,2]}'],
    ["more members than there are", '{"user_id":"7","role":"admin"}'],
    ["characters beyond ASCII", '{"user_id":"ä€","user_info":{"name":"\\u00e4 😀"}}'],
    ["no JSON", "x"],
    ["an empty text", ""],
    ["no ID", '{"user_info":{}}'],
    ["an empty ID", '{"user_id":""}'],
    ["a boolean as the ID", '{"user_id":true}'],
    ["null as the ID", '{"user_id":null}'],
    ["an ID of 128 characters", `{"user_id":"${"7".repeat(128)}"}`],
    ["an ID of 129 characters", `{"user_id":"${"7".repeat(129)}"}`],
  ].map(([name = "", data = ""]) => ({
    name: `is a member with ${name}`,
    steps: [connect("one"), enter("one", "presence-ROOM", data)],
  })),
  { name: "is a member without data", steps: [connect("one"), enter("one", "presence-ROOM")] },
  {
    name: "is a member with data that wasn't signed",
    steps: [
      connect("one"),
      enter("one", "presence-ROOM", '{"user_id":"1"}', { data: '{"user_id":"2"}' }),
    ],
  },
  {
    name: "is a member with other info than its first connection's",
    steps: [
      connect("one"),
      connect("two"),
      enter("one", "presence-ROOM", '{"user_id":"7","user_info":{"at":"home"}}'),
      enter("two", "presence-ROOM", '{"user_id":"7","user_info":{"at":"work"}}'),
      connect("three"),
      join("three", "presence-ROOM", "8"),
    ],
  },
];

/** Channels that keep the last event. */
export const caches: readonly Exchange[] = [
  {
    name: "a cache channel gives its last event",
    steps: [
      connect("one"),
      subscribe("one", "cache-ROOM"),
      trigger("cache-ROOM", "price", '{"euros":1}'),
      trigger("cache-ROOM", "price", '{"euros":2}'),
      connect("two"),
      subscribe("two", "cache-ROOM"),
      get("/channels/cache-ROOM", { info: "subscription_count" }),
      unsubscribe("two", "cache-ROOM"),
      subscribe("two", "cache-ROOM"),
    ],
  },
  {
    name: "cache channels of other kinds miss",
    steps: [
      connect("one"),
      enter("one", "private-cache-ROOM"),
      enter("one", "private-encrypted-cache-ROOM"),
      join("one", "presence-cache-ROOM", "1"),
      subscribe("one", "xcache-ROOM"),
    ],
  },
  {
    name: "cache channels of other kinds give their last events",
    steps: [
      trigger("private-cache-ROOM", "price", "1"),
      trigger("presence-cache-ROOM", "price", "2"),
      connect("one"),
      enter("one", "private-cache-ROOM"),
      join("one", "presence-cache-ROOM", "1"),
    ],
  },
  {
    name: "a client's event isn't kept",
    steps: [
      connect("one"),
      enter("one", "private-cache-ROOM"),
      frame("one", "client-typing", { at: 1 }, "private-cache-ROOM"),
      connect("two"),
      enter("two", "private-cache-ROOM"),
    ],
  },
];
