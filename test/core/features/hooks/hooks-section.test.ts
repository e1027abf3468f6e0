import { describe, expect, it } from "vitest";
import { hookLimits } from "../../../../src/features/hooks/limits.ts";
import { limits } from "../../../../src/limits.ts";
import { configOf, problemsOf } from "../../config/parsed.ts";

/** A configuration of Centrifugo 6 with proxies, as an operator has one. */
const centrifugo = {
  client: {
    proxy: {
      connect: {
        enabled: true,
        endpoint: "http://localhost:3000/centrifugo/connect",
        timeout: "2s",
        http_headers: ["Cookie", "X-Real-Ip", "cookie"],
        emulated_headers: ["Authorization"],
        http: {
          static_headers: { "X-Backend-Key": "k1" },
          status_to_code_transforms: [
            { status_code: 404, to_error: { code: 404, message: "not found", temporary: true } },
            { status_code: 404, to_error: { code: 405 } },
            { status_code: 403, to_disconnect: { code: 4_403, reason: "forbidden" } },
          ],
          tls: { enabled: false },
        },
        grpc_metadata: [],
        grpc: { tls: { enabled: false }, compression: false },
      },
      refresh: { enabled: true, endpoint: "https://example.com/centrifugo/refresh" },
    },
  },
  channel: {
    proxy: {
      subscribe: { endpoint: "https://example.com/centrifugo/subscribe" },
      publish: { endpoint: "https://example.com/centrifugo/publish", binary_encoding: true },
      sub_refresh: { endpoint: "", timeout: "1s" },
      subscribe_stream: { endpoint: "", timeout: "1s" },
    },
    without_namespace: { publish_proxy_name: "default" },
    namespaces: [
      { name: "chat", subscribe_proxy_enabled: true, publish_proxy_enabled: true },
      {
        name: "game",
        subscribe_proxy_enabled: true,
        subscribe_proxy_name: "game",
        sub_refresh_proxy_enabled: true,
        sub_refresh_proxy_name: "game",
      },
    ],
  },
  rpc: {
    proxy: { endpoint: "https://example.com/rpc", include_connection_meta: true },
    without_namespace: { proxy_enabled: true },
    namespaces: [
      { name: "game", proxy_enabled: true, proxy_name: "game" },
      { name: "off", proxy_enabled: false },
    ],
  },
  proxies: [{ name: "game", endpoint: "service:GAME#Hooks" }],
};

const defaults = {
  timeoutMs: 1_000,
  httpHeaders: [],
  emulatedHeaders: [],
  staticHeaders: [],
  statuses: new Map(),
  binaryEncoding: false,
  includesMeta: false,
};
const url = (text: string) => ({ kind: "url", url: text }) as const;

describe("[A8] the proxies of a configuration of Centrifugo", () => {
  const config = configOf(centrifugo);

  it("are the hooks of connections", () => {
    expect(config.hooks.connect).toStrictEqual({
      name: "client.proxy.connect",
      endpoint: url("http://localhost:3000/centrifugo/connect"),
      timeoutMs: 2_000,
      httpHeaders: ["cookie", "x-real-ip"],
      emulatedHeaders: ["authorization"],
      staticHeaders: [["x-backend-key", "k1"]],
      statuses: new Map<number, unknown>([
        [404, { outcome: "error", error: { code: 404, message: "not found", temporary: true } }],
        [403, { outcome: "disconnect", code: { code: 4_403, reason: "forbidden" } }],
      ]),
      binaryEncoding: false,
      includesMeta: false,
    });
    expect(config.hooks.refresh).toMatchObject({ name: "client.proxy.refresh", ...defaults });
    expect(config.hooks.message).toBeUndefined();
    expect(config.hooks.keepsMeta).toBe(true);
  });

  it("are the hooks of namespaces, by the name of a proxy or by default", () => {
    const { withoutNamespace, namespaces } = config.channel;
    expect(withoutNamespace.publishHook).toBeUndefined();
    const chat = namespaces.get("chat");
    expect(chat?.subscribeHook?.name).toBe("channel.proxy.subscribe");
    expect(chat?.publishHook).toMatchObject({
      name: "channel.proxy.publish",
      binaryEncoding: true,
    });
    expect(chat?.subRefreshHook).toBeUndefined();
    const game = {
      ...defaults,
      name: "proxies.game",
      endpoint: { kind: "service", binding: "GAME", entrypoint: "Hooks" },
    };
    expect(namespaces.get("game")?.subscribeHook).toStrictEqual(game);
    expect(namespaces.get("game")?.subRefreshHook).toStrictEqual(game);
    expect(config.rpc.withoutNamespace?.name).toBe("rpc.proxy");
    expect([...config.rpc.namespaces]).toStrictEqual([
      ["game", game],
      ["off", undefined],
    ]);
  });

  it("are all in one list, each once", () => {
    expect([...config.hooks.targets.keys()]).toStrictEqual([
      "client.proxy.connect",
      "client.proxy.refresh",
      "rpc.proxy",
      "proxies.game",
      "channel.proxy.subscribe",
      "channel.proxy.publish",
    ]);
  });

  it("are none without being switched on", () => {
    const { hooks } = configOf({
      client: { proxy: { connect: { enabled: false, endpoint: "https://example.com/connect" } } },
      channel: { proxy: { publish: { endpoint: "https://example.com/publish" } } },
      proxies: [{ name: "unused", endpoint: "https://example.com" }],
    });
    expect(hooks).toStrictEqual({ connectAt: "connect", keepsMeta: false, targets: new Map() });
  });

  it("[Q10] may be asked about connects at the upgrade", () => {
    const connect = { enabled: true, endpoint: "https://example.com/connect" };
    const at = (more: object) =>
      configOf({ client: { proxy: { connect: { ...connect, ...more } } } }).hooks.connectAt;
    expect(at({})).toBe("connect");
    expect(at({ at: "connect" })).toBe("connect");
    expect(at({ at: "upgrade" })).toBe("upgrade");
  });

  it("may have a hook of Dormouse's own for messages", () => {
    const message = { enabled: true, endpoint: "https://example.com/message" };
    expect(configOf({ client: { proxy: { message } } }).hooks.message?.name).toBe(
      "client.proxy.message",
    );
  });
});

/** The problems of `client.proxy.connect` with these keys. */
const connectProblems = (keys: object) =>
  problemsOf({ client: { proxy: { connect: { endpoint: "https://example.com", ...keys } } } });

describe("[A8] a backend", () => {
  it.each([
    "https://example.com",
    "https://example.com:8443/a/b?c=d",
    "https://10.0.0.1/hook",
    "https://[2001:db8::1]/hook",
    "http://localhost:3000",
    "http://127.0.0.1/x",
    "http://[::1]:3000/x",
    "service:BACKEND",
    "service:my_Backend2#Hooks",
  ])("may be at %s", (endpoint) => {
    expect(connectProblems({ endpoint })).toStrictEqual([]);
  });

  it.each([
    "http://example.com",
    "https://user:hunter2@example.com/x",
    "https://example.com/#x",
    "https:///x",
    "ftp://example.com",
    "example.com/x",
    "service:",
    "service:BACK-END",
    "service:BACKEND#",
    "service:BACKEND/path",
    "https://example.com/a b",
  ])("may not be at %s, which isn't quoted", (endpoint) => {
    expect(connectProblems({ endpoint })).toStrictEqual([
      'client.proxy.connect.endpoint is neither "service:BINDING" nor an https URL without user, password or fragment (http is allowed for localhost only)',
    ]);
  });

  it.each(["grpc://localhost:12000", "GRPC://example.com", "grpcs://example.com"])(
    "can't be asked by GRPC: %s",
    (endpoint) => {
      expect(connectProblems({ endpoint })).toStrictEqual([
        "client.proxy.connect.endpoint is for GRPC, which is not supported by Dormouse: give the backend an HTTP endpoint",
      ]);
    },
  );

  it("[A8] may have a timeout at each of its bounds", () => {
    for (const ms of [hookLimits.hookTimeoutMsMin, hookLimits.hookTimeoutMsMax])
      expect(connectProblems({ timeout: `${ms}ms` })).toStrictEqual([]);
  });

  it.each([
    [{ http_headers: ["a b"] }, 'http_headers[0]: "a b" is not the name of a header'],
    [{ http_headers: ["Host"] }, "http_headers has host, which Dormouse sets itself"],
    [
      { emulated_headers: ["webhook-signature"] },
      "emulated_headers has webhook-signature, which Dormouse sets itself",
    ],
    [
      { http: { static_headers: { Host: "x" } } },
      "http.static_headers has a name that isn't one of a header, or of a header that Dormouse sets itself",
    ],
    [
      { http: { static_headers: { a: "hunter2\n" } } },
      "http.static_headers has a value that isn't one of a header: a",
    ],
    [
      { http: { tls: { enabled: true } } },
      "http.tls is not supported by Dormouse: the runtime checks the backend's certificate",
    ],
    [{ grpc_metadata: ["a"] }, "grpc_metadata is not supported by Dormouse"],
  ])("refuses %j", (keys, problem) => {
    expect(connectProblems(keys)).toStrictEqual([`client.proxy.connect.${problem}`]);
  });

  const path = "client.proxy.connect.http.status_to_code_transforms[0]";
  it.each([
    [{ to_error: { code: 400 } }, "status_code is missing"],
    [{ status_code: 404 }, "status_code requires either to_error or to_disconnect, with a code"],
    [
      { status_code: 404, to_error: { code: 400 }, to_disconnect: { code: 4_000 } },
      "status_code requires either to_error or to_disconnect, with a code",
    ],
    [
      { status_code: 404, to_error: { code: 99 } },
      "to_error.code is under 100, which only clients use themselves",
    ],
    [
      { status_code: 404, to_disconnect: { code: 2_999 } },
      "to_disconnect.code is not from 3000 to 4999",
    ],
    [
      { status_code: 404, to_disconnect: { code: 4_000, reason: "1" } },
      "to_disconnect.reason has more than 123 bytes, or is valid JSON",
    ],
  ])("refuses the transform %j", (transform, problem) => {
    const http = { status_to_code_transforms: [transform] };
    expect(connectProblems({ http })[0]).toContain(problem);
    expect(connectProblems({ http })[0]).toContain(path.slice(0, -3));
  });

  it("has bounded lists", () => {
    const most = names(limits.hookHeadersMax);
    const over = names(limits.hookHeadersMax + 1);
    expect(
      connectProblems({
        http_headers: most,
        emulated_headers: most,
        http: {
          static_headers: headers(most),
          status_to_code_transforms: transforms(hookLimits.hookStatusesMax),
        },
      }),
    ).toStrictEqual([]);
    expect(
      connectProblems({
        http_headers: over,
        emulated_headers: over,
        http: {
          static_headers: headers(over),
          status_to_code_transforms: transforms(hookLimits.hookStatusesMax + 1),
        },
      }),
    ).toHaveLength(4);
  });

  it("has static headers of a bounded length", () => {
    expect(connectProblems(value(hookLimits.hookStaticHeaderMax))).toStrictEqual([]);
    expect(connectProblems(value(hookLimits.hookStaticHeaderMax + 1))).toHaveLength(1);
  });
});

describe("[A8] a hook", () => {
  it.each([
    [
      { client: { proxy: { connect: { enabled: true } } } },
      "client.proxy.connect.enabled requires endpoint",
    ],
    [{ client: { proxy: { publish: {} } } }, "client.proxy.publish is unknown"],
    [{ client: { proxy: { refresh: { at: "upgrade" } } } }, "client.proxy.refresh.at is unknown"],
    [
      { channel: { without_namespace: { subscribe_proxy_enabled: true } } },
      "channel.without_namespace.subscribe_proxy_enabled requires channel.proxy.subscribe.endpoint",
    ],
    [
      { channel: { without_namespace: { sub_refresh_proxy_enabled: true } } },
      "channel.without_namespace.sub_refresh_proxy_enabled requires channel.proxy.sub_refresh.endpoint",
    ],
    [
      {
        channel: {
          namespaces: [{ name: "ab", publish_proxy_enabled: true, publish_proxy_name: "x" }],
        },
      },
      'channel.namespaces[0] ("ab").publish_proxy_name: "x" is not the name of one of proxies',
    ],
    [
      { rpc: { without_namespace: { proxy_enabled: true } } },
      "rpc.without_namespace.proxy_enabled requires rpc.proxy.endpoint",
    ],
    [
      { rpc: { namespaces: [{ name: "ab", proxy_enabled: true, proxy_name: "x" }] } },
      'rpc.namespaces[0] ("ab").proxy_name: "x" is not the name of one of proxies',
    ],
    [{ rpc: { namespaces: [{}] } }, "rpc.namespaces[0].name is missing"],
    [
      { channel: { proxy: { subscribe_stream: { endpoint: "grpc://localhost:1" } } } },
      "channel.proxy.subscribe_stream is not supported by Dormouse yet",
    ],
    [{ proxies: [{ name: "ab" }] }, 'proxies[0] ("ab").endpoint is missing'],
    [{ proxies: [{ endpoint: "https://example.com" }] }, "proxies[0].name is missing"],
    [
      { proxies: [{ name: "default", endpoint: "https://example.com" }] },
      'proxies[0] ("default").name is the name of the proxies in "channel" and "rpc"',
    ],
    [
      {
        proxies: [
          { name: "ab", endpoint: "https://example.com" },
          { name: "ab", endpoint: "https://example.com" },
        ],
      },
      'proxies[1] ("ab").name is already the name of proxies[0] ("ab")',
    ],
  ])("is refused in %j", (config, problem) => {
    expect(problemsOf(config)).toStrictEqual([problem]);
  });

  it("has a bounded number of backends", () => {
    expect(problemsOf({ proxies: entries(hookLimits.hookTargetsMax) })).toStrictEqual([]);
    expect(problemsOf({ proxies: entries(hookLimits.hookTargetsMax + 1) })).toStrictEqual([
      `proxies has more than ${hookLimits.hookTargetsMax} entries`,
    ]);
    const namespaces = entries(hookLimits.hookTargetsMax + 1).map(({ name }) => ({ name }));
    expect(problemsOf({ rpc: { namespaces } })).toStrictEqual([
      `rpc.namespaces has more than ${hookLimits.hookTargetsMax} entries`,
    ]);
  });
});

function names(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `x-${index}`);
}

function headers(all: readonly string[]): object {
  return Object.fromEntries(all.map((name) => [name, "v"]));
}

function transforms(count: number): readonly object[] {
  return names(count).map((_, index) => ({ status_code: 300 + index, to_error: { code: 400 } }));
}

/** A static header of so many characters. */
function value(length: number): object {
  return { http: { static_headers: { a: "x".repeat(length) } } };
}

/** So many entries of `proxies`. */
function entries(count: number) {
  return names(count).map((name) => ({ name, endpoint: "service:A" }));
}
