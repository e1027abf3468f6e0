import { createHmac } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Random } from "../../../support/random.ts";
import { recordedHistory } from "../history/recorded-history.ts";
import { answerAs, hookTimeoutMs, type AnswerKind, type Question } from "./hook-answers.ts";
import { HookBackend } from "./hook-backend.ts";

const secret = "a secret";
const history = recordedHistory();
let backend: HookBackend;
beforeEach(async () => {
  backend = await HookBackend.start(secret, 1);
  backend.recordTo(history().recorder);
});
afterEach(() => backend.close());

/** Asks as the server does. */
function ask(hook: "publish" | "rpc", body: object, key = secret): Promise<Response> {
  const { endpoint } =
    hook === "rpc" ? backend.config.rpc.proxy : backend.config.channel.proxy[hook];
  const text = JSON.stringify(body);
  const time = Math.floor(Date.now() / 1_000);
  const signature = createHmac("sha256", key).update(`id.${time}.${text}`).digest("base64");
  const headers = {
    "dormouse-hook": hook,
    "webhook-id": "id",
    "webhook-timestamp": String(time),
    "webhook-signature": `v1,${signature}`,
  };
  return fetch(endpoint, { method: "POST", headers, body: text });
}

describe("the backend of the hooks", () => {
  it("records its answer before it sends it", async () => {
    backend.settle();
    const question = { client: "c", channel: "asked:a", data: "v....." };
    expect(await (await ask("publish", question)).json()).toEqual({ result: {} });
    expect(await (await ask("rpc", { client: "c", data: "w" })).json()).toEqual({
      result: { data: "w-answered" },
    });
    expect(await history().events()).toMatchObject([
      { f: "hook", type: "ok", hook: "publish", channel: "asked:a", value: "v", result: "v" },
      { f: "hook", type: "ok", hook: "rpc", value: "w", result: "w-answered" },
    ]);
  });

  it("refuses connections while it is gone, and comes back on its port", async () => {
    const over = Promise.withResolvers<undefined>();
    const gone = backend.breakUntil("gone", over.promise);
    await expect(ask("rpc", { client: "c", data: "w" })).rejects.toThrow("fetch failed");
    // It is out of order once at a time.
    expect(await backend.breakUntil("failing", Promise.resolve())).toBe(false);
    over.resolve(undefined);
    expect(await gone).toBe(true);
    backend.settle();
    expect((await ask("rpc", { client: "c", data: "w" })).status).toBe(200);
  });

  it("records what it refuses while it fails", async () => {
    const over = Promise.withResolvers<undefined>();
    const failing = backend.breakUntil("failing", over.promise);
    const { status } = await ask("publish", { client: "c", channel: "asked:a", data: "v" });
    expect(status).toBeGreaterThanOrEqual(429);
    over.resolve(undefined);
    await failing;
    expect(await history().events()).toMatchObject([
      { type: "fail", answer: "outage", value: "v" },
    ]);
  });

  it("reports a request that isn't signed with the secret", async () => {
    backend.settle();
    await ask("rpc", { client: "c", data: "w" }, "another secret");
    expect(backend.failures).toEqual(["a request wasn't signed"]);
  });
});

describe("an answer", () => {
  const random = new Random(1);
  const question: Question = { hook: "publish", client: "c", channel: "asked:a", data: "v" };

  it.each<AnswerKind>(["right", "slow", "lie", "empty"])("of the kind %s allows", (kind) => {
    const { allows, status, body, result, afterMs } = answerAs(kind, question, random);
    expect({ allows, status }).toEqual({ allows: true, status: 200 });
    expect(afterMs).toBeLessThanOrEqual(hookTimeoutMs / 2);
    const { result: given }: { result?: { data?: string } } = JSON.parse(String(body));
    expect(result).toBe(given?.data ?? "v");
  });

  it.each<AnswerKind>(["late", "silent", "error", "disconnect", "status", "nonsense"])(
    "of the kind %s doesn't allow",
    (kind) => {
      const { allows, result } = answerAs(kind, question, random);
      expect(allows).toBe(false);
      expect(result).toBeUndefined();
    },
  );

  it("without a result lets no client in", () => {
    const asked = { hook: "connect", client: "c", data: { user: "ada" } } as const;
    expect(answerAs("empty", asked, random).allows).toBe(false);
    expect(JSON.parse(String(answerAs("right", asked, random).body))).toEqual({
      result: { user: "ada" },
    });
  });
});
