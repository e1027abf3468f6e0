import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { carryOut } from "../../../workers/embedded/commands.ts";
import { configurationOf } from "../../../workers/platform/configuration.ts";
import { placedEnv } from "../../../workers/platform/placed-env.ts";
import { describe, expect, it, vi } from "vitest";
import { placementRecord } from "../../../src/contract/object-calls.ts";
import { homeName } from "../../../src/contract/object-names.ts";
import { disconnectCodes } from "../../../src/protocol/codes.ts";
import { UsersObject } from "../../../workers/objects/users-object.ts";
import { address, answerOf, postWith, fetchWith } from "../support/api-request.ts";
import { newChannel } from "../support/new-channel.ts";
import { placedClasses } from "./placed-classes.ts";
import { testConfig } from "../support/test-config.ts";

type Found = Parameters<typeof placedClasses>[0];

/** An isolate of the edge with a placement of its own. */
function placedEdge(placement: Readonly<Record<string, string>>, more: object = {}) {
  const found: Found = [];
  const differences = {
    ...placedClasses(found),
    config: { ...testConfig, placement },
    ...more,
  };
  const call = async (method: string, request: object) =>
    answerOf(await postWith(differences, `/api/${method}`, JSON.stringify(request)));
  const upgrade = (path: string, cf: CfProperties = {}) =>
    fetchWith(differences, new Request(address(path), { headers: { Upgrade: "websocket" }, cf }));
  return { call, upgrade, found };
}

describe("objects in a jurisdiction", () => {
  it("[PL4] [PL5] are refused on a server in use, until the operator says what was before", async () => {
    const channel = newChannel("room");
    const publication = { channel, data: {} };
    const first = placedEdge({ jurisdiction: "eu" });
    const refused = await first.call("publish", publication);
    expect(refused.status).toBe(503);
    expect(refused.body).toContain("users and directory");
    expect(refused.body).toContain('placement.jurisdiction_before to "new"');
    expect(first.found).toEqual([{ of: "home", name: placementRecord }]);

    const stated = placedEdge({ jurisdiction: "eu", jurisdiction_before: "new" });
    expect((await stated.call("publish", publication)).status).toBe(200);
    expect(stated.found).toEqual([
      { of: "home", name: placementRecord },
      { of: "channel", name: channel, jurisdiction: "eu" },
    ]);

    const changed = placedEdge({ jurisdiction: "us" });
    const conflict = await changed.call("publish", publication);
    expect(conflict.status).toBe(503);
    expect(conflict.body).toContain('in jurisdiction "eu"');
    expect(conflict.body).toContain('placement.jurisdiction_before to "eu"');

    const removed = await placedEdge({ jurisdiction: "none" }).call("publish", publication);
    expect(removed.status).toBe(503);

    expect((await placedEdge({ jurisdiction: "eu" }).call("publish", publication)).status).toBe(
      200,
    );
    const left = placedEdge({ jurisdiction: "us", jurisdiction_before: "eu" });
    expect((await left.call("publish", publication)).status).toBe(200);
    const back = placedEdge({ jurisdiction: "eu", jurisdiction_before: "us" });
    expect((await back.call("publish", publication)).status).toBe(200);
  });

  it("[PL1] [PL3] are all in it: gateways, homes, and what answers questions", async () => {
    const edge = placedEdge({ jurisdiction: "eu", jurisdiction_before: "new" });
    const response = await edge.upgrade("/connection/websocket", { continent: "NA" });
    expect(response.status).toBe(101);
    response.webSocket?.accept();
    response.webSocket?.close();
    await edge.call("connections", { user: "ada" });
    const told = await edge.call("info", {});
    expect(told.body).toContain('"placement":{"users":{"jurisdiction":"eu"}');
    const others = edge.found.filter(({ name }) => name !== placementRecord);
    expect(others.length).toBeGreaterThan(3);
    for (const one of others) {
      expect(one.jurisdiction).toBe("eu");
      // The region's hint is outside of the jurisdiction.
      expect(one.locationHint).toBeUndefined();
    }
  });

  it("[PL1] [PL4] [OW4] are in it for the Worker's own commands, too", async () => {
    const found: Found = [];
    const channel = newChannel("room");
    const settings = { jurisdiction: "eu", jurisdiction_before: "new" };
    const bound = (placement: Readonly<Record<string, string>>) => ({
      ...env,
      ...placedClasses(found),
      config: { ...testConfig, placement },
    });
    const publish = (to: object) =>
      carryOut(to, "publish", { channel, data: {} }, { name: "test" });
    const isolate = bound(settings);
    await publish(isolate);
    await publish(isolate);
    // An isolate that has agreed doesn't ask again.
    expect(found).toEqual([
      { of: "home", name: placementRecord },
      { of: "channel", name: channel, jurisdiction: "eu" },
      { of: "channel", name: channel, jurisdiction: "eu" },
    ]);
    vi.spyOn(console, "warn").mockReturnValue();
    await expect(publish(bound({ jurisdiction: "us" }))).rejects.toMatchObject({
      detail: expect.stringContaining('in jurisdiction "eu"'),
    });
    vi.restoreAllMocks();
  });

  it("[PL1] are in it where counters are kept, too", () => {
    const found: Found = [];
    const config = { ...testConfig, placement: { jurisdiction: "eu" } };
    const bound = { ...env, ...placedClasses(found), config };
    const configuration = configurationOf(bound);
    if (configuration.outcome === "unconfigured") throw new Error(configuration.problems.join());
    placedEnv(bound, configuration.config).METRICS?.getByName("0");
    expect(found).toEqual([{ of: "metrics", name: "0", jurisdiction: "eu" }]);
  });

  it("[PL1] are in it for the calls of other objects, too", async () => {
    const found: Found = [];
    const config = { ...testConfig, placement: { jurisdiction: "eu" } };
    const user = crypto.randomUUID();
    await runInDurableObject(env.USERS.getByName(homeName(user)), async (_, state) => {
      const home = new UsersObject(state, { ...env, ...placedClasses(found), config });
      await home.register("gateway:any/0", [user]);
      await home.order(user, [{ method: "disconnect", code: disconnectCodes.forceDisconnect }]);
    });
    expect(found).toContainEqual({ of: "gateway", name: "any/0", jurisdiction: "eu" });
  });

  it("[PL6] show in the answer to inspect", async () => {
    const channel = newChannel("room");
    const edge = placedEdge({ jurisdiction: "eu", location: "weur", jurisdiction_before: "new" });
    const { body } = await edge.call("inspect", { channel });
    expect(body).toContain('"placement":{"jurisdiction":"eu","location":"weur"}');
  });
});

describe("a location", () => {
  it("[PL2] is where objects are created, without a record", async () => {
    const channel = newChannel("room");
    const edge = placedEdge({ location: "apac", gateway_location: "sam" });
    await edge.call("publish", { channel, data: {} });
    const response = await edge.upgrade("/connection/websocket", { continent: "EU" });
    response.webSocket?.accept();
    response.webSocket?.close();
    expect(edge.found).toEqual([
      { of: "channel", name: channel, locationHint: "apac" },
      { of: "gateway", name: "eu/0", locationHint: "sam" },
    ]);
  });
});

describe("a jurisdiction on a machine of one's own", () => {
  it("[PL7] has no effect, and the log says so", async () => {
    const warned = vi.spyOn(console, "warn").mockReturnValue();
    const channel = newChannel("room");
    const edge = placedEdge({ jurisdiction: "eu" }, { SELF_HOSTED: "true" });
    expect((await edge.call("publish", { channel, data: {} })).status).toBe(200);
    expect(edge.found).toEqual([{ of: "channel", name: channel }]);
    expect(warned.mock.calls.flat().join()).toContain("jurisdictions have no effect");
    warned.mockRestore();
  });

  it("[PL7] is refused by a runtime that says nothing of being one", async () => {
    const config = { ...testConfig, placement: { jurisdiction: "eu", jurisdiction_before: "new" } };
    const failed = vi.spyOn(console, "error").mockReturnValue();
    const response = await postWith({ config, USERS: env.USERS }, "/api/publish", "{}");
    expect(response.status).toBe(503);
    expect(await response.text()).toContain("has no jurisdictions");
    failed.mockRestore();
  });
});
