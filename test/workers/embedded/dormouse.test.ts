import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { Hono } from "hono";
import { describe, expect, it, vi } from "vitest";
import { carryOut } from "../../../workers/embedded/commands.ts";
import { claimsOf } from "../../../workers/features/index.ts";
import {
  type ConnectHookResult,
  type FunctionAnswer,
  type HookFunctions,
  functionsService,
  type SubscribeHookResult,
} from "../../../workers/embedded/hook-functions.ts";
import { type BoundEnv, dormouse } from "../../../workers/embedded/dormouse.ts";

const app = new URL("http://example.com");

describe("a Worker of one's own", () => {
  it("[OW1] refuses a prefix that can't be one", () => {
    for (const prefix of ["", "/", "realtime", "/realtime/", "/a b"])
      expect(() => dormouse({ prefix })).toThrow(/prefix of dormouse\(\) must be a path/);
  });

  it("[OW1] [OW7] has one configuration, not that of the variable, and says which routes aren't its own", async () => {
    const realtime = dormouse({ prefix: "/realtime", user: () => "ann" });
    expect(() => dormouse({ prefix: "/other" })).toThrow(/dormouse\(\) was called twice/);
    const misplaced = await realtime.app.fetch(new Request(new URL("/news", app)), env);
    expect([misplaced.status, await misplaced.text()]).toEqual([
      503,
      expect.stringContaining('mount it with app.route("/realtime", realtime.app)'),
    ]);
    const own = new Hono<BoundEnv>();
    own.route("/realtime", realtime.app);
    own.get("/realtime/health", (context) => context.text("never reached"));
    const warned = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const request = () => new Request(new URL("/realtime/health", app));
    for (const _ of [1, 2])
      expect(await (await own.fetch(request(), env, createExecutionContext())).text()).toContain(
        "the configuration is given twice",
      );
    expect(warned.mock.calls).toEqual([
      [expect.stringContaining("the route /realtime/health is below /realtime")],
    ]);
  });

  it("[OW7] names the bindings that it lacks", async () => {
    const { CHANNELS: _, ...without } = env;
    await expect(
      carryOut(without, "publish", { channel: "news", data: 1 }, { name: "test" }),
    ).rejects.toThrow(/binding CHANNELS to the class ChannelObject is missing/);
  });
});

describe("who connects", () => {
  it("[OW2] [OW11] is nobody, or a text, or a description with a user", () => {
    for (const nothing of [undefined, null, ""]) expect(claimsOf(nothing)).toBeUndefined();
    expect(claimsOf("7")).toEqual({ user: "7", expireAtSeconds: 0 });
    expect(claimsOf({ user: "7" })).toEqual({ user: "7", expireAtSeconds: 0 });
    // A description may say that the user is anonymous.
    expect(claimsOf({ user: "" })).toEqual({ user: "", expireAtSeconds: 0 });
  });

  it.each([
    "7",
    "0",
    "true",
    "false",
    "[]",
    '["ann"]',
    "{}",
    '{"id":7}',
    '{"user":7}',
    '{"user":null}',
  ])("[OW11] isn't what JavaScript may give as %s", (given) => {
    expect(() => claimsOf(JSON.parse(given))).toThrow(
      /^user of dormouse\(\) gave a description that can't be used: (it is neither|"user" is not)/,
    );
  });
});

describe("the answer of a function that is a hook", () => {
  it.each(["7", "false", "[]", '"ann"', '{"user":"ann"}', '{"allowed":false}', '{"id":7}'])(
    "[OW11] has failed where it is %s, and the log says so",
    async (answer) => {
      const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
      for (const hook of ["connect", "subscribe"]) expect(await statusOf(hook, answer)).toBe(500);
      expect(logged.mock.calls).toEqual([
        [expect.stringContaining("the function of the hook connect gave an answer that can't be")],
        [
          expect.stringContaining(
            "the function of the hook subscribe gave an answer that can't be",
          ),
        ],
      ]);
      logged.mockRestore();
    },
  );

  it.each(['{"result":{}}', '{"result":{"id":7}}', '{"result":{"user":7}}', '{"result":[]}'])(
    "[OW11] to a connect has failed without a user: %s",
    async (answer) => {
      const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
      expect(await statusOf("connect", answer)).toBe(500);
      expect(logged.mock.calls).toEqual([
        [expect.stringContaining('"result.user" is not a string')],
      ]);
      logged.mockRestore();
    },
  );

  it("[OW3] [OW11] may be nothing, a result, an error or a disconnect", async () => {
    const answers = ["null", '{"result":{"user":""}}', '{"error":{"code":1000}}'];
    for (const answer of [...answers, '{"disconnect":{"code":4000}}'])
      expect(await statusOf("connect", answer)).toBe(200);
  });
});

/** The status with which a function is answered for that gives this JSON. */
async function statusOf(hook: string, answer: string): Promise<number> {
  const functions: HookFunctions = {
    onConnect: (): FunctionAnswer<ConnectHookResult> => JSON.parse(answer),
    onSubscribe: (): FunctionAnswer<SubscribeHookResult> => JSON.parse(answer),
  };
  const init = { method: "POST", body: "{}" };
  const response = await functionsService(functions)?.fetch(`https://hooks/${hook}`, init);
  return response?.status ?? 0;
}
