import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type { ParsedKeySet, TokenAlgorithm } from "../../../src/access/keys.ts";
import { limits } from "../../../src/limits.ts";
import { fetchKeySet, KeySet } from "../../../workers/platform/key-set.ts";
import { KeyServer, serving, SigningKey } from "../../support/servers/key-server.ts";

const startMs = 1_700_000_000_000;
const first = new SigningKey("first");
const second = new SigningKey("second");
const unavailable = { outcome: "unavailable" };
const unknown = { outcome: "unknown", reason: 'unknown "kid"' };
const down: KeyServer["answer"] = (response) => response.writeHead(500).end();

let server: KeyServer;
let keySet: KeySet;
let logged: string[];

beforeEach(async () => {
  server = await KeyServer.start(serving([first.jwk]));
  keySet = new KeySet(() => fetchKeySet(server.url));
  logged = [];
  vi.spyOn(console, "error").mockImplementation((line: string) => logged.push(line));
});

afterEach(async () => {
  vi.restoreAllMocks();
  await server.close();
});

/** The result of a key lookup so long after the start. */
async function find(kid: string, afterMs = 0, algorithm: TokenAlgorithm = "EdDSA") {
  const found = await keySet.keysFor(algorithm, kid, startMs + afterMs);
  return found.outcome === "found" ? "found" : found;
}

describe("the keys of a JWKS", () => {
  it("[A9] aren't fetched before they are needed, and then for an hour", async () => {
    expect(server.requests).toHaveLength(0);
    for (const afterMs of [0, 1, limits.keySetFreshMs - 1]) {
      expect(await find("first", afterMs)).toBe("found");
      expect(server.requests).toHaveLength(1);
    }
    expect(await find("first", limits.keySetFreshMs)).toBe("found");
    expect(server.requests).toHaveLength(2);
  });

  it("[A9] are fetched once however many wait", async () => {
    const known = Array.from({ length: 100 }, () => find("first"));
    const madeUp = Array.from({ length: 100 }, () => find("made-up"));
    expect(await Promise.all(known)).toStrictEqual(known.map(() => "found"));
    expect(await Promise.all(madeUp)).toStrictEqual(madeUp.map(() => unknown));
    expect(server.requests).toHaveLength(1);
  });

  it("[A9] that can't be fetched are unavailable to all waiting requests, after two attempts", async () => {
    server.answer = down;
    const all = Array.from({ length: 100 }, () => find("first"));
    expect(await Promise.all(all)).toStrictEqual(all.map(() => unavailable));
    expect(server.requests).toHaveLength(2);
    expect(logged).toStrictEqual(["the JWKS can't be fetched: the response has status 500"]);
  });

  it("[A9] that couldn't be fetched are left alone for a while", async () => {
    server.answer = down;
    await find("first");
    server.answer = serving([first.jwk]);
    expect(await find("first", limits.keySetRetryMs - 1)).toStrictEqual(unavailable);
    expect(server.requests).toHaveLength(2);
    expect(await find("first", limits.keySetRetryMs)).toBe("found");
  });

  it("[A9] stay valid for a day while they can't be fetched, and no other key is valid", async () => {
    await find("first");
    server.answer = down;
    expect(await find("first", limits.keySetFreshMs)).toBe("found");
    expect(await find("second", limits.keySetFreshMs)).toStrictEqual(unavailable);
    expect(server.requests).toHaveLength(3);
    expect(await find("first", limits.keySetStaleMs - 1)).toBe("found");
    expect(await find("first", limits.keySetStaleMs)).toStrictEqual(unavailable);
    expect(await find("first", limits.keySetStaleMs + limits.keySetRetryMs)).toStrictEqual(
      unavailable,
    );
    server.answer = serving([first.jwk]);
    expect(await find("first", limits.keySetStaleMs + 2 * limits.keySetRetryMs)).toBe("found");
  });

  it.each<[string, readonly object[]]>([
    ["no keys", []],
    ["secrets only", [{ kty: "oct", k: "c2VjcmV0", kid: "first" }]],
    ["keys without names only", [{ ...second.jwk, kid: undefined }]],
    ["broken keys only", [{ kty: "EC", crv: "P-256", x: "c2VjcmV0", y: "AA", kid: "first" }]],
    ["keys that are too short only", [{ kty: "RSA", n: "u".repeat(171), e: "AQAB", kid: "k" }]],
  ])("[A9] are believed for a day while the answer has %s", async (_, answer) => {
    await find("first");
    server.answer = serving(answer);
    expect(await find("first", limits.keySetFreshMs)).toBe("found");
    expect(logged).toContain("the JWKS can't be fetched: the JWKS has no usable key");
    expect(await find("second", limits.keySetFreshMs)).toStrictEqual(unavailable);
    expect(await find("first", limits.keySetStaleMs - 1)).toBe("found");
    expect(await find("first", limits.keySetStaleMs)).toStrictEqual(unavailable);
  });

  it("[A9] take the place of those before if one of them can be used", async () => {
    await find("first");
    const broken = { kty: "EC", crv: "P-256", x: "c2VjcmV0", y: "AA", kid: "broken" };
    server.answer = serving([broken, second.jwk]);
    expect(await find("second", limits.keySetFreshMs)).toBe("found");
    expect(await find("first", limits.keySetFreshMs + limits.keySetRefetchMs)).toStrictEqual(
      unknown,
    );
  });

  it("[A9] delay no request while they are known and can't be fetched", async () => {
    await find("first");
    server.answer = down;
    await find("first", limits.keySetFreshMs);
    const asked = server.requests.length;
    expect(await find("first", limits.keySetFreshMs + limits.keySetRetryMs - 1)).toBe("found");
    expect(server.requests).toHaveLength(asked);
  });

  it("[A9] rotate: a new one is fetched on first use, and an old one is dropped", async () => {
    await find("first");
    server.answer = serving([second.jwk]);
    expect(await find("second", limits.keySetRefetchMs)).toBe("found");
    expect(server.requests).toHaveLength(2);
    // That the old one went is known only since it has been asked for again.
    expect(await find("first", 2 * limits.keySetRefetchMs)).toStrictEqual(unknown);
  });

  it("[A9] are fetched again for keys they don't have every 30 s at most", async () => {
    await find("first");
    for (let index = 0; index < 100; index++) {
      const outcome = await find(`made-up-${index}`, limits.keySetRefetchMs - 1);
      expect(outcome).toStrictEqual(unavailable);
    }
    expect(server.requests).toHaveLength(1);
    expect(await find("made-up", limits.keySetRefetchMs)).toStrictEqual(unknown);
    expect(await find("made-up", limits.keySetRefetchMs)).toStrictEqual(unavailable);
    expect(await find("made-up", 2 * limits.keySetRefetchMs - 1)).toStrictEqual(unavailable);
    expect(server.requests).toHaveLength(2);
    expect(await find("first", 2 * limits.keySetRefetchMs)).toBe("found");
    expect(server.requests).toHaveLength(2);
  });

  it("[A9] are fetched again every 30 s at most when that fails, too", async () => {
    await find("first");
    server.answer = down;
    expect(await find("made-up", limits.keySetRefetchMs)).toStrictEqual(unavailable);
    expect(await find("made-up", 2 * limits.keySetRefetchMs - 1)).toStrictEqual(unavailable);
    expect(server.requests).toHaveLength(3);
  });

  it("[A2] are found under their algorithm only, and never under one with a secret", async () => {
    const notAllowed = { outcome: "unknown", reason: "the algorithm is not allowed" };
    server.answer = serving([first.jwk, { kty: "oct", k: "c2VjcmV0", kid: "secret" }]);
    for (const algorithm of ["HS256", "HS384", "HS512"] as const) {
      expect(await find("first", 0, algorithm)).toStrictEqual(notAllowed);
      expect(await find("secret", 0, algorithm)).toStrictEqual(notAllowed);
    }
    expect(server.requests).toHaveLength(0);
    for (const algorithm of ["RS256", "ES256", "ES512"] as const) {
      expect(await find("first", 0, algorithm)).toStrictEqual(notAllowed);
    }
    expect(server.requests).toHaveLength(1);
  });

  it("[A2] must be named", async () => {
    const outcome = await keySet.keysFor("EdDSA", undefined, startMs);
    expect(outcome).toStrictEqual({ outcome: "unknown", reason: 'the header has no "kid"' });
    expect(server.requests).toHaveLength(0);
  });

  it("[A9] may share a name where they are of different kinds", async () => {
    const curve = { kty: "EC", crv: "P-256", x: "AA", y: "AA", kid: "first" };
    server.answer = serving([curve, first.jwk]);
    expect(await find("first")).toBe("found");
  });

  it.each([
    ["is broken", { kty: "EC", crv: "P-256", x: "c2VjcmV0", y: "AA", kid: "k" }, "ES256"],
    ["is too short", { kty: "RSA", n: "u".repeat(171), e: "AQAB", kid: "k" }, "RS256"],
  ] as const)("[A7] that can't be used, because one %s, are logged once", async (_, jwk, alg) => {
    server.answer = serving([first.jwk, jwk]);
    expect(await find("k", 0, alg)).toStrictEqual(unavailable);
    expect(await find("k", 1, alg)).toStrictEqual(unavailable);
    expect(logged).toStrictEqual([`a key of the JWKS can't be used for ${alg}`]);
    expect(server.requests).toHaveLength(1);
  });
});

describe("a request that waits for the keys another one fetches", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
  });

  it("[A9] fetches them itself when that one has gone, and the others wait for it", async () => {
    const fetches: ((fetched: ParsedKeySet) => void)[] = [];
    keySet = new KeySet(() => new Promise((resolve) => fetches.push(resolve)));
    void find("first");
    const waiting = Array.from({ length: 10 }, () => find("first"));
    expect(fetches).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(limits.keySetWaitMs - 1);
    expect(fetches).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(fetches).toHaveLength(2);
    fetches[1]?.(await fetchKeySet(server.url));
    expect(await Promise.all(waiting)).toStrictEqual(waiting.map(() => "found"));
    expect(fetches).toHaveLength(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("[A9] gives up when the next one has gone as well", async () => {
    let fetches = 0;
    keySet = new KeySet(() => {
      fetches++;
      return new Promise(() => undefined);
    });
    void find("first");
    const [next, last] = [find("first"), find("first")];
    void next;
    await vi.advanceTimersByTimeAsync(2 * limits.keySetWaitMs);
    expect(await last).toStrictEqual(unavailable);
    expect(fetches).toBe(2);
  });
});
