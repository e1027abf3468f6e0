import { describe, expect, it } from "vitest";
import type { HookTarget } from "../../../../src/config/config.ts";
import type { BackendReply } from "../../../../src/contract/backend-call.ts";
import { type HookAnswer, Hooks } from "../../../../src/features/hooks/hooks.ts";
import type { AskBackend } from "../../../../src/object/part.ts";
import { hookLimits } from "../../../../src/features/hooks/limits.ts";
import { valid } from "../../protocol/valid-json-text.ts";
import { target } from "./targets.ts";

/** Asks hooks whose calls a test answers. */
class HooksFixture {
  nowMs = 0;
  #asked = 0;
  readonly calls: Parameters<AskBackend>[] = [];
  readonly #hooks = new Hooks((...call) => this.calls.push(call));

  ask(to: HookTarget = target(), isWanted = () => true): { answer: HookAnswer | undefined } {
    const asked: { answer: HookAnswer | undefined } = { answer: undefined };
    const headers = [["cookie", "a=b"]] as const;
    const body = valid('{"client":"c1"}');
    const asker = `${this.#asked++}`;
    const question = { hook: "rpc", body, headers, asker, isWanted } as const;
    this.#hooks.ask(to, question, this.nowMs, (one) => {
      if (asked.answer !== undefined) throw new Error("answered twice");
      asked.answer = one;
    });
    return asked;
  }

  reply(reply: BackendReply | { readonly outcome: "busy" }): void {
    this.calls.shift()?.[2](reply, this.nowMs);
  }

  /** Asks, and replies. */
  answered(
    reply: BackendReply | { readonly outcome: "busy" },
    to?: HookTarget,
  ): HookAnswer | undefined {
    const asked = this.ask(to);
    this.reply(reply);
    return asked.answer;
  }
}

const status = (code: number, body = ""): BackendReply => ({
  outcome: "answered",
  status: code,
  body,
});
const failed = (reason: string) => ({
  outcome: "failed",
  error: { code: 100, message: "internal server error", temporary: true },
  reason,
});

describe("a hook", () => {
  it("[Q8] is asked at the target of its name, with the body and the connection's headers", () => {
    const fixture = new HooksFixture();
    fixture.ask(target({ timeoutMs: 1_500 }));
    const [question, timeoutMs] = fixture.calls[0] ?? [];
    expect(question).toStrictEqual({
      hook: "rpc",
      target: "rpc.proxy",
      body: '{"client":"c1"}',
      headers: [["cookie", "a=b"]],
    });
    expect(timeoutMs).toBe(1_500);
  });

  it.each([
    [status(204), "the response has status 204"],
    [status(302), "the response has status 302"],
    [status(404), "the response has status 404"],
    [status(500), "the response has status 500"],
    [status(200, "<html>"), "the response is not a JSON object"],
    [
      { outcome: "failed", reason: "the backend can't be reached" } as const,
      "the backend can't be reached",
    ],
  ])("[Q5] has failed after %j", (reply, reason) => {
    expect(new HooksFixture().answered(reply)).toStrictEqual(failed(reason));
  });

  it("[Q5] has the error or the disconnect that the configuration gives a status", () => {
    const error = { code: 404, message: "not found", temporary: false };
    const code = { code: 4_001, reason: "gone" };
    const statuses = new Map([
      [404, { outcome: "error", error } as const],
      [500, { outcome: "disconnect", code } as const],
    ]);
    const fixture = new HooksFixture();
    expect(fixture.answered(status(404), target({ statuses }))).toStrictEqual({
      outcome: "error",
      error,
    });
    expect(fixture.answered(status(500), target({ statuses }))).toStrictEqual({
      outcome: "disconnect",
      code,
    });
  });

  it("[Q6] is answered 111 if what follows can't be carried out", () => {
    const fixture = new HooksFixture();
    expect(fixture.answered({ outcome: "busy" })).toMatchObject({
      outcome: "failed",
      error: { code: 111, temporary: true },
    });
  });

  it("[Q6] isn't asked when its connection has gone while it waited, and the next one is", () => {
    const fixture = new HooksFixture();
    for (let count = 0; count < hookLimits.hooksInFlightMax; count++) fixture.ask();
    const gone = fixture.ask(target(), () => false);
    const next = fixture.ask();
    fixture.reply(status(200, "{}"));
    expect(fixture.calls).toHaveLength(hookLimits.hooksInFlightMax);
    expect(gone.answer).toBeUndefined();
    while (fixture.calls.length > 0) fixture.reply(status(200, "{}"));
    expect(next.answer).toMatchObject({ outcome: "result" });
    expect(gone.answer).toBeUndefined();
  });
});

describe("[Q7] a backend that is down", () => {
  it.each([
    { outcome: "failed", reason: "there is no response within 1000 ms" } as const,
    status(500),
    status(503),
    status(429),
  ])("isn't asked any more after %j in a row, and again a second later", (reply) => {
    const fixture = new HooksFixture();
    failAll(fixture, reply);
    expect(fixture.ask().answer).toStrictEqual(
      failed("the backend has failed, and isn't asked for a while"),
    );
    expect(fixture.calls).toHaveLength(0);
    fixture.nowMs = hookLimits.hookPauseMs;
    expect(fixture.answered(status(200, "{}"))).toStrictEqual({
      outcome: "result",
      result: undefined,
    });
  });

  it.each([status(404), status(302), status(200, "no JSON"), { outcome: "busy" } as const])(
    "isn't one that answers %j",
    (reply) => {
      const fixture = new HooksFixture();
      for (let count = 0; count < hookLimits.hookFailuresMax; count++) fixture.answered(reply);
      fixture.ask();
      expect(fixture.calls).toHaveLength(1);
    },
  );

  it("isn't one whose status has a meaning, unless it asks for a pause", () => {
    const error = { code: 1_000, message: "", temporary: false };
    const to = target({ statuses: new Map([[503, { outcome: "error", error } as const]]) });
    const fixture = new HooksFixture();
    failAll(fixture, status(503), to);
    const pause: BackendReply = {
      outcome: "answered",
      status: 503,
      body: "",
      retryAfterSeconds: 2,
    };
    expect(fixture.answered(pause, to)).toStrictEqual({
      outcome: "error",
      error,
    });
    expect(fixture.ask(to).answer).toMatchObject({ outcome: "failed" });
    fixture.nowMs = 2_000;
    fixture.ask(to);
    expect(fixture.calls).toHaveLength(1);
  });

  it("is known by its origin or binding, whatever the hook", () => {
    const service = target({ endpoint: { kind: "service", binding: "BACKEND" } });
    const fixture = new HooksFixture();
    failAll(fixture, status(500), url("https://one.example/a"));
    failAll(fixture, status(500), service);
    expect(fixture.ask(url("https://one.example/b?c")).answer).toMatchObject({ outcome: "failed" });
    expect(fixture.ask(url("https://one.example")).answer).toMatchObject({ outcome: "failed" });
    expect(fixture.ask(service).answer).toMatchObject({ outcome: "failed" });
    expect(fixture.ask(url("https://one.example:8443/a")).answer).toBeUndefined();
    expect(fixture.ask(url("https://two.example/a")).answer).toBeUndefined();
  });
});

/** Fails as often as it takes. */
function failAll(fixture: HooksFixture, reply: BackendReply, to: HookTarget = target()): void {
  for (let count = 0; count < hookLimits.hookFailuresMax; count++) fixture.answered(reply, to);
}

function url(text: string): HookTarget {
  return target({ endpoint: { kind: "url", url: text } });
}
