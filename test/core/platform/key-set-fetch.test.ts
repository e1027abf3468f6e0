import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { limits } from "../../../src/limits.ts";
import { fetchKeySet } from "../../../workers/platform/key-set.ts";
import { freePort } from "../../support/servers/listen.ts";
import { KeyServer, serving, SigningKey } from "../../support/servers/key-server.ts";

const key = new SigningKey("first");
const keys = { outcome: "keys", keys: [expect.objectContaining({ kid: "first" })] };
let server: KeyServer;

beforeEach(async () => {
  server = await KeyServer.start(serving([key.jwk]));
});

afterEach(async () => {
  await server.close();
});

/** A JWKS of exactly so many bytes. */
function padded(bytes: number): string {
  const bare = JSON.stringify({ keys: [key.jwk], pad: "" });
  return bare.replace(`"pad":""`, `"pad":"${"x".repeat(bytes - bare.length)}"`);
}

describe("a JWKS", () => {
  it("[A9] is fetched by one request", async () => {
    expect(await fetchKeySet(server.url)).toStrictEqual(keys);
    expect(server.requests).toStrictEqual(["/keys"]);
  });

  it("[A9] is asked for twice when the first answer is none", async () => {
    server.answer = (response, path) => {
      server.answer = serving([key.jwk]);
      response.writeHead(500).end(path);
    };
    expect(await fetchKeySet(server.url)).toStrictEqual(keys);
    expect(server.requests).toHaveLength(2);
  });

  it.each([[500], [503], [404], [204], [206], [304]])(
    "[A9] isn't had with status %i, after two attempts",
    async (status) => {
      server.answer = (response) => response.writeHead(status).end();
      expect(await fetchKeySet(server.url)).toStrictEqual({
        outcome: "bad",
        reason: `the response has status ${status}`,
      });
      expect(server.requests).toHaveLength(2);
    },
  );

  it.each([[301], [302], [303], [307], [308]])(
    "[A9] isn't looked for elsewhere with status %i",
    async (status) => {
      server.answer = (response, path) =>
        path === "/keys"
          ? response.writeHead(status, { Location: "/elsewhere" }).end()
          : response.end(JSON.stringify({ keys: [key.jwk] }));
      expect(await fetchKeySet(server.url)).toStrictEqual({
        outcome: "bad",
        reason: `the response has status ${status}`,
      });
      expect(server.requests).toStrictEqual(["/keys", "/keys"]);
    },
  );

  it("[B1] may be as large as the limit, and not larger", async () => {
    server.answer = (response) => response.end(padded(limits.keySetBytesMax));
    expect(await fetchKeySet(server.url)).toStrictEqual(keys);
    server.answer = (response) => response.end(padded(limits.keySetBytesMax + 1));
    expect(await fetchKeySet(server.url)).toStrictEqual({
      outcome: "bad",
      reason: "the response is too large",
    });
  });

  it("[B1] isn't read to an end that never comes", async () => {
    const chunk = "x".repeat(65_536);
    server.answer = (response) => {
      const write = () => {
        while (response.write(chunk));
        response.once("drain", write);
      };
      write();
    };
    expect(await fetchKeySet(server.url)).toMatchObject({ reason: "the response is too large" });
  });

  it("[B1] is measured unpacked", async () => {
    const packed = gzipSync(padded(10 * limits.keySetBytesMax));
    expect(packed.length).toBeLessThan(limits.keySetBytesMax);
    server.answer = (response) => {
      response.writeHead(200, { "Content-Encoding": "gzip" }).end(packed);
    };
    expect(await fetchKeySet(server.url)).toMatchObject({ reason: "the response is too large" });
  });

  it.each([
    ["no body", ""],
    ["a page", "<html></html>"],
    ["keys that are no list", `{"keys":{}}`],
    ["a list", "[]"],
    ["text that isn't UTF-8", Buffer.from([0x7b, 0xff, 0x7d])],
  ])("[A9] isn't %s", async (_, body) => {
    server.answer = (response) => response.end(body);
    expect((await fetchKeySet(server.url)).outcome).toBe("bad");
    expect(server.requests).toHaveLength(2);
  });

  it("[A9] isn't available from a closed port or a missing path", async () => {
    for (const url of [`http://127.0.0.1:${await freePort()}/keys`, "https://localhost:99999/"]) {
      expect(await fetchKeySet(url)).toStrictEqual({
        outcome: "bad",
        reason: "there is no readable response",
      });
    }
  });

  it.each<[string, KeyServer["answer"]]>([
    ["doesn't come", () => undefined],
    ["comes in drops", (response) => response.writeHead(200).write(`{"keys":[`)],
  ])("[A9] is waited for twice, a second each time, when its answer %s", async (_, answer) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    server.answer = answer;
    const fetched = fetchKeySet(server.url);
    for (const attempts of [1, 2]) {
      await server.nextRequest();
      vi.advanceTimersByTime(limits.keySetAttemptMs - 1);
      const early = await Promise.race([fetched, turns(20)]);
      expect([early, server.requests.length]).toStrictEqual(["later", attempts]);
      vi.advanceTimersByTime(1);
    }
    expect(await fetched).toStrictEqual({ outcome: "bad", reason: "the request timed out" });
    expect(server.requests).toHaveLength(2);
  });
});

/** Runs so many rounds of the event loop, in which anything that is ready would happen. */
async function turns(count: number): Promise<"later"> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
  return "later";
}
