import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { Hono } from "hono";
import { describe, expect, it, vi } from "vitest";
import { carryOut } from "../../../workers/embedded/commands.ts";
import { resultFields } from "../../../src/features/hooks/response.ts";
import { askForClaims, claimsOf } from "../../../workers/features/index.ts";
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

  it("[OW1] [OW7] [OW17] has one configuration, not that of the variable, and says which routes aren't its own", async () => {
    const realtime = dormouse({ prefix: "/realtime", user: () => "ann" });
    expect(() => dormouse({ prefix: "/other" })).toThrow(/dormouse\(\) was called twice/);
    const misplaced = await realtime.app.fetch(new Request(new URL("/news", app)), env);
    expect([misplaced.status, await misplaced.text()]).toEqual([
      503,
      expect.stringContaining('mount it with app.route("/realtime", realtime.app)'),
    ]);
    const direct = (path: string) =>
      realtime.fetch(new Request(new URL(path, app)), env, createExecutionContext());
    for (const path of ["/", "/news", "/realtimes"]) expect(direct(path)).toBeUndefined();
    for (const path of ["/realtime", "/realtime/health"])
      expect(await (await direct(path))?.text()).toContain("the configuration is given twice");
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

/** What JSON can't say, or says otherwise, with what the log calls it. */
const unsayable: readonly (readonly [name: string, made: () => unknown, called: string])[] = [
  ["a BigInt", () => 7n, "is a bigint"],
  ["a symbol", () => Symbol("ann"), "is a symbol"],
  ["a function", () => () => "ann", "is a function"],
  ["NaN", () => Number.NaN, "is NaN"],
  ["a Map", () => new Map([["user", "ann"]]), "is an instance of Map"],
  [
    "an instance of a class",
    () =>
      new (class Ann {
        readonly user = "ann";
      })(),
    "is an instance of Ann",
  ],
  ["a Set", () => new Set(["ann"]), "is an instance of Set"],
  ["part of itself", () => circle(), "is part of itself"],
];

function giveBigInt(): Promise<never> {
  return new Promise((resolve) => Reflect.apply(resolve, undefined, [{ user: 7n }]));
}

function circle(): object {
  const made: Record<string, unknown> = {};
  made["inside"] = made;
  return made;
}

describe("what JSON can't say", () => {
  it.each(unsayable)("[OW11] describes nobody, and is named: %s", (_, made, called) => {
    for (const [given, path] of [
      [made(), ""],
      [{ user: made() }, '"user'],
      [{ user: "ann", info: { a: [made()] } }, '"info.a.0'],
      [{ user: "ann", expire_at: made() }, '"expire_at'],
    ] as const) {
      const claims = () => Reflect.apply(claimsOf, undefined, [given]);
      expect(claims).toThrow("user of dormouse() gave a description that can't be used: ");
      expect(claims).toThrow(called);
      expect(claims).toThrow(path);
    }
  });

  it("[OW11] isn't described by a field that nobody reads, such as a mistyped one", () => {
    for (const other of [{ expires_at: 5 }, { chanels: ["news"] }, { id: 7 }])
      expect(() => claimsOf({ user: "ann", ...other })).toThrow(
        "gave a description that can't be used: it has another field than user, expire_at",
      );
    expect(claimsOf(Object.assign({ user: "ann" }, { id: undefined }))).toEqual(claimsOf("ann"));
  });

  it("[OW11] is in the log when a connection is refused for it, as what user() throws is", async () => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
    await expect(askForClaims(giveBigInt)).rejects.toThrow('"user" is a bigint');
    await expect(askForClaims(() => Promise.reject(new Error("no session")))).rejects.toThrow(
      "no session",
    );
    const lines = logged.mock.calls.flat().map(String);
    logged.mockRestore();
    expect(lines).toEqual([
      "who connects isn't known:",
      expect.stringContaining('"user" is a bigint'),
      "who connects isn't known:",
      "Error: no session",
    ]);
    expect(await askForClaims(async () => "ann")).toEqual({ user: "ann", expireAtSeconds: 0 });
  });

  it("[OW11] is no Date as a description, and may be one inside", () => {
    const at = new Date(0);
    expect(() => Reflect.apply(claimsOf, undefined, [at])).toThrow("it is an instance of Date");
    const claims = Reflect.apply(claimsOf, undefined, [
      { user: "ann", info: { at }, meta: undefined },
    ]);
    expect(claims).toMatchObject({ user: "ann", info: '{"at":"1970-01-01T00:00:00.000Z"}' });
  });

  it.each(unsayable)(
    "[OW11] is an answer of no function, and the log names it: %s",
    async (_, made, called) => {
      for (const hook of hooks)
        for (const given of [
          made(),
          { result: made() },
          { result: { ...named[hook], data: [made()] } },
        ])
          expect(await answerOf(hook, given)).toEqual({
            status: 500,
            logged: expect.stringContaining(called),
          });
    },
  );
});

const hooks = ["connect", "refresh", "subscribe", "publish", "rpc"] as const;
const named: Readonly<Record<string, object>> = { connect: { user: "ann" } };

/** Answers that JavaScript can give, and that aren't those of a hook. */
const wrongAnswers: readonly object[] = [
  { result: { allowed: false } },
  { result: { user: "ann", allowed: false } },
  { result: { ok: true } },
  { result: false },
  { result: "denied" },
  { result: [] },
  { allow: false },
  { error: undefined },
  { disconnect: undefined },
  { result: undefined },
  { result: {}, allowed: false },
];

describe("the answer of a function that is a hook", () => {
  it.each(wrongAnswers)("[OW11] has failed for each kind of hook: %j", async (given) => {
    for (const hook of hooks)
      expect(await answerOf(hook, given)).toEqual({
        status: 500,
        logged: expect.stringContaining(`the hook ${hook} gave`),
      });
  });

  it("[OW11] is one with any of its fields, for each kind of hook", async () => {
    for (const hook of hooks) {
      const fields = Object.fromEntries((resultFields[hook] ?? []).map((name) => [name, "x"]));
      expect(await answerOf(hook, { result: fields })).toEqual({ status: 200, logged: "" });
      expect(await answerOf(hook, undefined)).toEqual({ status: 200, logged: "" });
    }
  });

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

/** How a function is answered for that gives this, and the line in the log; "" for none. */
async function answerOf(hook: string, given: unknown): Promise<{ status: number; logged: string }> {
  const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const give = (): Promise<never> =>
    new Promise((resolve) => Reflect.apply(resolve, undefined, [given]));
  const functions = {
    onConnect: give,
    onRefresh: give,
    onSubscribe: give,
    onPublish: give,
    onRpc: give,
  };
  const init = { method: "POST", body: "{}" };
  const response = await functionsService(functions)?.fetch(`https://hooks/${hook}`, init);
  const lines = logged.mock.calls.flat().join(" ");
  logged.mockRestore();
  return { status: response?.status ?? 0, logged: lines };
}

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
