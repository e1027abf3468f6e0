import { expect, it } from "vitest";
import { runWith, runWithAll } from "./answering-server.ts";
import { nowMs } from "./recorded-shell.ts";

const at = nowMs - 60_000;
const why = {
  channel: "news",
  offset: 1,
  user: "ada",
  summary: "The publication was sent to the only known connection of the user.",
  publication: {
    state: "remembered",
    epoch: "e",
    top: 1,
    published_at_ms: at,
    committed_at_ms: at + 9,
    by: { key: "API_KEY" },
  },
  objects: [
    { object: "channel:news", memory: { since_ms: at - 5 }, subscribers: 0, offset: 1 },
    {
      object: "gateway:eu/0",
      memory: { since_ms: at - 5 },
      subscribers: 12,
      offset: 1,
      told: { begun_at_ms: at + 9, attempts: 2, ended_at_ms: at + 12, outcome: "taken" },
      taken_at_ms: at - 1,
      was_read: true,
      frame: {
        publications: 1,
        begun_at_ms: at + 10,
        subscribers: 8,
        filtered: 1,
        left_out: 2,
        slow: 1,
      },
    },
    { object: "gateway:us/0", state: "unknown" },
    { object: "gateway:as/0", subscribers: 1, note: "none since it started anew" },
  ],
  connections: [
    {
      client: "c1",
      user: "ada",
      object: "gateway:eu/0",
      outcome: "sent",
      summary: "the publication was handed to its socket",
      state: "connected",
      opened_at_ms: at - 5,
      events: [],
    },
  ],
  incomplete: true,
};

it("[Y3] why tells the way of a publication in sentences and a table", async () => {
  const { code, printed, noted, asked } = await runWith(why, "why", "news", "1", "--user", "ada");
  expect(asked).toStrictEqual([["/api/why", { channel: "news", offset: 1, user: "ada" }]]);
  expect(code).toBe(0);
  expect(printed).toBe(`The publication was sent to the only known connection of the user.
published 60 s ago, at 2026-11-22T11:59:00.000Z with the key API_KEY, committed 9 ms later

object        subscribers  told                   taken                         sent
channel:news            0
gateway:eu/0           12  +9 ms, taken, 2 calls  -1 ms, read from the history  +10 ms to 9, 2 left out by a filter, 1 too slow, not ended
gateway:us/0               no answer
gateway:as/0            1

sent  ada  c1 on gateway:eu/0
  the publication was handed to its socket

no connection  on gateway:as/0
  none since it started anew`);
  expect(noted).toBe("incomplete: an object didn't answer in time");
});

it("[Y3] why asks of the newest publication if none is named", async () => {
  const { code, asked } = await runWithAll(
    [{ offset: 7 }, why],
    {},
    "why",
    "news",
    "--user",
    "ada",
  );
  expect(asked).toStrictEqual([
    ["/api/history", { channel: "news", limit: 0 }],
    ["/api/why", { channel: "news", offset: 7, user: "ada" }],
  ]);
  expect(code).toBe(0);
  for (const empty of [{ epoch: "e" }, { epoch: "e", offset: 0 }]) {
    const refused = await runWith(empty, "why", "news", "--user", "ada");
    expect([refused.code, refused.noted]).toEqual([
      1,
      "nothing has been published to the channel yet",
    ]);
  }
});

it("[Y3] why names the client that published, and has times where a publication's isn't known", async () => {
  const by = { client: "c2", user: "grace" };
  const client = { ...why, publication: { published_at_ms: at, by }, objects: [], connections: [] };
  const { printed } = await runWith(client, "why", "news", "1", "--client", "c1");
  expect(printed).toContain(
    "published 60 s ago, at 2026-11-22T11:59:00.000Z by grace, client c2\n",
  );
  const without = { ...why, publication: { state: "forgotten" } };
  const forgotten = await runWith(without, "why", "news", "1", "--user", "ada");
  expect(forgotten.printed).not.toContain("published");
  expect(forgotten.printed).toContain("2026-11-22T11:59:00.010Z to 9");
});

const state = {
  object: "channel:news",
  version: "0.1.0 Dormouse",
  awake_since_ms: at,
  woken_by: "api",
  events: { api: { since_wake: 3, last_hour: 2 }, frame: { since_wake: 1, last_hour: 1 } },
  alarm_at_ms: at + 1_000,
  stored_bytes: 20_480,
  connections: {
    connected: 2,
    connecting: 1,
    by_transport: { websocket: 2 },
    by_protocol: { json: 2 },
  },
  backlog_bytes: 7,
  behind: [{ client: "c1", user: "", bytes: 7 }],
  closes: [
    {
      client: "c2",
      user: "ada",
      opened_at_ms: at,
      closed_at_ms: at + 1,
      code: 3503,
      by: "server",
      had_connected: true,
    },
  ],
  channel: {
    name: "news",
    namespace_configured: true,
    epoch: "e",
    offset: 4,
    newest_ms: at,
    history: { publications: 3, size: 10 },
    sequence: 4,
    committing: true,
    waiting_bytes: 5,
    gateways: [
      {
        object: "gateway:eu/0",
        lag: 1,
        failures: 0,
        subscribers: { count: 12, offset: 3 },
        backlog_bytes: 0,
      },
      { object: "gateway:us/0", lag: 4, failures: 2, state: "unknown" },
    ],
  },
  subscribers: { count: 1 },
  refusals: [
    {
      at_ms: at,
      count: 2,
      refused: "history",
      rule: "A1",
      reason: "not allowed",
      code: 103,
      user: "ada",
      channel: "news",
    },
  ],
};

it("[Y4] [Y5] inspect shows the state of a channel, its gateways, closes and refusals", async () => {
  const { printed, asked } = await runWith(state, "inspect", "news", "--refusals", "5");
  expect(asked).toStrictEqual([["/api/inspect", { channel: "news", refusals: 5 }]]);
  expect(printed).toBe(`channel:news
release      0.1.0 Dormouse
awake        for 60 s, since 2026-11-22T11:59:00.000Z, woken by api
events       api 2, frame 1 in the last hour
alarm        2026-11-22T11:59:01.000Z
storage      20480 bytes
top          4:e, 2026-11-22T11:59:00.000Z
history      3 of at most 10 publications
commit       under way, 5 bytes wait
connections  2: websocket 2, json 2, connecting 1
subscribers  1 on its own sockets
backlog      7 bytes that clients haven't taken

gateways
gateway       subscribers  offset  lag  failures  backlog
gateway:eu/0           12       3    1         0        0
gateway:us/0      unknown            4         2

furthest behind
connection  user         bytes
c1          (anonymous)      7

last closes
connection  user  code  by      closed
c2          ada   3503  server  2026-11-22T11:59:00.001Z

last refusals
refused  times  last                      rule  user  channel  reason
history      2  2026-11-22T11:59:00.000Z  A1    ada   news     not allowed`);
});

it("[Y4] inspect without a channel shows the gateways and the Worker's last refusals", async () => {
  const node = { uid: "gateway:eu/0", name: "eu/0", region: "eu", num_clients: 3 };
  const edge = { object: "edge", version: "0.1.0", refusals: state.refusals };
  const results = [{ nodes: [node] }, edge];
  const { code, printed, asked } = await runWithAll(results, {}, "inspect");
  expect(code).toBe(0);
  expect(asked).toStrictEqual([
    ["/api/info", {}],
    ["/api/inspect", { object: "edge", refusals: 5 }],
  ]);
  expect(printed).toMatch(/^gateway +region +connections .*\neu\/0 +eu +3/);
  expect(printed).toContain("\n\nedge\n");
  expect(printed).toContain("last refusals");
});

it("[Y3] why writes a long delay as people read it", async () => {
  const late = { ...why, objects: [{ object: "gateway:eu/0", taken_at_ms: at + 754_321 }] };
  const { printed } = await runWith(late, "why", "news", "1", "--user", "ada");
  expect(printed).toContain("+13 min");
  expect(printed).not.toContain("754321");
});

it("[Y4] inspect shows a gateway", async () => {
  const { channel: _, refusals: __, subscribers: ___, ...own } = state;
  const gateway = { ...own, object: "gateway:eu/0", gateway: { channels: 3, held_bytes: 100 } };
  const { printed, asked } = await runWith(gateway, "inspect", "--object", "gateway:eu/0");
  expect(asked).toStrictEqual([["/api/inspect", { object: "gateway:eu/0" }]]);
  expect(printed).toContain("follows      3 channels, 100 bytes\n");
  expect(printed).not.toMatch(/^(?:top|history|commit|subscribers|gateways)/m);
});

it("[E5] events has a line for each event, and says that there may be more", async () => {
  const common = { object: "channel/news", time: at, channel: "news" };
  const events = [
    { ...common, number: 1, type: "publication", first: true, offset: 1, data: { a: 1 } },
    { ...common, number: 2, type: "subscribed", user: "", client: "c1" },
    { ...common, number: 3, type: "channel_occupied" },
  ];
  const args = ["events", "channel/news", "--since", "0", "--limit", "3"];
  const { printed, noted, asked } = await runWith({ events }, ...args);
  expect(asked).toStrictEqual([["/api/events", { object: "channel/news", since: 0, limit: 3 }]]);
  expect(printed).toBe(
    `number  time                      type              channel  user         more
1       2026-11-22T11:59:00.000Z  publication       news                  {"first":true,"offset":1,"data":{"a":1}}
2       2026-11-22T11:59:00.000Z  subscribed        news     (anonymous)  {"client":"c1"}
3       2026-11-22T11:59:00.000Z  channel_occupied  news`,
  );
  expect(noted).toBe("there may be more: --since 3");
  const none = await runWith({ events: [] }, "events", "channel/news");
  expect([none.printed, none.noted]).toStrictEqual(["no events", ""]);
});

it.each([
  ["why", why, ["news", "1", "--user", "ada"]],
  ["inspect", state, ["news"]],
  ["events", { events: [{ object: "channel/news", number: 1 }] }, ["channel/news"]],
])("[Y3] [Y4] [E5] %s prints the answer as JSON", async (name, result, args) => {
  const { printed, noted } = await runWith(result, name, ...args, "--json");
  expect(JSON.parse(printed)).toStrictEqual(result);
  expect(noted).toBe("");
});

it.each([
  ["why", { summary: "\u001B[2J", connections: [{ user: "\u009B1m", summary: "\u009B" }] }],
  ["inspect", { object: "\u001B[2J", closes: [{ user: "\u009B1m" }] }],
  ["events", { events: [{ type: "\u001B[2J", data: "\u009B" }] }],
])("[A7] %s lets no text of a client control the terminal", async (name, result) => {
  const args = name === "why" ? ["news", "1", "--user", "ada"] : ["news"];
  const { printed } = await runWith(result, name, ...args);
  expect(printed).toContain(String.raw`\u001b[2J`);
  expect(printed).not.toMatch(/[^\P{Cc}\n]/u);
});

it.each([
  [["why", "news", "1"], "name whose: --user or --client"],
  [["why", "news", "0", "--user", "ada"], "It takes a whole number of at least 1."],
  [["inspect", "news", "--object", "gateway:eu/0"], "name either a channel or"],
  [["inspect", "news", "--refusals", "1001"], "It takes a whole number from 1 to 1000."],
  [["events"], "missing required argument 'object'"],
  [["events", "channel/news", "--limit", "1001"], "It takes a whole number from 1 to 1000."],
])("%j is refused before the server is called", async (args, reason) => {
  const { code, noted, asked } = await runWith({}, ...args);
  expect([code, asked]).toStrictEqual([2, []]);
  expect(noted).toContain(reason);
});

const pages = [
  {
    entries: [
      { key: "a", data: { n: 1 }, tags: { kind: "x" }, offset: 3, time: 1 },
      { key: "b\u001B", b64data: "AQI=", offset: 1, time: 1 },
    ],
    offset: 4,
    epoch: "e",
    cursor: "b",
  },
  { entries: [{ key: "c", data: null, offset: 5, time: 1 }], offset: 5, epoch: "e", cursor: "" },
];

it("[Z3] map read prints all pages of a map", async () => {
  const { code, printed, asked } = await runWithAll(pages, {}, "map", "read", "board:7");
  expect([code, printed]).toEqual([
    0,
    `3 a {"n":1} {"kind":"x"}\n1 b\\u001b base64 AQI=\n5 c null\ntop 5:e, 3 keys`,
  ]);
  expect(asked).toStrictEqual([
    ["/api/map_read_state", { channel: "board:7", limit: 1_000 }],
    ["/api/map_read_state", { channel: "board:7", limit: 1_000, cursor: "b" }],
  ]);
  const json = await runWithAll(pages, {}, "map", "read", "board:7", "--json");
  expect(json.printed.split("\n").map((line) => JSON.parse(line))).toStrictEqual(pages);
});

it("[Z5] map read refuses to mix a map with the one after it was cleared", async () => {
  const cleared = [pages[0] ?? {}, { entries: [], offset: 0, epoch: "f", cursor: "" }];
  const { code, noted } = await runWithAll(cleared, {}, "map", "read", "board:7");
  expect([code, noted]).toEqual([
    1,
    "the map was cleared or lost its state while it was read: read it again",
  ]);
});

it("map read --key exits with 1 if the map doesn't have the key", async () => {
  const found = await runWith(pages[1] ?? {}, "map", "read", "board:7", "--key", "c");
  expect([found.code, found.printed]).toEqual([0, "5 c null\ntop 5:e"]);
  expect(found.asked).toStrictEqual([["/api/map_read_state", { channel: "board:7", key: "c" }]]);
  const none = { entries: [], offset: 5, epoch: "e" };
  const missed = await runWith(none, "map", "read", "board:7", "--key", "x", "--json");
  expect([missed.code, missed.printed]).toEqual([1, ""]);
  expect(JSON.parse(missed.noted)).toEqual({ error: "the map doesn't have the key" });
});

it("map set and map remove send their conditions", async () => {
  const made = { offset: 6, epoch: "e" };
  const where = ["board:7", "a"];
  const set = await runWith(made, "map", "set", ...where, "[1]", "--if-new", "--tag", "k=v");
  expect([set.code, set.printed]).toEqual([0, "board:7 6:e"]);
  expect(set.asked).toStrictEqual([
    [
      "/api/map_publish",
      { channel: "board:7", key: "a", data: [1], key_mode: "if_new", tags: { k: "v" } },
    ],
  ]);
  const removed = await runWith(made, "map", "remove", ...where, "--if-offset", "0", "--json");
  expect(JSON.parse(removed.printed)).toEqual({ channel: "board:7", ...made });
  expect(removed.asked).toStrictEqual([
    ["/api/map_remove", { channel: "board:7", key: "a", if_offset: 0 }],
  ]);
});

it.each([
  ["key_exists", 4, "the map has the key, last changed at 4"],
  ["key_not_found", 0, "the map doesn't have the key"],
  ["position_mismatch", 4, "the key's last change is at 4"],
  ["position_mismatch", 0, "the map doesn't have the key"],
])("[Z7] map set exits with 1 for %s at %i", async (reason, offset, text) => {
  const suppression = { suppressed: true, suppress_reason: reason, current_offset: offset };
  const result = { offset: 6, epoch: "e", ...suppression };
  const { code, printed, noted } = await runWith(result, "map", "set", "board:7", "a", "1");
  expect([code, printed, noted]).toEqual([1, "", `nothing was changed: ${text}`]);
  const json = await runWith(result, "map", "set", "board:7", "a", "1", "--json");
  expect([json.code, JSON.parse(json.printed)]).toEqual([1, { channel: "board:7", ...result }]);
});

it("map clear asks before it removes keys, and needs --yes where nobody can be asked", async () => {
  const clear = ["map", "clear", "board:7"];
  const stats = [{ num_keys: 2 }, {}];
  const asked = await runWithAll(stats, { answer: "y" }, ...clear);
  expect([asked.code, asked.printed]).toEqual([0, "board:7 is empty"]);
  expect(JSON.stringify(asked.asked)).toContain("map_clear");
  const refused = await runWithAll(stats, { answer: "" }, ...clear);
  expect([refused.code, refused.noted]).toEqual([1, "nothing was removed"]);
  const alone = await runWithAll(stats, {}, ...clear);
  expect([alone.code, alone.noted]).toEqual([2, "there is no terminal to ask at: add --yes"]);
  for (const each of [refused, alone])
    expect(JSON.stringify(each.asked)).not.toContain("map_clear");
  const told = await runWith({}, ...clear, "--yes");
  expect([told.code, told.asked]).toEqual([0, [["/api/map_clear", { channel: "board:7" }]]]);
});

it("map stats tells how many keys there are", async () => {
  expect((await runWith({ num_keys: 1 }, "map", "stats", "board:7")).printed).toBe("1 key");
  const json = await runWith({ num_keys: 2 }, "map", "stats", "board:7", "--json");
  expect(json.printed).toBe('{"num_keys":2}');
});

it("[Y10] inspect shows what the code of a channel has stored and what became of its calls", async () => {
  const code = {
    keys: 2,
    bytes: 40,
    version: 3,
    first_keys: [{ key: "best", value: { amount: 5 } }],
    timers: [{ name: "end", at_ms: at, procedure: "close", tries: 0 }],
    procedures: { bid: { done: 1, repeated: 0, rejected: 2, refused: 0, threw: 0, slow: 0 } },
    last_calls: [
      { procedure: "bid", by: "client", outcome: "rejected", code: 1001, message: "no", at_ms: at },
      { procedure: "bid", by: "backend", outcome: "done", at_ms: at },
    ],
  };
  const coded = {
    object: "channel:auction:7",
    version: "v",
    awake_since_ms: at,
    woken_by: "api",
    channel: { name: "auction:7", history: { publications: 1, size: 10 }, gateways: [], code },
  };
  const { printed } = await runWith(coded, "inspect", "auction:7");
  expect(printed).toContain("2 keys, 40 bytes, of version 3");
  expect(printed).toContain(`procedures
procedure  done  repeated  rejected  refused  threw  slow
bid           1         0         2        0      0     0`);
  expect(printed).toMatch(/timers\ntimer +calls +at\nend +close +2026-/);
  expect(printed).toMatch(/bid +client +rejected +2026-\S+ +1001 no\nbid +backend +done/);
});

it("call sends the arguments as they were typed, and prints what the procedure returns", async () => {
  const args = '{"amount":9007199254740993}';
  const { code, printed, asked } = await runWith(
    { data: { isBest: true } },
    "call",
    "auction:7",
    "bid",
    args,
    "--key",
    "k",
  );
  expect([code, printed]).toEqual([0, '{"isBest":true}']);
  expect(asked).toStrictEqual([
    [
      "/api/call",
      { channel: "auction:7", procedure: "bid", args: JSON.parse(args), idempotency_key: "k" },
    ],
  ]);
  const nothing = await runWith({ data: null }, "call", "auction:7", "close");
  expect([nothing.code, nothing.printed]).toEqual([0, ""]);
  expect(nothing.asked).toStrictEqual([
    ["/api/call", { channel: "auction:7", procedure: "close" }],
  ]);
  const bad = await runWith({}, "call", "auction:7", "bid", "{");
  expect(bad.code).toBe(2);
  expect(bad.noted).toContain("the arguments aren't JSON");
});
