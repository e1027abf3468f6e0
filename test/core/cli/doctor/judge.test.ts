import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { describe, expect, it } from "vitest";
import { publicSecrets } from "../../../../cli/doctor/check-server.ts";
import type { Refused } from "../../../../cli/doctor/client.ts";
import { judgeNotTaken } from "../../../../cli/doctor/judge-taken.ts";
import { type Finding, spreadOf } from "../../../../cli/doctor/findings.ts";
import {
  judgeDeliveries,
  judgeLeftovers,
  judgeLost,
  judgeQuiet,
  judgeRecovery,
  judgeReturn,
  judgeSleep,
  type Recovery,
} from "../../../../cli/doctor/judge-run.ts";
import {
  judgeClock,
  judgeCompression,
  judgeHeaders,
  judgeOrigins,
  judgeSecrets,
  judgeSizes,
  judgeStream,
} from "../../../../cli/doctor/judge-server.ts";

/** The verdicts, or a part of the line that mends what is wrong. */
function verdicts(...findings: readonly Finding[]): readonly string[] {
  return findings.map((finding) =>
    finding.verdict === "wrong" ? `wrong: ${finding.mend}` : finding.verdict,
  );
}

describe("what the doctor says of a server", () => {
  it("knows the public secrets of the example", () => {
    expect(parseEnv(readFileSync("examples/.dev.vars.example", "utf8"))).toMatchObject(
      publicSecrets,
    );
  });

  it.each([
    [{ isLocal: false, keys: [], tokens: [] }, ["good", "good"]],
    [{ isLocal: true, keys: ["k"], tokens: ["a secret"] }, ["note", "note"]],
    [
      { isLocal: false, keys: ["k"], tokens: ["a secret"] },
      [
        "wrong: openssl rand -hex 32 | npx wrangler secret put API_KEY",
        "wrong: openssl rand -hex 32 | npx wrangler secret put TOKEN_HMAC_SECRET_KEY",
      ],
    ],
    // Without a key at all, it is wrong on any machine.
    [
      { isLocal: true, keys: [""], tokens: [] },
      ["wrong: don't pass a key on in the proxy before the server: backends send theirs", "good"],
    ],
  ])("[A10] judges secrets by the guesses that are accepted: %o", (guesses, expected) => {
    expect(verdicts(...judgeSecrets(guesses))).toEqual(expected);
  });

  it.each([
    ["", false, "good"],
    ["permessage-deflate; client_max_window_bits=15", true, "note"],
    ["permessage-deflate", false, "wrong"],
  ])("judges the extensions %o, in development %o", (extensions, isDevelopment, expected) => {
    expect(judgeCompression(extensions, isDevelopment).verdict).toBe(expected);
  });

  it.each([
    [undefined, "skipped", ""],
    [0, "good", ""],
    [-999, "good", ""],
    [1_000, "note", "1.0 s ahead of"],
    [-4_999, "note", "5.0 s behind"],
    [-75_000, "wrong", "75 s behind"],
  ])("judges a clock that is %o ms ahead", (aheadMs, verdict, text) => {
    expect(judgeClock(aheadMs)).toMatchObject({ verdict, text: expect.stringContaining(text) });
  });

  it("judges origins", () => {
    const origin = "https://app.example.com";
    expect(verdicts(...judgeOrigins("refused", undefined))).toEqual(["good", "skipped"]);
    expect(verdicts(...judgeOrigins("another refusal", { origin, outcome: "accepted" }))).toEqual([
      "note",
      "good",
    ]);
    const mend = `wrong: allowed_origins = ["${origin}"] under [vars.config.client]`;
    expect(verdicts(...judgeOrigins("accepted", { origin, outcome: "refused" }))).toEqual([
      mend,
      mend,
    ]);
  });

  it.each([
    [{}, "good", "none"],
    [{ server: "nginx", via: "1.1 cache" }, "note", "via: 1.1 cache, server: nginx"],
    [{ age: "7" }, "wrong", "7 s old"],
  ])("judges headers %o", (headers, verdict, text) => {
    expect(judgeHeaders(headers)).toMatchObject({ verdict, text: expect.stringContaining(text) });
  });

  it.each([
    [{ outcome: "off" }, "skipped"],
    [{ outcome: "refused", status: 503 }, "skipped"],
    [{ outcome: "stream", transport: "sse", encoding: "identity", lateMs: 3 }, "good"],
    [
      { outcome: "stream", transport: "sse", encoding: "", lateMs: undefined },
      "wrong: in nginx proxy_buffering off; proxy_http_version 1.1; proxy_read_timeout 1h;",
    ],
    [
      { outcome: "stream", transport: "sse", encoding: "gzip", lateMs: 3 },
      "wrong: in nginx gzip off; in Caddy no encode for this site",
    ],
  ] as const)("judges a stream %o", (stream, expected) => {
    expect(verdicts(judgeStream(stream))).toEqual([expected]);
  });

  it("names the message that doesn't come through", () => {
    const frame = { what: "a client's frame", bytes: 60_000, problem: "" } as const;
    const large = { what: "a publication", bytes: 524_288 } as const;
    expect(judgeSizes([{ ...large, problem: "" }, frame])).toMatchObject({
      verdict: "good",
      text: "a publication of 512 KiB and a client's frame of 59 KiB come through",
    });
    expect(judgeSizes([{ ...large, problem: "status 413" }, frame])).toMatchObject({
      verdict: "wrong",
      text: "a publication of 512 KiB doesn't come through: status 413",
    });
  });
});

function status(code: number): Refused {
  return { outcome: "status", status: code, detail: "" };
}

describe("what the doctor says of a client that isn't taken", () => {
  it.each<readonly ["anonymous" | "token" | "secret", Refused, string, string]>([
    [
      "anonymous",
      { outcome: "refused", code: 3501, reason: "bad request" },
      "skipped",
      "3501 bad request",
    ],
    [
      "token",
      { outcome: "refused", code: 3500, reason: "invalid token" },
      "wrong",
      "refuses the token",
    ],
    ["secret", status(401), "wrong", "TOKEN_HMAC_SECRET_KEY of here (status 401)"],
    ["secret", status(503), "wrong", "takes no client: status 503"],
    // A proxy that passes no upgrade on.
    ["secret", status(426), "wrong", "no WebSocket comes through: status 426"],
    [
      "anonymous",
      { outcome: "failed", cause: "socket hang up" },
      "wrong",
      "through: socket hang up",
    ],
  ])("with %s, %o", (kind, refused, verdict, text) => {
    expect(judgeNotTaken(kind, refused)).toMatchObject({
      verdict,
      text: expect.stringContaining(text),
    });
  });
});

describe("what the doctor says of a run", () => {
  it.each([
    [{ outcome: "open", quietMs: 300_000 }, 25_000, "good"],
    [{ outcome: "cut", quietMs: 60_000, code: 1006 }, 25_000, "note"],
    [{ outcome: "cut", quietMs: 70_000, code: 3012 }, 25_000, "good"],
    [
      { outcome: "cut", quietMs: 20_000, code: 1006 },
      25_000,
      'wrong: a longer time-out in the proxy, or ping_interval = "10s" under [vars.config.client]',
    ],
    [
      { outcome: "dead", quietMs: 300_000 },
      25_000,
      'wrong: a longer time-out in the proxy, or ping_interval = "150s" under [vars.config.client]',
    ],
  ] as const)("judges a quiet connection %o with pings each %i ms", (quiet, pingMs, expected) => {
    expect(verdicts(judgeQuiet(quiet, pingMs))).toEqual([expected]);
  });

  it("[K3] judges whether automatic answers let objects sleep", () => {
    const sleep = { sleepMs: 30_000, objects: 5, slept: 5, textsSent: 80, textsAnswered: 80 };
    expect(verdicts(...judgeSleep(sleep))).toEqual(["good", "good"]);
    expect(judgeSleep({ ...sleep, textsAnswered: 79 })[0]).toMatchObject({
      verdict: "wrong",
      text: "1 of 80 texts that the platform answers weren't answered",
    });
    expect(judgeSleep({ ...sleep, slept: 3 })[1]).toMatchObject({
      verdict: "wrong",
      text: expect.stringContaining("2 of 5 objects were awake after 30 s"),
    });
    // Too short for a new connection's object to sleep.
    expect(judgeSleep({ ...sleep, slept: 3, sleepMs: 24_999 })[1]?.verdict).toBe("note");
    expect(judgeSleep({ ...sleep, slept: undefined })[1]?.verdict).toBe("skipped");
  });

  it.each<readonly [Partial<Recovery>, string]>([
    [{}, "good"],
    [{ got: undefined, isRecovered: false, historySize: 0 }, "skipped"],
    [{ got: undefined, isRecovered: false }, "skipped"],
    [{ got: 0, isRecovered: false, historySize: 50 }, "note"],
    [
      { got: 0, isRecovered: false },
      'wrong: history_size = 300 and history_ttl = "5m" in the namespace chat',
    ],
    [{ got: 99 }, 'wrong: history_size = 300 and history_ttl = "5m" in the namespace chat'],
  ])("judges a recovery with %o", (more, expected) => {
    const recovery = { missed: 100, got: 100, isRecovered: true, historySize: 300, ...more };
    expect(verdicts(judgeRecovery(recovery, "chat"))).toEqual([expected]);
  });

  it("judges deliveries, those who came back, and what was lost", () => {
    expect(judgeDeliveries(500, 500).verdict).toBe("good");
    expect(judgeDeliveries(500, 498)).toMatchObject({
      verdict: "wrong",
      text: "2 of 500 didn't come within 10 s",
    });
    const all = { clients: 200, back: 200, refusals: 0, lastRefusal: "" };
    expect(judgeReturn(all).verdict).toBe("good");
    expect(judgeReturn({ ...all, refusals: 3, lastRefusal: "status 503" }).verdict).toBe("note");
    expect(
      judgeReturn({ ...all, back: 199, refusals: 6, lastRefusal: "status 503" }),
    ).toMatchObject({
      verdict: "wrong",
      text: "1 of 200 clients didn't come back in 6 attempts: status 503",
    });
    expect(judgeLost("sleep", 1006, 61_000)).toMatchObject({
      verdict: "wrong",
      text: "a connection ended with code 1006 61 s after it was opened, before this was measured",
    });
  });

  it("judges what is left behind", () => {
    const nothing = { subscribers: 0, publications: 0, unknown: [] };
    expect(judgeLeftovers(nothing, "x-").verdict).toBe("good");
    expect(judgeLeftovers({ ...nothing, unknown: ["the server is gone"] }, "x-").verdict).toBe(
      "note",
    );
    expect(judgeLeftovers({ ...nothing, publications: 4, unknown: ["a"] }, "x-")).toMatchObject({
      verdict: "wrong",
      text: "channels x-… still have 4 publications",
    });
  });

  it("has the middle and the worst of times", () => {
    expect(spreadOf([])).toBeUndefined();
    expect(spreadOf([9, 1, 5])).toEqual({ medianMs: 5, worstMs: 9 });
    expect(spreadOf([10, 2])).toEqual({ medianMs: 6, worstMs: 10 });
  });
});
