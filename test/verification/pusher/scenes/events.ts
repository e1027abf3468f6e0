import {
  connect,
  enter,
  type Exchange,
  frame,
  join,
  raw,
  type Step,
  subscribe,
  trigger,
  unsubscribe,
} from "../exchange.ts";

/** Two clients on a private channel, and an event of the first. */
function between(name: string, ...steps: readonly Step[]): Exchange {
  const entered = [
    connect("one"),
    connect("two"),
    enter("one", "private-ROOM"),
    enter("two", "private-ROOM"),
  ];
  return { name: `sends ${name}`, steps: [...entered, ...steps] };
}

/** Events that clients send. */
export const clientEvents: readonly Exchange[] = [
  between(
    "events to the others on a private channel",
    frame("one", "client-typing", { at: 1 }, "private-ROOM"),
    frame("two", "client-typing", { at: 2 }, "private-ROOM"),
    unsubscribe("two", "private-ROOM"),
    frame("one", "client-typing", { at: 3 }, "private-ROOM"),
    frame("two", "client-typing", { at: 4 }, "private-ROOM"),
  ),
  between("an event with a text", frame("one", "client-a", "text", "private-ROOM")),
  between("an event with JSON in a text", frame("one", "client-a", '{"at":1}', "private-ROOM")),
  between("an event with a number", frame("one", "client-a", 7, "private-ROOM")),
  between("an event with null", frame("one", "client-a", null, "private-ROOM")),
  between("an event with a list", frame("one", "client-a", [1, 2], "private-ROOM")),
  between("an event without data", raw("one", '{"event":"client-a","channel":"private-ROOM"}')),
  between("an event without a channel", raw("one", '{"event":"client-a","data":{}}')),
  between("an event of the shortest name", frame("one", "client-", {}, "private-ROOM")),
  between(
    "an event whose name has 200 characters",
    frame("one", "client-".padEnd(200, "x"), {}, "private-ROOM"),
  ),
  between(
    "an event whose name has 201 characters",
    frame("one", "client-".padEnd(201, "x"), {}, "private-ROOM"),
  ),
  between("an event in another form", frame("one", "Client-a", {}, "private-ROOM")),
  {
    name: "sends an event on a presence channel",
    steps: [
      connect("one"),
      connect("two"),
      join("one", "presence-ROOM", "1"),
      join("two", "presence-ROOM", "2"),
      frame("one", "client-typing", { at: 1 }, "presence-ROOM"),
    ],
  },
  {
    name: "sends an event on a public channel",
    steps: [connect("one"), subscribe("one", "ROOM"), frame("one", "client-a", {}, "ROOM")],
  },
  {
    name: "sends an event on an encrypted channel",
    steps: [
      connect("one"),
      enter("one", "private-encrypted-ROOM"),
      frame("one", "client-a", {}, "private-encrypted-ROOM"),
    ],
  },
  {
    name: "sends an event on a channel that it isn't subscribed to",
    steps: [
      connect("one"),
      frame("one", "client-a", {}, "private-ROOM"),
      frame("one", "client-a", {}, "a b"),
      frame("one", "client-a", {}, ""),
    ],
  },
];

/** The data of events as subscribers get it: to the character. */
export const delivered: readonly Exchange[] = [
  ...[
    ["a text", "hello"],
    ["no text", ""],
    ["an object", '{"id":1}'],
    ["an object with spaces", ' { "id" : 1 } '],
    ["lines", "a\nb"],
    ["a number", "7"],
    ["a long number", "12345678901234567890"],
    ["null", "null"],
    ["a text in quotes", '"hello"'],
    ["characters beyond ASCII", "ä € 😀"],
    ["escapes", '{"a":"\\u00e4\\n"}'],
    ["what looks like HTML", "<b>&amp;</b>"],
  ].map(([name = "", data = ""]) => ({
    name: `delivers ${name}`,
    steps: [connect("one"), subscribe("one", "ROOM"), trigger("ROOM", "order", data)],
  })),
  {
    name: "delivers names of events as they are",
    steps: [
      connect("one"),
      subscribe("one", "ROOM"),
      trigger("ROOM", "App\\Events\\Ordered", "{}"),
      trigger("ROOM", ".ordered", "{}"),
      trigger("ROOM", "ä 😀", "{}"),
      trigger("ROOM", "client-from-the-server", '{"id":1}'),
    ],
  },
  {
    name: "delivers an event to two channels, and to each subscriber once",
    steps: [
      connect("one"),
      connect("two"),
      subscribe("one", "ROOM-a"),
      subscribe("two", "ROOM-b"),
      trigger("", "order", "1", { channel: undefined, channels: ["ROOM-a", "ROOM-b"] }),
      trigger("", "order", "2", { channel: undefined, channels: ["ROOM-a", "ROOM-a"] }),
    ],
  },
  {
    name: "excludes a socket",
    steps: [
      connect("one"),
      connect("two"),
      subscribe("one", "ROOM"),
      subscribe("two", "ROOM"),
      trigger("ROOM", "order", "1", { socket_id: "SOCKET:one" }),
      trigger("ROOM", "order", "2", { socket_id: "1234.5678" }),
      trigger("ROOM", "order", "3", { socket_id: "nobody" }),
      trigger("ROOM", "order", "4", { socket_id: "" }),
      trigger("ROOM", "order", "5", { socket_id: null }),
    ],
  },
];
