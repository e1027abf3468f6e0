import {
  connect,
  enter,
  type Exchange,
  get,
  join,
  post,
  request,
  subscribe,
  trigger,
} from "../exchange.ts";

const event = { name: "order", channel: "ROOM", data: "{}" };
const events = (count: number) => Array.from({ length: count }, () => event);
const named = (count: number) => Array.from({ length: count }, (_, at) => `ROOM-${at}`);

/** Events that are posted, rightly and wrongly. */
const posted: readonly Exchange[] = [
  ...(
    [
      ["an event", event],
      ["an event with an object", { ...event, data: { id: 1 } }],
      ["an event without a name", { channel: "ROOM", data: "{}" }],
      ["an event with an empty name", { ...event, name: "" }],
      ["an event with a number as its name", { ...event, name: 7 }],
      ["an event without data", { name: "order", channel: "ROOM" }],
      ["an event with null", { ...event, data: null }],
      ["an event without a channel", { name: "order", data: "{}" }],
      ["an event with no channels", { name: "order", data: "{}", channels: [] }],
      ["an event for 100 channels", { name: "order", data: "{}", channels: named(100) }],
      ["an event for 101 channels", { name: "order", data: "{}", channels: named(101) }],
      ["an event for a channel that can't be", { ...event, channel: "a b" }],
      ["an event for an empty channel", { ...event, channel: "" }],
      ["an event of 200 characters", { ...event, name: "x".repeat(200) }],
      ["an event of 201 characters", { ...event, name: "x".repeat(201) }],
      ["an event of the protocol", { ...event, name: "pusher:ping" }],
      ["an internal event of the protocol", { ...event, name: "pusher_internal:member_added" }],
      ["data of 10 KiB", { ...event, data: "x".repeat(10_240) }],
      ["data of more than 10 KiB", { ...event, data: "x".repeat(10_241) }],
      ["info that there isn't", { ...event, info: "what" }],
      ["user_count of a public channel", { ...event, info: "user_count" }],
    ] as const
  ).map(([name, body]) => ({ name: `posts ${name}`, steps: [post("/events", body)] })),
  ...(
    [
      ["of ten", { batch: events(10) }],
      ["of eleven", { batch: events(11) }],
      ["of none", { batch: [] }],
      ["that is missing", {}],
      ["that is no list", { batch: event }],
      ["without a name", { batch: [event, { channel: "ROOM", data: "" }] }],
      ["with info", { batch: [{ ...event, info: "subscription_count" }, event] }],
    ] as const
  ).map(([name, body]) => ({
    name: `posts a batch ${name}`,
    steps: [post("/batch_events", body)],
  })),
  {
    name: "posts a batch, of which one can't be",
    steps: [
      connect("one"),
      subscribe("one", "ROOM"),
      post("/batch_events", { batch: [event, { ...event, channel: "a b" }] }),
      post("/batch_events", { batch: [event, { ...event, data: "2" }] }),
    ],
  },
  {
    name: "posts what isn't JSON",
    steps: [
      request({ method: "POST", path: "/events", body: "{" }),
      request({ method: "POST", path: "/events", body: "[]" }),
      request({ method: "POST", path: "/events", body: "" }),
      request({ method: "POST", path: "/events" }),
    ],
  },
];

/** What is asked. */
const asked: readonly Exchange[] = [
  {
    name: "asks about channels and their members",
    steps: [
      connect("one"),
      connect("two"),
      join("one", "presence-ROOM", "1"),
      join("two", "presence-ROOM", "2"),
      subscribe("one", "ROOM"),
      enter("two", "private-ROOM"),
      get("/channels/ROOM"),
      get("/channels/private-ROOM"),
      get("/channels/presence-ROOM"),
      get("/channels/presence-ROOM", { info: "user_count" }),
      get("/channels/presence-ROOM", { info: "user_count,subscription_count" }),
      get("/channels/ROOM", { info: "subscription_count" }),
      get("/channels/ROOM", { info: "user_count" }),
      get("/channels/ROOM", { info: "what" }),
      get("/channels/presence-ROOM/users"),
      get("/channels/ROOM/users"),
      get("/channels", { filter_by_prefix: "presence-ROOM" }),
      get("/channels", { filter_by_prefix: "presence-ROOM", info: "user_count" }),
      get("/channels", { filter_by_prefix: "ROOM", info: "user_count" }),
      get("/channels", { filter_by_prefix: "private-ROOM" }),
      get("/channels", { filter_by_prefix: "ROOM", info: "subscription_count" }),
      trigger("presence-ROOM", "order", "1", { info: "user_count" }),
      trigger("presence-ROOM", "order", "2", { info: "user_count,subscription_count" }),
      trigger("ROOM", "order", "3", { info: "subscription_count" }),
    ],
  },
  {
    name: "asks about what there isn't",
    steps: [
      get("/channels/ROOM"),
      get("/channels/ROOM", { info: "subscription_count" }),
      get("/channels/presence-ROOM", { info: "user_count" }),
      get("/channels/presence-ROOM/users"),
      get("/channels/a%20b"),
      get("/channels", { filter_by_prefix: "ROOM-nobody" }),
      get("/channels", { filter_by_prefix: "presence-ROOM", info: "user_count" }),
      get("/channels", { info: "user_count" }),
      get("/channels/cache-ROOM", { info: "cache" }),
    ],
  },
  {
    name: "asks in ways that there aren't",
    steps: [
      get("/nothing"),
      get("/events"),
      get("/users/1/terminate_connections"),
      post("/channels", {}),
      request({ method: "PUT", path: "/events", body: "{}" }),
      post("/users/nobody-ROOM/terminate_connections", {}),
    ],
  },
];

/** The signatures of requests. */
const signed: readonly Exchange[] = [
  ...(
    [
      ["an old time", { changes: { auth_timestamp: "1353088179" } }],
      ["a time to come", { changes: { auth_timestamp: "4102444800" } }],
      ["no time", { changes: { auth_timestamp: undefined } }],
      ["a time that is none", { changes: { auth_timestamp: "now" } }],
      ["another version", { changes: { auth_version: "2.0" } }],
      ["no version", { changes: { auth_version: undefined } }],
      ["another key", { changes: { auth_key: "other" } }],
      ["no key", { changes: { auth_key: undefined } }],
      ["the hash of another body", { changes: { body_md5: "ec365a775a4cd0599faeb73354201b6f" } }],
      ["no hash of the body", { changes: { body_md5: undefined } }],
      ["a wrong signature", { forged: { auth_signature: "ab".repeat(32) } }],
      ["a signature that is none", { forged: { auth_signature: "x" } }],
      ["an empty signature", { forged: { auth_signature: "" } }],
      ["a parameter that wasn't signed", { forged: { more: "1" } }],
      ["a parameter more", { changes: { more: "1" } }],
      ["a parameter with other characters", { changes: { more: "a b&ä=+/%" } }],
      ["an application that there isn't", { appId: "999" }],
    ] as const
  ).map(([name, how]) => ({ name: `signs with ${name}`, steps: [post("/events", event, how)] })),
  {
    name: "signs a question with a wrong signature",
    steps: [
      request({ method: "GET", path: "/channels", forged: { auth_signature: "ab".repeat(32) } }),
      request({ method: "GET", path: "/channels/ROOM", changes: { auth_timestamp: "1353088179" } }),
    ],
  },
];

export const requests: readonly Exchange[] = [...posted, ...asked, ...signed];
