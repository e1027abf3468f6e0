import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { HookTarget } from "../../../src/config/config.ts";
import { parseConfig } from "../../../src/config/parse-config.ts";
import { configOf, problemsOf } from "./parsed.ts";

/** The config.json of a Centrifugo 6 whose backend decides. */
const text = readFileSync(new URL("centrifugo-config.json", import.meta.url), "utf8");

/** The same file after its secrets have become secrets of the Worker. */
function withoutSecrets(): object {
  const { client, http_api: _, ...others } = JSON.parse(text);
  const { token: _token, ...kept } = client;
  return { ...others, client: kept };
}

/** The name and the address of a hook's backend. */
function placeOf(target: HookTarget | undefined) {
  const endpoint = target?.endpoint.kind === "url" ? target.endpoint.url : target?.endpoint.kind;
  return target === undefined ? undefined : [target.name, endpoint];
}

const own = (hook: string) => `https://chat.example.com/centrifugo/${hook}`;
const boards = ["proxies.boards", "https://boards.example.com/hooks"];
const support = ["proxies.support", "https://support.example.com:8443/centrifugo/subscribe"];

describe("[A8] a config.json of Centrifugo 6 with proxies", () => {
  it("is refused for its secrets alone, and names the Worker's secrets that take their place", () => {
    expect(problemsOf(text)).toStrictEqual([
      "client.token.hmac_secret_key is a secret: set TOKEN_HMAC_SECRET_KEY instead",
      "http_api.key is a secret: set API_KEY instead",
    ]);
  });

  it("is accepted without them, with a note on each key that has no effect", () => {
    const parsed = parseConfig(withoutSecrets());
    const notes = parsed.outcome === "config" ? parsed.notes : [];
    expect(parsed.outcome).toBe("config");
    expect(notes.map((note) => note.split(" ")[0])).toStrictEqual([
      "client.concurrency",
      "http_server",
      "log",
      "health",
      "usage_stats",
      "shutdown",
    ]);
  });

  it("has its hooks of connections, with their headers, times and statuses", () => {
    const { hooks } = configOf(withoutSecrets());
    expect(placeOf(hooks.connect)).toStrictEqual(["client.proxy.connect", own("connect")]);
    expect(hooks.connect).toMatchObject({
      timeoutMs: 3_000,
      httpHeaders: ["cookie", "origin", "user-agent", "authorization", "x-request-id"],
      emulatedHeaders: ["x-app-version"],
      staticHeaders: [["x-centrifugo-node", "eu-1"]],
      includesMeta: true,
    });
    expect([...(hooks.connect?.statuses ?? [])]).toStrictEqual([
      [401, { outcome: "disconnect", code: { code: 4501, reason: "unauthorized" } }],
      [503, { outcome: "error", error: { code: 1503, message: "try later", temporary: true } }],
    ]);
    expect(placeOf(hooks.refresh)).toStrictEqual(["client.proxy.refresh", own("refresh")]);
    expect(hooks.message).toBeUndefined();
  });

  it("has the hooks of its namespaces, each at the backend that the namespace names", () => {
    const { namespaces, withoutNamespace } = configOf(withoutSecrets()).channel;
    const places = [["", withoutNamespace] as const, ...namespaces].map(([name, options]) => [
      name,
      placeOf(options.subscribeHook),
      placeOf(options.publishHook),
      placeOf(options.subRefreshHook),
    ]);
    expect(places).toStrictEqual([
      ["", undefined, undefined, undefined],
      [
        "chat",
        ["channel.proxy.subscribe", own("subscribe")],
        ["channel.proxy.publish", own("publish")],
        ["channel.proxy.sub_refresh", own("sub_refresh")],
      ],
      ["board", boards, boards, undefined],
      ["support", support, undefined, undefined],
      ["news", undefined, undefined, undefined],
    ]);
    expect(namespaces.get("board")?.publishHook).toMatchObject({
      timeoutMs: 500,
      binaryEncoding: true,
      staticHeaders: [["authorization", "Bearer 6e7d"]],
    });
    expect(namespaces.get("chat")).toMatchObject({ presence: true, historyTtlMs: 300_000 });
  });

  it("has the hooks of its calls", () => {
    const { rpc } = configOf(withoutSecrets());
    const calls = ["rpc.proxy", own("rpc")];
    expect(placeOf(rpc.withoutNamespace)).toStrictEqual(calls);
    expect(rpc.withoutNamespace?.timeoutMs).toBe(10_000);
    const places = [...rpc.namespaces].map(([name, target]) => [name, placeOf(target)]);
    expect(places).toStrictEqual([
      ["board", boards],
      ["admin", calls],
    ]);
  });
});
