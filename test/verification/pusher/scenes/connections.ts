import {
  connect,
  type Exchange,
  frame,
  raw,
  signIn,
  subscribe,
  trigger,
  post,
  join,
  enter,
} from "../exchange.ts";

/** How clients connect, stay connected and are refused, and what is no frame. */
export const connections: readonly Exchange[] = [
  ...[
    ["connects", "?protocol=7&client=js&version=8.4.0&flash=false"],
    ["connects with version 6", "?protocol=6&client=js&version=2.0.0"],
    ["connects with version 5", "?protocol=5"],
    ["connects with a version that there isn't", "?protocol=99"],
    ["connects with a version that is no number", "?protocol=seven"],
    ["connects with an empty version", "?protocol="],
    ["connects without a version", ""],
  ].map(([name = "", query = ""]) => ({ name, steps: [connect("one", query)] })),
  { name: "connects with the key of nobody", steps: [connect("one", undefined, "nobody")] },
  {
    name: "pings",
    steps: [
      connect("one"),
      raw("one", '{"event":"pusher:ping","data":{}}'),
      raw("one", '{"event": "pusher:ping"}'),
      raw("one", '{"event":"pusher:ping","data":"{}"}'),
      raw("one", '{"event":"pusher:pong","data":{}}'),
    ],
  },
  ...[
    ["no JSON", "hello"],
    ["an empty text", ""],
    ["an array", "[]"],
    ["a number", "7"],
    ["an object without an event", "{}"],
    ["an event that is a number", '{"event":7}'],
  ].map(([name = "", text = ""]) => ({
    name: `sends ${name}`,
    steps: [connect("one"), raw("one", text)],
  })),
  {
    name: "sends events that no client sends",
    steps: [
      connect("one"),
      frame("one", "pusher:connection_established", {}),
      frame("one", "pusher_internal:member_added", { user_id: "1" }, "presence-ROOM"),
      frame("one", "pusher:what", {}),
      frame("one", "hello", {}, "ROOM"),
    ],
  },
  {
    name: "subscribes without saying to what",
    steps: [
      connect("one"),
      raw("one", '{"event":"pusher:subscribe","data":{}}'),
      raw("one", '{"event":"pusher:subscribe","data":{"channel":""}}'),
    ],
  },
  ...[
    ["no data", '{"event":"pusher:subscribe"}'],
    ["null as data", '{"event":"pusher:subscribe","data":null}'],
    ["a number as the channel", '{"event":"pusher:subscribe","data":{"channel":7}}'],
    ["a text that is no JSON as data", '{"event":"pusher:subscribe","data":"x"}'],
  ].map(([name = "", text = ""]) => ({
    name: `subscribes with ${name}`,
    steps: [connect("one"), raw("one", text)],
  })),
  {
    name: "subscribes with data as the text of an object",
    steps: [
      connect("one"),
      raw("one", '{"event":"pusher:subscribe","data":"{\\"channel\\":\\"ROOM\\"}"}'),
    ],
  },
];

const known = JSON.stringify({ id: "user-ROOM", user_info: { name: "Ada" } });

/** Users who sign in. */
export const users: readonly Exchange[] = [
  {
    name: "signs in, and gets what is for the user",
    steps: [
      connect("one"),
      signIn("one", known),
      subscribe("one", "#server-to-user-user-ROOM"),
      trigger("#server-to-user-user-ROOM", "greeting", '{"hello":"there"}'),
      enter("one", "presence-ROOM"),
      post("/users/user-ROOM/terminate_connections", {}),
    ],
  },
  {
    name: "signs in by a number",
    steps: [connect("one"), signIn("one", '{"id":42}')],
  },
  {
    name: "signs in twice",
    steps: [connect("one"), signIn("one", known), signIn("one", known)],
  },
  {
    name: "signs in with what wasn't signed",
    steps: [connect("one"), signIn("one", known, '{"id":"other"}')],
  },
  {
    name: "signs in without data",
    steps: [connect("one"), frame("one", "pusher:signin", {})],
  },
  ...[
    ["no JSON", "x"],
    ["no ID", "{}"],
    ["an empty ID", '{"id":""}'],
    ["null as the ID", '{"id":null}'],
  ].map(([name = "", data = ""]) => ({
    name: `signs in with ${name}`,
    steps: [connect("one"), signIn("one", data)],
  })),
  {
    name: "subscribes to a user's events without being the user",
    steps: [
      connect("one"),
      subscribe("one", "#server-to-user-user-ROOM"),
      connect("two"),
      signIn("two", known),
      subscribe("two", "#server-to-user-other-ROOM"),
    ],
  },
  {
    name: "has two connections of a user, who is ended on both",
    steps: [
      connect("one"),
      signIn("one", known),
      connect("two"),
      signIn("two", known),
      post("/users/user-ROOM/terminate_connections", {}),
    ],
  },
  {
    name: "signs in, and is the member of its own data all the same",
    steps: [connect("one"), signIn("one", known), join("one", "presence-ROOM", "other")],
  },
];
