import { describe, expect, it, vi } from "vitest";
import { eventLimits } from "../../../../src/features/events/limits.ts";
import { configurationOf } from "../../../../workers/platform/configuration.ts";
import { sendEvents } from "../../../../workers/platform/event-target.ts";
import { WebhookSigner } from "../../../../workers/platform/webhook-signature.ts";

const secrets = {
  API_KEY: "api-key-of-these-tests",
  TOKEN_HMAC_SECRET_KEY: "token-hmac-secret-key-of-these-tests",
};

/** The problems of a Worker with this target and these bindings. */
function problemsOf(target: string, bindings: object): readonly string[] {
  const config = { events: { target, types: ["publication"] } };
  const read = configurationOf({ ...secrets, ...bindings, config: JSON.stringify(config) });
  return read.outcome === "unconfigured" ? read.problems : [];
}

const signing = { HOOK_SIGNING_SECRET: "signs-the-events-of-these-tests" };
const service = { fetch: () => undefined };
const queue = { send: () => undefined };
const noSecret =
  'secret HOOK_SIGNING_SECRET is missing: set it with "wrangler secret put HOOK_SIGNING_SECRET"';

describe("a Worker that tells of events", () => {
  it("[A8] needs the secret that signs requests, and the binding that its target names", () => {
    expect(problemsOf("https://backend.example.com/", {})).toEqual([noSecret]);
    expect(problemsOf("https://backend.example.com/", signing)).toEqual([]);
    expect(problemsOf("service:BACKEND", { ...signing, BACKEND: service })).toEqual([]);
    expect(problemsOf("service:BACKEND", signing)).toEqual([
      "binding BACKEND to the Worker that events.target names is missing: add it to [[services]] in wrangler.toml",
    ]);
    expect(problemsOf("queue:EVENTS", { EVENTS: queue })).toEqual([]);
    expect(problemsOf("queue:EVENTS", { EVENTS: service })).toEqual([
      "binding EVENTS to the queue that events.target names is missing: add it to [[queues.producers]] in wrangler.toml",
    ]);
  });
});

describe("a batch of events", () => {
  const signer = new WebhookSigner([signing.HOOK_SIGNING_SECRET]);
  const send = (fetch: (url: string, init: RequestInit) => Promise<Response>) =>
    sendEvents({ kind: "service", binding: "BACKEND" }, { BACKEND: { fetch } }, signer, "{}");

  it.each([
    [200, true],
    [204, true],
    [302, false],
    [400, false],
    [503, false],
  ])("[E4] that is answered %i is taken: %j", async (status, isTaken) => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    expect(await send(async () => new Response(null, { status }))).toBe(isTaken);
    warn.mockRestore();
  });

  it("[E4] [A7] isn't taken if the target can't be reached, and the log doesn't quote why", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    expect(await send(() => Promise.reject(new Error("hunter2")))).toBe(false);
    expect(warn.mock.calls).toEqual([["events were not taken: error=Error"]]);
    warn.mockRestore();
  });

  it("[E4] isn't taken if there is no answer within 10 s, and the request ends then", async () => {
    vi.useFakeTimers();
    const asked = Promise.withResolvers<RequestInit>();
    const sent = send((_, init) => {
      asked.resolve(init);
      return Promise.withResolvers<Response>().promise;
    });
    const { signal } = await asked.promise;
    await vi.advanceTimersByTimeAsync(eventLimits.eventsAnswerMs - 1);
    expect(signal?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await sent).toBe(false);
    expect(signal?.aborted).toBe(true);
    vi.useRealTimers();
  });

  it("[E4] [Q8] follows no redirect, and is signed", async () => {
    let init: RequestInit = {};
    await send(async (_, given) => {
      init = given;
      return new Response();
    });
    expect(init.redirect).toBe("manual");
    expect(Object.keys(init.headers ?? {})).toContain("webhook-signature");
  });
});
