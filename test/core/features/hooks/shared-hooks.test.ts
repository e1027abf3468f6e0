import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { BackendReply } from "../../../../src/contract/backend-call.ts";
import type { HookAnswer } from "../../../../src/features/hooks/hooks.ts";
import { hookLimits } from "../../../../src/features/hooks/limits.ts";
import { limits } from "../../../../src/limits.ts";
import { SharedHooks } from "../../../../workers/features/hooks/shared-hooks.ts";
import { target } from "./targets.ts";
import { valid } from "../../protocol/valid-json-text.ts";

const good: BackendReply = { outcome: "answered", status: 200, body: '{"result":{"user":"ada"}}' };
const failed: BackendReply = { outcome: "failed", reason: "the backend can't be reached" };
const busy = { outcome: "failed", error: { code: 111 } };
const body = valid('{"client":"c1"}');

/** Requests that ask by the hooks of one isolate. A test says when each of them has its reply. */
class Requests {
  readonly #hooks = new SharedHooks();
  #asked = 0;
  /** The replies to the questions that were sent, in the order in which they were. */
  readonly sent: PromiseWithResolvers<BackendReply>[] = [];

  ask(timeoutMs = 1_000): Promise<HookAnswer> {
    const question = { hook: "connect", body, headers: [], asker: `${this.#asked++}` } as const;
    return this.#hooks.ask(target({ timeoutMs }), question, () => {
      const reply = Promise.withResolvers<BackendReply>();
      this.sent.push(reply);
      return reply.promise;
    });
  }

  askMany(count: number, timeoutMs?: number): readonly Promise<HookAnswer>[] {
    return Array.from({ length: count }, () => this.ask(timeoutMs));
  }

  reply(index: number, reply: BackendReply): void {
    this.sent[index]?.resolve(reply);
  }
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("the hooks of an isolate of the edge", () => {
  it("[Q6] [Q10] [Q13] bound the questions of all requests, and each is sent in its turn", async () => {
    const requests = new Requests();
    void requests.askMany(hookLimits.hooksInFlightMax);
    const next = requests.ask();
    await vi.advanceTimersByTimeAsync(100);
    expect(requests.sent).toHaveLength(hookLimits.hooksInFlightMax);
    requests.reply(0, good);
    await vi.advanceTimersByTimeAsync(0);
    expect(requests.sent).toHaveLength(hookLimits.hooksInFlightMax + 1);
    requests.reply(hookLimits.hooksInFlightMax, good);
    expect(await next).toMatchObject({ outcome: "result" });
  });

  it("[Q6] [Q10] [Q13] refuse a question that has waited for its turn too long, and skip that turn", async () => {
    const requests = new Requests();
    // The backend is slow, and its timeout is long: no turn is taken back.
    const [first] = requests.askMany(hookLimits.hooksInFlightMax, 20_000);
    const waiting = requests.ask();
    await vi.advanceTimersByTimeAsync(0);
    vi.advanceTimersByTime(hookLimits.hookWaitMs);
    expect(await waiting).toMatchObject(busy);
    requests.reply(0, good);
    await first;
    expect(requests.sent).toHaveLength(hookLimits.hooksInFlightMax);
    // The turn that was skipped is free.
    void requests.ask();
    expect(requests.sent).toHaveLength(hookLimits.hooksInFlightMax + 1);
  });

  it("[Q7] [Q10] [Q13] don't ask a backend that has failed other requests", async () => {
    const requests = new Requests();
    for (let index = 0; index < hookLimits.hookFailuresMax; index++) {
      const answer = requests.ask();
      requests.reply(index, failed);
      expect(await answer).toMatchObject({ outcome: "failed", error: { code: 100 } });
    }
    expect(await requests.ask()).toMatchObject({ reason: expect.stringContaining("for a while") });
    expect(requests.sent).toHaveLength(hookLimits.hookFailuresMax);
  });

  it("[B1] [Q10] take back the turns of requests that ended without their answer", async () => {
    const requests = new Requests();
    // Their clients go, and the platform ends them: none of them goes on.
    void requests.askMany(hookLimits.hooksInFlightMax);
    const { timeoutMs } = target();
    await vi.advanceTimersByTimeAsync(timeoutMs + limits.hookMarginMs - 1);
    const waiting = requests.ask();
    expect(requests.sent).toHaveLength(hookLimits.hooksInFlightMax);
    await vi.advanceTimersByTimeAsync(1);
    const next = requests.ask();
    await vi.advanceTimersByTimeAsync(0);
    expect(requests.sent).toHaveLength(hookLimits.hooksInFlightMax + 2);
    // That a client has gone says nothing of the backend, which isn't down.
    for (const index of [0, 1]) requests.reply(hookLimits.hooksInFlightMax + index, good);
    for (const answer of [waiting, next]) expect(await answer).toMatchObject({ outcome: "result" });
  });
});
