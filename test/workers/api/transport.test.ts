import { env, exports } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { limits } from "../../../src/limits.ts";
import { createApp } from "../../../workers/http/app.ts";
import {
  address,
  answerOf,
  fetchWith,
  apiKeyHeader,
  call,
  keptData,
  post,
  postWith,
} from "../support/api-request.ts";
import { newChannel } from "../support/new-channel.ts";

const methods = [
  "publish",
  "broadcast",
  "batch",
  "history",
  "history_remove",
  "presence",
  "presence_stats",
];

describe("a request that isn't one of the API", () => {
  it.each(methods.map((method) => `/api/${method}`).concat("/api"))(
    "[W1] is answered 405 by %s when it isn't a POST",
    async (path) => {
      for (const method of ["GET", "PUT", "DELETE", "HEAD"]) {
        const response = await exports.default.fetch(address(path), {
          method,
          headers: apiKeyHeader,
        });
        expect(response.status).toBe(405);
        expect(response.headers.get("Allow")).toBe("POST");
      }
    },
  );

  it.each(["/api/publish/", "/api/publish/more", "/api/", "/x"])(
    "[W1] is answered 404 with text: %s",
    async (path) => {
      const response = await post(path, "{}");
      expect(response.headers.get("Content-Type")).toBe("text/plain");
      expect(await answerOf(response)).toStrictEqual({ status: 404, body: "Not Found" });
    },
  );

  it("[N1] leads a browser to the console under npm start, and nowhere else", async () => {
    const root = new Request(address("/"), { redirect: "manual" });
    const led = await fetchWith({ DEVELOPMENT: "true" }, root.clone());
    expect([led.status, led.headers.get("Location")]).toEqual([302, "/console/"]);
    expect((await exports.default.fetch(root)).status).toBe(404);
  });

  it("[W1] is answered without a key when it asks for health", async () => {
    const response = await exports.default.fetch(address("/health"));
    expect(response.headers.get("Content-Type")).toBe("application/json");
    expect(await answerOf(response)).toStrictEqual({ status: 200, body: "{}" });
  });
});

describe("a body that can't be read", () => {
  it.each<[string, string | Uint8Array]>([
    ["empty", ""],
    ["cut off", '{"channel":"a","data":{}'],
    ["two texts", '{"channel":"a"} {"channel":"b"}'],
    ["no object", '["channel"]'],
    ["null", "null"],
    ["not UTF-8", new Uint8Array([0x22, 0xff, 0x22])],
    ["not UTF-8 where anything may stand", malformedText()],
    ["cut inside a character", new Uint8Array([0x22, 0xc3])],
    ["after a byte order mark", "\ufeff{}"],
  ])("[W4] is answered 400 by every method: %s", async (_, body) => {
    for (const method of methods) {
      const response = await post(`/api/${method}`, body);
      expect(await answerOf(response)).toStrictEqual({ status: 400, body: "Bad Request" });
    }
  });

  it("[A7] is described by a header that quotes nothing of it", async () => {
    const response = await post("/api/publish", '{"channel":["s3cr3t"],"data":"s3cr3t"}');
    expect(response.status).toBe(400);
    expect(response.headers.get("X-Dormouse-Error-Detail")).toBe(
      "the field channel must be a string",
    );
    expect(await response.text()).toBe("Bad Request");
  });
});

describe("a compressed body", () => {
  it.each([["gzip"], ["br"], ["deflate, gzip"], ["GZIP"]])(
    "[W15] with Content-Encoding %s is answered 415 with a sentence, and nothing is published",
    async (encoding) => {
      const channel = newChannel("ring");
      const body = JSON.stringify({ channel, data: 1 });
      const response = await post("/api/publish", body, { "Content-Encoding": encoding });
      expect(response.status).toBe(415);
      expect(await response.text()).toBe(
        "Unsupported Media Type: the body has a Content-Encoding: send it uncompressed, without this header",
      );
      expect(await keptData(channel)).toStrictEqual([]);
    },
  );

  it("[W15] may say that it isn't compressed", async () => {
    const channel = newChannel("ring");
    const body = JSON.stringify({ channel, data: 1 });
    const response = await post("/api/publish", body, { "Content-Encoding": "identity" });
    expect(response.status).toBe(200);
    expect(await keptData(channel)).toStrictEqual(["1"]);
  });
});

describe("a body's size", () => {
  const tooLarge = { status: 413, body: "Request Entity Too Large" };

  it("[B1] may be the limit exactly, and not one byte more", async () => {
    const channel = newChannel("ring");
    const request = JSON.stringify({ channel, data: "edge" });
    const padded = request.padEnd(limits.requestBytesMax, " ");
    expect((await call("publish", padded)).status).toBe(200);
    expect(await call("publish", `${padded} `)).toStrictEqual(tooLarge);
    expect(await keptData(channel)).toStrictEqual(['"edge"']);
  });

  it("[B1] is measured where no length is stated", async () => {
    const endless = endlessBody();
    const response = await post("/api/publish", endless.body);
    expect(await answerOf(response)).toStrictEqual(tooLarge);
    expect(endless.chunks()).toBeLessThan(1_000);
  });

  it("[B1] is believed where the stated length is too large already: nothing is read", async () => {
    const endless = endlessBody();
    const headers = { "Content-Length": String(limits.requestBytesMax + 1) };
    const response = await postWith({}, "/api/publish", endless.body, headers);
    expect(await answerOf(response)).toStrictEqual(tooLarge);
    expect(endless.chunks()).toBeLessThan(2);
  });

  it.each(["5", "-1", "none"])(
    "[B1] is measured where the stated length is a lie: %s",
    async (length) => {
      const headers = { "Content-Length": length };
      const response = await postWith({}, "/api/publish", endlessBody().body, headers);
      expect(await answerOf(response)).toStrictEqual(tooLarge);
    },
  );

  it("[W1] may come in chunks that cut characters", async () => {
    const channel = newChannel("ring");
    const bytes = new TextEncoder().encode(JSON.stringify({ channel, data: "Zoë 😀" }));
    let at = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (at === bytes.length) controller.close();
        else controller.enqueue(bytes.slice(at, ++at));
      },
    });
    expect((await post("/api/publish", body)).status).toBe(200);
    expect(await keptData(channel)).toStrictEqual(['"Zoë 😀"']);
  });
});

describe("an error", () => {
  const unknown = { channel: "no-such:channel", data: {} };

  it("[W1] is told in a body with status 200, and why in a header without its data", async () => {
    const response = await post("/api/publish", JSON.stringify(unknown));
    expect(response.headers.get("Content-Type")).toBe("application/json");
    expect(response.headers.get("X-Dormouse-Error-Detail")).toBe(
      "channel.namespaces doesn't have no-such",
    );
    expect(await answerOf(response)).toStrictEqual({
      status: 200,
      body: '{"error":{"code":102,"message":"unknown channel"}}',
    });
  });

  it("[W1] inside a batch, a broadcast or a line stays there in transport mode", async () => {
    const mode = { "X-Centrifugo-Error-Mode": "transport" };
    const batch = await post(
      "/api/batch",
      JSON.stringify({ commands: [{ publish: unknown }] }),
      mode,
    );
    const error = '{"error":{"code":102,"message":"unknown channel"}}';
    expect(await answerOf(batch)).toStrictEqual({ status: 200, body: `{"replies":[${error}]}` });
    const broadcast = await post(
      "/api/broadcast",
      JSON.stringify({ channels: [unknown.channel], data: {} }),
      mode,
    );
    expect(await answerOf(broadcast)).toStrictEqual({
      status: 200,
      body: `{"result":{"responses":[${error}]}}`,
    });
  });

  it("[W1] is a status without being asked for where the configuration says so", async () => {
    const config = { http_api: { error_mode: "transport" } };
    const response = await postWith({ config }, "/api/publish", JSON.stringify(unknown));
    expect(response.status).toBe(404);
  });
});

/** Asks a Worker that `npm start` runs. */
function askDeveloping(path: string, body: string, headers: Record<string, string> = apiKeyHeader) {
  const request = new Request(address(path), { method: "POST", headers, body });
  return fetchWith({ DEVELOPMENT: "true" }, request);
}

describe("an error under npm start", () => {
  it("[W12] has its cause in the body, and no payload or key of the request", async () => {
    const request = { channels: ["no-such:x"], data: "a-payload", idempotency_key: "an-id" };
    const bodies = [
      ["/api/broadcast", request],
      ["/api/batch", { commands: [{ broadcast: request }] }],
      ["/api/publish", { channel: "no-such:x", data: "a-payload" }],
    ] as const;
    for (const [path, body] of bodies) {
      const text = await (await askDeveloping(path, JSON.stringify(body))).text();
      expect(text).toContain(
        '{"code":102,"message":"unknown channel","detail":"channel.namespaces doesn\'t have no-such"}',
      );
      for (const given of ["a-payload", "an-id"]) expect(text).not.toContain(given);
      // The same request to a deployed Worker.
      expect(await (await post(path, JSON.stringify(body))).text()).not.toContain("detail");
    }
  });

  it("[W12] [A7] says what is wrong with a request that is refused by its status, but no key", async () => {
    const wrong = await askDeveloping("/api/publish", "{}", { "X-API-Key": "a-wrong-key" });
    expect(await answerOf(wrong)).toStrictEqual({
      status: 401,
      body: "Unauthorized: the API key doesn't match API_KEY",
    });
    const malformed = await askDeveloping("/api/publish", '{"channel":7,"data":"a-payload"}');
    expect(await answerOf(malformed)).toStrictEqual({
      status: 400,
      body: "Bad Request: the field channel must be a string",
    });
    expect(malformed.headers.get("X-Dormouse-Error-Detail")).toBe(
      "the field channel must be a string",
    );
  });
});

describe("what a developer is told of a request", () => {
  it("[W14] that it has a field that isn't known, once and without its value", async () => {
    const warned = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const body = JSON.stringify({ channel: "plain:a", data: 1, idempotencyKey: "s3cr3t" });
    for (const _ of [1, 2]) expect((await askDeveloping("/api/publish", body)).status).toBe(200);
    expect(warned.mock.calls).toStrictEqual([
      ["api publish: unknown field idempotencyKey; did you mean idempotency_key?"],
    ]);
    // A deployed Worker, where such a line could be a flood, says nothing.
    await post("/api/publish", JSON.stringify({ channel: "plain:a", data: 1, skipHistory: true }));
    expect(warned).toHaveBeenCalledTimes(1);
    vi.restoreAllMocks();
  });
});

describe("the keep-alive script", () => {
  it("[K3] is served to every origin, as a module", async () => {
    const response = await exports.default.fetch(address("/keepalive-websocket.js"));
    expect(response.status).toBe(200);
    expect(response.headers.get("Access-Control-Allow-Origin")).toBe("*");
    expect(response.headers.get("Content-Type")).toContain("javascript");
    expect(await response.text()).toContain("keepalive");
  });

  it("[W1] is not found where there are no assets", async () => {
    const { ASSETS: _, ...bare } = env;
    const request = new Request(address("/keepalive-websocket.js"));
    const response = await createApp().fetch(request, bare);
    expect(response.status).toBe(404);
  });
});

/** A request that would be good if its data were UTF-8. */
function malformedText(): Uint8Array {
  const request = { channel: "ring:a", channels: ["ring:a"], commands: [], data: "~" };
  const bytes = new TextEncoder().encode(JSON.stringify(request));
  return bytes.map((byte) => (byte === 0x7e ? 0xff : byte));
}

/** A body without an end, and how many chunks of 64 KiB were taken of it. */
function endlessBody(): { readonly body: ReadableStream; readonly chunks: () => number } {
  let chunks = 0;
  const spaces = new Uint8Array(65_536).fill(0x20);
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      chunks++;
      controller.enqueue(spaces);
    },
  });
  return { body, chunks: () => chunks };
}
