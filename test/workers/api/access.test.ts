import { exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { address, fetchWith } from "../support/api-request.ts";
import { newChannel } from "../support/new-channel.ts";
import { testSecrets } from "../support/test-config.ts";
import { upgrade } from "../support/test-socket.ts";

const key = testSecrets.API_KEY;

function publishRequest(path: string, headers: Record<string, string>): Request {
  const body = JSON.stringify({ channel: newChannel(""), data: 1 });
  return new Request(address(path), { method: "POST", headers, body });
}

describe("the API key", () => {
  it.each<[string, string, Record<string, string>]>([
    ["the header X-API-Key", "/api/publish", { "X-API-Key": key }],
    ["the header Authorization", "/api/publish", { Authorization: `apikey ${key}` }],
    ["Authorization in another case", "/api/publish", { Authorization: `ApiKey ${key}` }],
    ["the query", `/api/publish?api_key=${key}`, {}],
    ["one place while another is wrong", `/api/publish?api_key=${key}`, { "X-API-Key": "wrong" }],
  ])("[A7] opens the API from %s", async (_, path, headers) => {
    const response = await exports.default.fetch(publishRequest(path, headers));
    expect(response.status).toBe(200);
    expect(await response.json()).toHaveProperty("result.offset", 1);
  });

  it.each<[string, string, Record<string, string>]>([
    ["missing", "/api/publish", {}],
    ["wrong", "/api/publish", { "X-API-Key": "another-key!" }],
    ["empty", "/api/publish?api_key=", { "X-API-Key": "", Authorization: "apikey " }],
    ["only a prefix", "/api/publish", { "X-API-Key": key.slice(0, -1) }],
    ["longer", "/api/publish", { "X-API-Key": `${key}x` }],
    ["longer by a zero byte", `/api/publish?api_key=${key}%00`, {}],
    ["in another case", "/api/publish", { "X-API-Key": key.toUpperCase() }],
    ["of another scheme", "/api/publish", { Authorization: `Bearer ${key}` }],
    ["without its scheme", "/api/publish", { Authorization: key }],
    ["wrong in the query", `/api/publish?api_key=${key}x`, {}],
    ["the token secret", "/api/publish", { "X-API-Key": testSecrets.TOKEN_HMAC_SECRET_KEY }],
  ])("[A7] that is %s is answered 401 with an empty body", async (_, path, headers) => {
    const response = await exports.default.fetch(publishRequest(path, headers));
    expect(response.status).toBe(401);
    expect(await response.text()).toBe("");
  });

  it.each([
    ["/api", "POST"],
    ["/api/publish", "GET"],
    ["/api/no_such_method", "POST"],
  ])("[A7] is asked for before anything else: %s by %s", async (path, method) => {
    const response = await exports.default.fetch(address(path), { method });
    expect(response.status).toBe(401);
    expect(await response.text()).toBe("");
  });

  it("[A7] opens no socket, and an attacker's request is refused without reading its body", async () => {
    const response = await exports.default.fetch(publishRequest("/api/publish", {}));
    expect(response.status).toBe(401);
    expect([...response.headers.keys()]).not.toContain("x-dormouse-error-detail");
    const socket = await upgrade(newChannel(""), `?token=${key}`);
    expect(socket.status).toBe(401);
    expect(await socket.text()).toBe("invalid token");
  });
});

describe("a Worker that isn't configured", () => {
  const requests: [string, string][] = [
    ["POST", "/api/publish"],
    ["POST", "/api/no_such_method"],
    ["GET", "/health"],
    ["GET", "/channel/news/websocket"],
    ["GET", "/keepalive-websocket.js"],
    ["GET", "/nothing"],
  ];

  it.each(requests)("[A8] answers %s %s with 503 and the missing secret", async (method, path) => {
    const request = new Request(address(path), { method, headers: { "X-API-Key": key } });
    const response = await fetchWith({ API_KEY: "" }, request);
    expect(response.status).toBe(503);
    expect(response.headers.get("Retry-After")).toBe("60");
    expect(await response.text()).toBe(
      'secret API_KEY is missing: set it with "wrangler secret put API_KEY"\n',
    );
  });
});
