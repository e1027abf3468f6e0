import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { carryOut } from "../../../workers/embedded/commands.ts";
import { dormouse } from "../../../workers/embedded/dormouse.ts";

const app = new URL("http://example.com");

describe("a Worker of one's own", () => {
  it("[OW1] refuses a prefix that can't be one", () => {
    for (const prefix of ["", "/", "realtime", "/realtime/", "/a b"])
      expect(() => dormouse({ prefix })).toThrow(/prefix of dormouse\(\) must be a path/);
  });

  it("[OW1] [OW7] has one configuration, and says which routes aren't its own", async () => {
    const realtime = dormouse({ prefix: "/realtime", user: () => "ann" });
    expect(() => dormouse({ prefix: "/other" })).toThrow(/dormouse\(\) was called twice/);
    const misplaced = await realtime.app.fetch(new Request(new URL("/news", app)), env);
    expect([misplaced.status, await misplaced.text()]).toEqual([
      503,
      expect.stringContaining('mount it with app.route("/realtime", realtime.app)'),
    ]);
  });

  it("[OW7] names the bindings that it lacks", async () => {
    const { CHANNELS: _, ...without } = env;
    await expect(
      carryOut(without, "publish", { channel: "news", data: 1 }, { name: "test" }),
    ).rejects.toThrow(/binding CHANNELS to the class ChannelObject is missing/);
  });
});
