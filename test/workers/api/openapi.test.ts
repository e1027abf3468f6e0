import { env } from "cloudflare:workers";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { operationNames } from "../../../src/api/operations.ts";
import { missingMethods } from "../../../src/api/methods.ts";
import { limits } from "../../../src/limits.ts";
import { type ErrorCode, errorCodes } from "../../../src/protocol/codes.ts";
import { createApp } from "../../../workers/http/app.ts";
import type { Env } from "../../../workers/platform/env.ts";
import { address, fetchWith, post, postWith } from "../support/api-request.ts";
import { configure } from "../support/configure.ts";
import { Description } from "./described.ts";
import { newChannel } from "../support/new-channel.ts";
import { openConfig } from "../support/open-transports.ts";
import { gatewayPlace } from "../support/place.ts";
import { secondsFromNow, token } from "../support/sign-token.ts";
import { TestSocket } from "../support/test-socket.ts";
import { overloadedError, watchedChannels } from "../support/watched-channels.ts";
import { patience } from "../../support/patience.ts";

const team = {
  name: "team",
  presence: true,
  join_leave: true,
  force_push_join_leave: true,
  allow_publish_for_subscriber: true,
  allow_tags_filter: true,
  allowed_delta_types: ["fossil"],
  history_size: 10,
  allow_change: true,
  erasable_by_user: true,
  history_ttl: "5m",
  force_recovery: true,
  cursors: { enabled: true, unread_max: 1, audience: "named" },
};
const scores = { name: "scores", subscription_type: "map", map: { mode: "persistent" } };
const keys = [{ name: "one", secret: "API_KEY_ONE", methods: ["history"], channels: ["a"] }];
const config = {
  ...openConfig,
  client: { ...openConfig.client, users: { status: { enabled: true } } },
  channel: {
    ...openConfig.channel,
    namespaces: [...openConfig.channel.namespaces, team, scores],
  },
  http_api: { keys },
};
const secrets = { API_KEY_ONE: "api-key-of-one-backend" };
configure(config);
Object.assign(env, secrets);

const swagger = { config: { ...config, swagger: { enabled: true } } };
const transport = { "X-Centrifugo-Error-Mode": "transport" };

/** Their answers are held to the description in another file. */
const inspectionPaths = ["/api/why", "/api/inspect", "/api/events"];

let description: Description;
beforeAll(async () => {
  vi.spyOn(console, "warn").mockImplementation(() => {});
  vi.spyOn(console, "error").mockImplementation(() => {});
  description = await Description.fetch();
});
afterAll(() => {
  vi.restoreAllMocks();
});

/** Calls a method, and holds the answer to the description. */
async function checked(method: string, request: object): Promise<string> {
  const path = `/api/${method}`;
  return description.check(path, await post(path, JSON.stringify(request)));
}

describe("the description of the HTTP API", () => {
  it("[W8] has the addresses that the Worker has, and no others", () => {
    const paths = createApp()
      .routes.map(({ path }) => path)
      .filter((path) => /^\/api(?:\/|$)/.test(path) && path !== "/api/*");
    const missing = missingMethods.map((method) => `/api/${method}`);
    const had = new Set(paths.filter((path) => !missing.some((one) => one === path)));
    expect([...had].toSorted()).toStrictEqual(description.paths.toSorted());
    const known = [...operationNames(), "batch"].map((method) => `/api/${method}`);
    expect([...had].toSorted()).toStrictEqual(["/api", ...known].toSorted());
  });

  it("[W8] fits the answers of every method, which have all the fields that it tells of", async () => {
    const [channel, filtered, region] = [
      newChannel("team"),
      newChannel("team"),
      newChannel("team"),
    ];
    const user = `user-${crypto.randomUUID()}`;
    const socket = TestSocket.on(await gatewayPlace().upgrade(region));
    const claims = { jti: "t", iat: secondsFromNow(-60), exp: secondsFromNow(600) };
    const own = await token({ sub: user, info: { name: "ada" }, ...claims });
    await socket.ask({ id: 1, connect: { token: own, name: "shop", version: "1.2" } });
    const sub = { sub: user, info: 1, ...claims };
    const first = await token({ ...sub, channel });
    await socket.ask({ id: 2, subscribe: { channel, token: first, delta: "fossil" } });
    const server_tags_filter = { key: "a", cmp: "ex" };
    const second = await token({ ...sub, channel: filtered, server_tags_filter });
    const tf = { key: "b", cmp: "ex" };
    await socket.next(); // The join.
    await socket.ask({ id: 3, subscribe: { channel: filtered, token: second, tf } });
    await socket.next();
    socket.send({ id: 4, publish: { channel, data: 1 } });
    await answeredAs(socket, 4);

    await checked("publish", { channel, data: 1, tags: { a: "b" } });
    await checked("broadcast", { channels: [channel, "nowhere:a"], data: 1 });
    await checked("update_publication", { channel, offset: 1, data: 2 });
    await checked("delete_publication", { channel, offset: 1, reason: "spam" });
    await checked("delete_publication", { channel, offset: 1 });
    await checked("history", { channel, limit: -1 });
    await checked("erase", { channel, offset: 1 });
    await checked("presence", { channel });
    await checked("presence_stats", { channel });
    await checked("update_user_status", { users: [user], state: "busy" });
    await checked("get_user_status", { users: [user] });
    await vi.waitFor(async () => {
      expect(await checked("connections", { user })).toContain(filtered);
    }, patience);
    await vi.waitFor(async () => {
      expect(await checked("channels", { pattern: channel })).toContain("num_clients");
    }, patience);
    await checked("channels", { limit: 1 });
    await checked("info", {});
    const other = TestSocket.on(await gatewayPlace(1).upgrade(region));
    await other.ask({ id: 1, connect: { token: await token({ sub: user }) } });
    await vi.waitFor(
      async () => expect(await checked("info", { limit: 1 })).toContain("cursor"),
      patience,
    );
    await checked("mark_read", { user, channel, offset: 0 });
    expect(await checked("unread", { user, channels: [channel] })).toContain("capped");
    socket.send({ id: 5, rpc: { method: "dormouse.read", data: { channel, offset: 1 } } });
    await answeredAs(socket, 5);
    expect(await checked("delivered", { user, channel })).toContain("command");
    await checked("mark_read", { user: "bob", channel, offset: 0 });
    expect(await checked("marks", { channel, offset: 1, limit: 1 })).toContain("cursor");
    const users = [user, "bob"];
    for (const method of ["set_audience", "add_audience", "remove_audience"])
      await checked(method, { channel, users });
    await checked("set_audience", { channel, users });
    expect(await checked("audience", { channel, limit: 1 })).toContain("cursor");
    const forgotten = await checked("forget_user", { user: "bob", publications: true });
    expect(forgotten).toContain('"scores"');
    expect(forgotten).not.toContain('"team"');
    const map = newChannel("scores");
    await checked("map_publish", { channel: map, key: "a", data: 1, tags: { a: "b" }, score: 7 });
    await checked("map_publish", { channel: map, key: "b", data: 1 });
    expect(
      await checked("map_publish", { channel: map, key: "b", data: 2, if_offset: 1 }),
    ).toContain("position_mismatch");
    expect(await checked("map_read_state", { channel: map, limit: 1 })).toContain("cursor");
    await checked("map_stats", { channel: map });
    expect(await checked("map_remove", { channel: map, key: "a", if_offset: 9 })).toContain(
      "current_offset",
    );
    await checked("map_remove", { channel: map, key: "a" });
    const appended = await checked("map_append", {
      channel: map,
      key: "story",
      text: "Once",
      at: 0,
    });
    const { offset }: { offset?: number } = JSON.parse(appended).result;
    expect(await checked("why", { channel: map, offset, user })).toContain("appended");
    expect(await checked("map_append", { channel: map, key: "story", text: "!", at: 0 })).toContain(
      "length_mismatch",
    );
    expect(await checked("map_read_stream", { channel: map, limit: -1 })).toContain("removed");
    expect(await checked("publish", { channel, data: 1, if_offset: 0 })).toContain("suppressed");
    const commands = [...commandsOf(channel, user), ...mapCommandsOf(map)];
    await checked("batch", { commands });
    const lines = commands.map((command, index) => {
      const [[method, params] = []] = Object.entries(command);
      return JSON.stringify({ id: index, method, params });
    });
    await description.check("/api", await post("/api", lines.join("\n")), true);
    for (const one of ["history_remove", "unsubscribe", "subscribe"])
      await checked(one, { channel, user });
    const orders = [
      "refresh",
      "disconnect",
      "block_user",
      "unblock_user",
      "invalidate_user_tokens",
    ];
    for (const order of orders) await checked(order, { user });
    await checked("revoke_token", { uid: "t" });
    await checked("delete_user_status", { users: [user] });
    // Fields that are there only when something fails.
    const failing = [
      "Presence",
      "PresenceStats",
      "Connections",
      "Info",
      "Channels",
      "GetUserStatus",
    ];
    const incomplete = failing.map((name) => `${name}Result.incomplete`);
    const others = new Set([
      ...description.unseenFields(inspectionPaths),
      // A client that changes a map, and a shared poll that takes what backends publish, have tests of their own.
      "MapEntry.info",
      "Reply.shared_poll_publish",
      // procedures.test.ts has channels with code.
      "CallAnswer.result",
      "CallResult.data",
      "Reply.call",
      // cursors.test.ts has a history that begins anew, and a channel that doesn't answer.
      "UnreadChannel.reset",
      "UnreadChannel.error",
      // delivered.test.ts has a client that recovers, and marks.test.ts more marks than a request looks at.
      "DeliveredResult.since",
      "MarksResult.capped",
      // erasure.test.ts has a user who has published to more channels than a home knows.
      "ForgetUserResult.incomplete",
      // The server under test keeps its objects nowhere in particular; placement.test.ts asks one that does.
      "InfoResult.placement",
    ]);
    const unseen = description.unseenFields().filter((field) => !others.has(field));
    expect(unseen.toSorted()).toStrictEqual(incomplete.toSorted());
  });

  it("[W8] fits the refusals of a request, and tells of no others", async () => {
    const channel = newChannel("team");
    const path = "/api/publish";
    const body = JSON.stringify({ channel, data: 1 });
    const check = async (response: Promise<Response>, at = path) => {
      await description.check(at, await response);
    };
    await check(post(path, body));
    await check(post(path, "{"));
    await check(post(path, JSON.stringify({ channel: "" }), transport));
    await check(fetchWith({}, new Request(address(path), { method: "POST", body })));
    await check(post(path, body, { "X-API-Key": secrets.API_KEY_ONE, ...transport }));
    await check(post(path, JSON.stringify({ channel: "nowhere:a", data: 1 }), transport));
    await check(post(path, "x".repeat(limits.requestBytesMax + 1)));
    const failing = (CHANNELS: Env["CHANNELS"], headers: object, at = path, sent = body) =>
      check(postWith({ CHANNELS }, at, sent, headers), at);
    await failing(answering(errorCodes.tooManyRequests), transport);
    await failing(answering(errorCodes.internal), transport);
    const overloaded = watchedChannels(() => Promise.reject(overloadedError()));
    await failing(overloaded, {});
    await failing(overloaded, transport);
    await check(postWith({ API_KEY: "" }, path, body));
    const since = { offset: 1, epoch: "another" };
    await check(
      post("/api/history", JSON.stringify({ channel, since }), transport),
      "/api/history",
    );
    expect(description.unseenStatuses(path)).toStrictEqual([]);
    expect(description.unseenStatuses("/api/history")).not.toContain("416");
    const commands = [{ publish: { channel, data: 1 } }];
    await failing(overloaded, {}, "/api/batch", JSON.stringify({ commands }));
    await failing(
      overloaded,
      {},
      "/api/broadcast",
      JSON.stringify({ channels: [channel], data: 1 }),
    );
    const list = JSON.stringify({ channels: [], data: 1 });
    await check(post("/api/broadcast", list, transport), "/api/broadcast");
    const denied = { "X-API-Key": secrets.API_KEY_ONE, ...transport };
    await check(post("/api/broadcast", list, denied), "/api/broadcast");
  });
});

/** A command of each method for maps. */
function mapCommandsOf(channel: string): readonly object[] {
  return [
    { map_publish: { channel, key: "k", data: 1 } },
    { map_remove: { channel, key: "k" } },
    { map_append: { channel, key: "text", text: "t", at: 0 } },
    { map_read_state: { channel, limit: -1 } },
    { map_read_stream: { channel, limit: -1 } },
    { map_stats: { channel } },
    { map_clear: { channel } },
  ];
}

/** Waits for the reply to a command, after whatever else comes. */
async function answeredAs(socket: TestSocket, id: number): Promise<void> {
  const message = await socket.next();
  if (message.id !== id) await answeredAs(socket, id);
}

/** Channels whose objects answer with this error. */
function answering(error: ErrorCode): Env["CHANNELS"] {
  return watchedChannels(async () => ({ outcome: "answers", answers: [{ error }] }));
}

/** A command of each method that may be repeated, one of which fails. */
function commandsOf(channel: string, user: string): readonly object[] {
  return [
    { publish: { channel, data: 1 } },
    { broadcast: { channels: [channel], data: 1 } },
    { history: { channel, limit: -1 } },
    { update_publication: { channel, offset: 1, data: 2 } },
    { delete_publication: { channel, offset: 1 } },
    { erase: { channel, offset: 1 } },
    { history_remove: { channel } },
    { presence: { channel } },
    { presence_stats: { channel } },
    { presence: { channel: "nowhere:a" } },
    { disconnect: { user: "nobody" } },
    { unsubscribe: { channel, user: "nobody" } },
    { subscribe: { channel, user: "nobody" } },
    { refresh: { user: "nobody" } },
    { block_user: { user: "nobody" } },
    { unblock_user: { user: "nobody" } },
    { revoke_token: { uid: "none" } },
    { invalidate_user_tokens: { user: "nobody" } },
    { connections: { user } },
    { info: {} },
    { channels: {} },
    { update_user_status: { users: [user] } },
    { get_user_status: { users: [user] } },
    { delete_user_status: { users: ["nobody"] } },
    { why: { channel, offset: 1, user } },
    { inspect: { channel } },
    { mark_read: { user, channel, offset: 0 } },
    { unread: { user, channels: [channel] } },
    { delivered: { user, channel } },
    { marks: { channel } },
    { set_audience: { channel, users: [user] } },
    { add_audience: { channel, users: [user] } },
    { remove_audience: { channel, users: [user] } },
    { audience: { channel } },
    { forget_user: { user } },
  ];
}

describe("the files of the description", () => {
  const files = [
    ["/openapi.json", "application/json", '"openapi": "3.1'],
    ["/swagger", "text/html", "<!doctype html>"],
    ["/swagger.css", "text/css", "@media print"],
  ] as const;

  it.each(files)(
    "[W8] include %s, where the configuration says so",
    async (path, type, content) => {
      const response = await fetchWith(swagger, new Request(address(path)));
      expect(response.status).toBe(200);
      expect(response.headers.get("Content-Type")).toContain(type);
      expect(response.headers.get("X-Content-Type-Options")).toBe("nosniff");
      expect(response.headers.get("Content-Security-Policy")).toContain("default-src 'none'");
      expect(response.headers.get("Access-Control-Allow-Origin")).toBeNull();
      expect(await response.text()).toContain(content);
      const head = await fetchWith(swagger, new Request(address(path), { method: "HEAD" }));
      expect([head.status, await head.text()]).toStrictEqual([200, ""]);
    },
  );

  it.each([...files.map(([path]) => path), "/swagger.html", "/swagger/"])(
    "[W8] aren't served without being switched on: %s",
    async (path) => {
      const response = await fetchWith({ config }, new Request(address(path)));
      expect(response.status).toBe(404);
      expect(await response.text()).toMatch(/^(?:swagger\.enabled is not set|Not Found)$/);
    },
  );

  it("[W8] are not found where there are no assets", async () => {
    const { ASSETS: _, ...bare } = { ...env, ...swagger };
    const response = await createApp().fetch(new Request(address("/swagger")), bare);
    expect(response.status).toBe(404);
  });
});
