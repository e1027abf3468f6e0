import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { Hono } from "hono";
import { describe, expect, it, vi } from "vitest";
import { carryOut } from "../../../workers/embedded/commands.ts";
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
