import { expect, it, vi } from "vitest";
import { encodeInspectedChannel } from "../../../src/features/why/inspect-answer.ts";
import { encodeWhy } from "../../../src/features/why/why-answer.ts";
import type { CodeState } from "../../../src/features/why/code-state.ts";
import type { ObjectState, SubscriberCounts } from "../../../src/features/why/object-state.ts";
import type { GatewayProgress, TrailAnswer } from "../../../src/features/why/trail.ts";
import { encodeEvent } from "../../../src/features/events/event.ts";
import { trustedJsonText } from "../../../src/protocol/json/text.ts";
import { call, post, publish } from "../support/api-request.ts";
import { Description } from "./described.ts";
import { configureEvents, takenUntil } from "../events/event-receiver.ts";
import { newChannel } from "../support/new-channel.ts";
import { awake } from "../support/object-state.ts";
import { channelPlace, gatewayPlace } from "../support/place.ts";
import { token } from "../support/sign-token.ts";
import { testConfig } from "../support/test-config.ts";
import { Variant } from "../support/variant.ts";

const team = {
  name: "team",
  allow_subscribe_for_client: true,
  allow_publish_for_subscriber: true,
  allow_tags_filter: true,
  history_size: 10,
  history_ttl: "5m",
  force_recovery: true,
};
const { channel } = testConfig;
const keepMax = 100;
configureEvents(
  { types: ["publication", "connected", "disconnected"], keep_max: keepMax },
  { channel: { ...channel, namespaces: [...channel.namespaces, team] } },
);

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/** Calls a method, and holds the answer to the description. */
async function checked(description: Description, method: string, request: object) {
  const path = `/api/${method}`;
  return description.check(path, await post(path, JSON.stringify(request)));
}

/** Holds a result that no server gave to the description of a method. */
async function checkedResult(description: Description, method: string, result: string) {
  const headers = { "Content-Type": "application/json" };
  return description.check(`/api/${method}`, new Response(`{"result":${result}}`, { headers }));
}

it("[W8] [Y3] [Y4] [E5] the description fits the answers to why, inspect and events", async () => {
  const description = await Description.fetch();
  const room = newChannel("team");
  await checkAnswers(description, room);
  await checkEvents(description, room);
  const refused = { channel: newChannel("plain"), offset: 1, user: "ada" };
  expect(await checked(description, "why", refused)).toContain('"error"');
  for (const method of ["inspect", "events"])
    expect(await checked(description, method, { object: "eu/0" })).toContain('"error"');
  // Fields that a server tells only past its bounds, or in the middle of something.
  await checkedResult(description, "why", rareWhy());
  await checkedResult(description, "inspect", rareInspect());
  const large = encodeEvent({ type: "publication", data: trustedJsonText("[1,2]") }, 1);
  const tooLarge = `{"object":"channel/a","number":1,"time":1,${large}}`;
  await checkedResult(description, "events", `{"events":[${tooLarge}]}`);
  expect(description.unseenFields(["/api/why", "/api/inspect", "/api/events"])).toStrictEqual([]);
});

/** Holds what real objects tell of several clients of a channel to the description. */
async function checkAnswers(description: Description, room: string): Promise<void> {
  const user = `user-${crypto.randomUUID()}`;
  const own = new Variant(channelPlace, awake);
  const gateway = new Variant(gatewayPlace(), awake);
  const socket = await own.open(room, "", { traceparent });
  const claims = { sub: user, info: { name: "Ada" } };
  await socket.ask({ id: 1, connect: { token: await token(claims) } });
  const subscription = await token({ sub: user, channel: room, info: 1 });
  await socket.ask({ id: 2, subscribe: { channel: room, token: subscription } });
  const { epoch } = await publish(room, 1, { tags: { color: "blue" } });
  socket.send({ id: 3, publish: { channel: room, data: 1 } });
  const left = await gateway.connect(room, user);
  await left.ask({ id: 2, subscribe: { channel: room, recover: true, epoch, offset: 0 } });
  await left.ask({ id: 3, unsubscribe: { channel: room } });
  const filtered = await gateway.connect(room, user);
  const tf = { key: "color", cmp: "eq", val: "red" };
  await filtered.ask({ id: 2, subscribe: { channel: room, tf } });
  const { offset } = await publish(room, 2, { tags: { color: "blue" } });
  await Promise.all([socket.unread(), filtered.unread()]);
  vi.spyOn(console, "warn").mockImplementation(() => {});
  await socket.ask({ id: 4, history: { channel: room, limit: 1 } });
  vi.restoreAllMocks();
  await call("disconnect", { user, client: left.client });
  const told = await checked(description, "why", { channel: room, offset, user });
  for (const word of ['"sent"', '"filtered"', '"closed"']) expect(told).toContain(word);
  await checked(description, "why", { channel: room, offset: 2, client: socket.client });
  await call("disconnect", { user });
  await socket.closed;
  const inspected = await checked(description, "inspect", { channel: room, refusals: 10 });
  for (const part of ['"refusals":[{', '"closes":[{']) expect(inspected).toContain(part);
  await checked(description, "inspect", { object: "gateway:eu/0" });
}

/** Holds the events of the channel's object to the description, and what it tells in place of events that are gone. */
async function checkEvents(description: Description, room: string): Promise<void> {
  const object = `channel/${room}`;
  const path = "/api/publish";
  await post(path, JSON.stringify({ channel: room, b64data: "AAEC" }), { traceparent });
  await takenUntil(object, ({ type }) => type === "disconnected");
  const events = await checked(description, "events", { object });
  for (const word of ['"first":true', '"connected"', '"chan_info"']) expect(events).toContain(word);
  const commands = Array.from({ length: keepMax }, () => ({ publish: { channel: room, data: 1 } }));
  await call("batch", { commands });
  expect(await checked(description, "events", { object, since: 1 })).toContain('"gap"');
}

const progress: Required<GatewayProgress> = {
  name: "eu/0",
  lag: 1,
  failures: 1,
  waitsUntilMs: 2,
  lastCall: { begunAtMs: 1, endedAtMs: 2 },
  told: { begunAtMs: 1, attempts: 2, endedAtMs: 2, outcome: "failed" },
};

/** The answer to `why` of objects that had to forget something, one of which doesn't answer. */
function rareWhy(): string {
  const trail: TrailAnswer = {
    node: "gateway:eu/0",
    awakeSinceMs: 1,
    remembersSinceMs: 2,
    notesSinceMs: 3,
    closesSinceMs: 4,
    subscribers: 1,
    isSending: false,
    taken: { atMs: 5, read: true },
    connections: [],
    closes: [],
    notes: [],
    incomplete: true,
  };
  const own = {
    ...trail,
    node: "channel:news",
    channel: {
      hasHistory: true,
      gateways: [progress],
      top: { offset: 1, epoch: "e" },
      publication: {
        publishedAtMs: 1,
        by: {},
        isAppended: true,
        change: { kind: "edited", offset: 2 },
      },
    },
  } as const;
  const others = new Map([
    ["gateway:eu/0", trail],
    ["gateway:eu/1", undefined],
  ]);
  const question = { method: "why", channel: "news", offset: 1, user: "ada", client: "" } as const;
  return encodeWhy(question, {
    own,
    others,
    registered: new Set(["gateway:eu/0"]),
    isShort: false,
  });
}

const subscribers: Required<SubscriberCounts> = {
  subscribers: 1,
  byTransport: { sse: 1 },
  byProtocol: { json: 1 },
  filtered: 0,
  delta: 0,
  pending: 0,
  position: { offset: 1, epoch: "e" },
  instance: 1,
  sequence: 1,
  isSending: true,
  isCollecting: true,
};

const code: Required<CodeState> = {
  keys: 1,
  bytes: 2,
  version: 1,
  firstKeys: [{ key: "a", value: trustedJsonText("1") }],
  timers: [{ name: "end", atMs: 1, procedure: "close", tries: 0 }],
  procedures: { bid: { done: 1, repeated: 0, rejected: 1, refused: 0, threw: 0, slow: 0 } },
  lastCalls: [
    { procedure: "bid", by: "client", outcome: "rejected", code: 1_001, message: "no", atMs: 1 },
  ],
};

/** The answer to `inspect` of a channel with slow clients, one of whose gateways doesn't answer. */
function rareInspect(): string {
  const state: Required<ObjectState> = {
    node: "channel:news",
    version: "0.1.0 Dormouse",
    awakeSinceMs: 1,
    wokenBy: "api",
    events: [{ kind: "api", sinceWake: 1, lastHour: 1 }],
    alarmAtMs: 2,
    storedBytes: 1,
    connections: { connected: 1, connecting: 0, byTransport: { sse: 1 }, byProtocol: { json: 1 } },
    backlogBytes: 1,
    behind: [{ client: "c", user: "ada", bytes: 1 }],
    closes: [],
    refusals: [
      { atMs: 1, count: 1, refused: "api info", rule: "A14", reason: "r", key: "API_KEY" },
    ],
    channel: {
      name: "news",
      isKnown: true,
      publications: 0,
      historySize: 0,
      instance: 1,
      sequence: 1,
      gateways: [],
      isCommitting: true,
      waitingBytes: 1,
      code,
    },
    gateway: { channels: 1, heldBytes: 1 },
    subscribers,
  };
  const gateways = [
    { progress, state, wasSkipped: false },
    { progress, state: undefined, wasSkipped: false },
  ];
  return encodeInspectedChannel(state, gateways, { jurisdiction: "eu", location: "weur" });
}
