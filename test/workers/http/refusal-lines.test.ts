import { exports } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { address, answerOf, call, post } from "../support/api-request.ts";
import { configure } from "../support/configure.ts";
import { newChannel } from "../support/new-channel.ts";
import { openConfig } from "../support/open-transports.ts";
import { secondsFromNow, token } from "../support/sign-token.ts";
import { TestSocket } from "../support/test-socket.ts";

configure(openConfig);

let lines: string[] = [];
beforeEach(() => {
  lines = [];
  vi.spyOn(console, "warn").mockImplementation((line) => lines.push(String(line)));
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** The lines since the last call; none may hold a token or a payload. */
function said(...secrets: readonly string[]): readonly object[] {
  const all = lines.splice(0);
  for (const secret of secrets) expect(all.join()).not.toContain(secret);
  return all.map((line): object => JSON.parse(line));
}

function request(path: string, init: RequestInit = {}): Promise<Response> {
  return exports.default.fetch(address(path), init);
}

const foreign = (origin: string) => `origin ${origin} isn't in client.allowed_origins`;

const expired = { sub: "ada", exp: secondsFromNow(-7_200) };

describe("a line for a request that is refused at the edge", () => {
  it("[A13] [A6] names the origin and the setting", async () => {
    const headers = { Upgrade: "websocket", Origin: "null" };
    await request("/channel/news%2F1/websocket", { headers });
    await request("/connection/sse", { headers: { Origin: "https://evil.example" } });
    expect(said()).toStrictEqual([
      { refused: "websocket", rule: "A6", reason: foreign("null"), code: 403, channel: "news/1" },
      { refused: "sse", rule: "A6", reason: foreign("https://evil.example"), code: 403 },
    ]);
  });

  it("[A13] names the channel that the API refuses, also among those of a broadcast", async () => {
    const channel = newChannel("");
    await call("broadcast", { channels: [channel, "no-such:x"], data: "a-payload" });
    await call("history", { channel: "no-such:y" });
    await call("publish", { channel, data: 1, tags: { a: 1 } });
    expect(said("a-payload")).toMatchObject([
      { refused: "api broadcast", code: 102, channel: "no-such:x" },
      { refused: "api history", code: 102, channel: "no-such:y" },
      { refused: "api publish", code: 107, channel },
    ]);
  });

  it("[A13] [A3] [A7] says what is wrong with the token, and not the token", async () => {
    const old = await token(expired);
    const forged = `${(await token({ sub: "eve" })).slice(0, -4)}AAAA`;
    for (const offered of [old, forged, "nothing"]) {
      await request(`/connection/websocket?token=${offered}`, {
        headers: { Upgrade: "websocket" },
      });
    }
    expect(said(old, forged, "nothing")).toMatchObject([
      { refused: "websocket", rule: "A3", reason: "exp was 2 h ago", code: 401 },
      { reason: "the token is invalid: the signature doesn't match TOKEN_HMAC_SECRET_KEY" },
      { reason: "the token is invalid: the token is malformed" },
    ]);
  });

  it("[A13] [A12] says that there is none", async () => {
    await request("/channel/news/poll");
    await (await request("/channel/news/uni_sse")).text();
    const reason = "there is no token, and client.allow_anonymous_connect_without_token is off";
    expect(said()).toStrictEqual([
      { refused: "poll", rule: "A12", reason, code: 401, channel: "news" },
      { refused: "uni_sse", rule: "A12", reason, code: 3501, channel: "news" },
    ]);
  });

  it("[A13] [A7] says why the API refuses, and not with which key or payload", async () => {
    await request("/api/publish", { method: "POST", body: "{}" });
    await request("/api/publish", { method: "POST", headers: { "X-API-Key": "hunter2" } });
    await call("publish", { channel: "nosuch:x", data: "payload" });
    await call("publish", { channel: "news", data: "payload", tags: 5 });
    await call("broadcast", { channels: ["news", "nosuch:y"], data: "payload" });
    expect(said("hunter2", "payload")).toMatchObject([
      { refused: "api publish", rule: "A7", reason: "there is no API key", code: 401 },
      {
        refused: "api publish",
        rule: "A7",
        reason: "the API key doesn't match API_KEY",
        code: 401,
      },
      { refused: "api publish", rule: "W1", code: 102 },
      { refused: "api publish", rule: "W4", code: 400 },
      { refused: "api broadcast", rule: "W1", code: 102 },
    ]);
  });

  it("[A13] isn't written for what succeeds, nor for paths that don't exist", async () => {
    await call("publish", { channel: newChannel("room"), data: 1 });
    await request("/wp-login.php");
    const socket = await TestSocket.subscribe(newChannel("room"), "ada");
    socket.close();
    await socket.closed;
    expect(said()).toStrictEqual([]);
  });
});

it("[W1] a method of Centrifugo that isn't there yet is answered as such, in each form", async () => {
  const detail = "device_list is a method of Centrifugo that Dormouse doesn't have yet";
  const response = await post("/api/device_list", "{}");
  expect(response.headers.get("X-Dormouse-Error-Detail")).toBe(detail);
  expect((await answerOf(response)).body).toBe(`{"error":{"code":108,"message":"not available"}}`);
  const batched = await post("/api/batch", `{"commands":[{"device_list":{}}]}`);
  expect((await answerOf(batched)).body).toBe(
    `{"replies":[{"error":{"code":104,"message":"not found"}}]}`,
  );
  const legacy = await post("/api", `{"method":"device_list","params":{}}`);
  expect(legacy.headers.get("X-Dormouse-Error-Detail")).toContain(detail);
  expect(said()).toHaveLength(3);
});

describe("a line for a command that is refused", () => {
  it("[A13] [C3] connect: names the reason and the object", async () => {
    const channel = newChannel("room");
    const anonymous = await TestSocket.open(channel);
    anonymous.send({ id: 1, connect: {} });
    expect((await anonymous.closed).code).toBe(3501);
    const late = await TestSocket.open(channel);
    const old = await token(expired);
    await late.ask({ id: 1, connect: { token: old } });
    const about = { refused: "connect", rule: "C3", user: "", object: `channel:${channel}` };
    const reason = "there is no token, and client.allow_anonymous_connect_without_token is off";
    expect(said(old)).toStrictEqual([
      { ...about, reason, code: 3501 },
      { ...about, reason: "exp was 2 h ago", code: 109 },
    ]);
  });

  it("[A13] [A1] subscribe and publish: name the option, the user and the channel", async () => {
    const channel = newChannel("closed");
    const socket = await TestSocket.connect(channel, "ada");
    await socket.ask({ id: 2, subscribe: { channel } });
    await socket.ask({ id: 3, publish: { channel, data: "payload" } });
    await socket.ask({ id: 4, subscribe: { channel: "other" } });
    const about = { user: "ada", object: `channel:${channel}` };
    expect(said("payload")).toStrictEqual([
      {
        refused: "subscribe",
        rule: "A1",
        reason: "namespace closed: allow_subscribe_for_client is off and there is no token",
        code: 103,
        channel,
        ...about,
      },
      {
        refused: "publish",
        rule: "A1",
        reason: "namespace closed: no allow_publish_for_… option lets this client",
        code: 103,
        channel,
        ...about,
      },
      {
        refused: "subscribe",
        rule: "C6",
        reason: "only the channel of the address exists at this address",
        code: 102,
        channel: "other",
        ...about,
      },
    ]);
  });

  it("[A13] [A7] [U10] [U11] name the order that made a token invalid, and not the token", async () => {
    const channel = newChannel("room");
    const [user, jti] = [`user-${crypto.randomUUID()}`, `token-${crypto.randomUUID()}`];
    const socket = await TestSocket.connect(channel, user, { iat: secondsFromNow(60) });
    await call("revoke_token", { uid: jti });
    await call("invalidate_user_tokens", { user, channel });
    const [revoked, older] = [
      await token({ sub: user, channel, jti }),
      await token({ sub: user, channel }),
    ];
    const opened = await TestSocket.open(channel);
    opened.send({ id: 1, connect: { token: await token({ sub: user, jti }) } });
    await opened.closed;
    const early = await TestSocket.connect(channel, `${user}!`, { iat: secondsFromNow(60) });
    await call("invalidate_user_tokens", { user: `${user}!` });
    const late = await TestSocket.open(channel);
    late.send({ id: 1, connect: { token: await token({ sub: `${user}!` }) } });
    await late.closed;
    expect(await early.unread()).toStrictEqual([]);
    await socket.ask({ id: 3, subscribe: { channel, token: revoked } });
    await socket.ask({ id: 4, subscribe: { channel, token: older } });
    const about = { user, object: `channel:${channel}` };
    expect(said(revoked, older, jti)).toMatchObject([
      { refused: "connect", rule: "U10", reason: "the token is revoked", code: 3500, ...about },
      { refused: "connect", rule: "U11", reason: "invalidate_user_tokens names the token" },
      {
        refused: "subscribe",
        rule: "U10",
        reason: "the token is invalid: it is revoked",
        code: 103,
        ...about,
      },
      {
        refused: "subscribe",
        rule: "U11",
        reason: "the token is invalid: invalidate_user_tokens names it",
        code: 103,
        ...about,
      },
    ]);
  });

  it("[A13] [C8] a frame that can't be read: names the field, and quotes nothing", async () => {
    const socket = await TestSocket.connect(newChannel("room"), "ada");
    socket.sendFrame(`{"id":2,"subscribe":{"channel":["secret"]}}`);
    expect((await socket.closed).code).toBe(3501);
    expect(said("secret")).toMatchObject([
      { refused: "frame", rule: "C8", code: 3501, user: "ada" },
    ]);
  });
});
