import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { packageRoot } from "../../../cli/package-root.ts";
import { startDormouse } from "../../../package/test/index.ts";
import { WorkerFolder } from "../../support/servers/worker-folder.ts";
import { checkNodeVersion } from "../../../package/test/node-version.ts";

const orders = { allow_subscribe_for_client: true, history_size: 100, history_ttl: "5m" };
const config = { channel: { namespaces: [{ name: "orders", ...orders, force_recovery: true }] } };

describe("startDormouse", () => {
  it("[TK1] leaves nothing on the disk", async () => {
    const before = folders();
    const rt = await startDormouse({ config });
    expect(rt.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    await rt.publish("orders:ann", 1);
    const made = folders().filter((name) => !before.includes(name));
    expect(made.length).toBeGreaterThan(0);
    await rt.stop();
    expect(folders()).not.toEqual(expect.arrayContaining([...before, ...made]));
  });

  it("[TK1] [TK4] runs a Worker of one's own", async () => {
    const worker = "test/clients/kit/own-worker.js";
    // As `npm start` has made it from the example.
    const project = new WorkerFolder("", { API_KEY: "development-api-key" });
    const wrangler = project.configFile;
    const rt = await startDormouse({ worker, wrangler, variables: { config } });
    try {
      expect(await (await fetch(`${rt.url}/own`)).text()).toBe("mine");
      const ann = await rt.client({ user: "ann", subscribe: "orders:ann" });
      await rt.publish("orders:ann", 1);
      await rt.evict("orders:ann");
      await rt.publish("orders:ann", 2);
      expect(await ann.received("orders:ann", 2)).toEqual([1, 2]);
    } finally {
      await rt.stop();
      project.remove();
    }
  });

  it("[TK1] [OW17] runs a Worker of one's own that has the server below a prefix, and a framework's application", async () => {
    const rt = await startDormouse({
      worker: "test/clients/kit/prefixed-worker.js",
      wrangler: false,
      prefix: "/realtime",
    });
    try {
      expect(rt.url).toMatch(/\/realtime$/);
      expect(await (await fetch(`${rt.origin}/own`)).text()).toBe("mine");
      const ann = await rt.client({ user: "ann", subscribe: "orders:ann" });
      await rt.publish("orders:ann", 1);
      expect(await ann.received("orders:ann", 1)).toEqual([1]);
      expect(await rt.published("orders:ann")).toEqual([1]);
      await fetch(`${rt.origin}/own`, { method: "POST", body: '{"item":"tea"}' });
      expect(await ann.received("orders:ann", 2)).toEqual([1, { item: "tea" }]);
      const called = await fetch(`${rt.origin}/own`, { method: "DELETE" });
      expect(await called.json()).toEqual([{ isBackend: true }, 1001]);
      expect(await ann.received("orders:ann", 3)).toContainEqual({ cancelled: "tea" });
      expect(Object.keys(rt.env)).toContain("CHANNELS");
    } finally {
      await rt.stop();
    }
  });

  it("[TK2] says that it can't know what was published, where events lack that type", async () => {
    const target = "https://example.com/events";
    const events = { target, types: ["channel_occupied", "channel_vacated"] };
    const rt = await startDormouse({ config: { ...config, events } });
    try {
      await rt.publish("orders:ann", 1);
      await expect(rt.published("orders:ann")).rejects.toThrow(
        'published: the configuration has events without "publication" in their types',
      );
    } finally {
      await rt.stop();
    }
  });

  it.each<readonly [object, string | RegExp]>([
    [{ confg: {} }, "there is no option confg; the options are config, hooks"],
    [{ prefix: "/realtime" }, "prefix is for a worker of one's own"],
    [{ worker: "a.ts", config: {} }, "config can't be given for a worker of one's own"],
    [{ worker: "absent.ts" }, /worker: there is no file .*absent\.ts/],
    [{ worker: "a.ts", prefix: "realtime/" }, "prefix must begin with / and not end with it"],
    [{ hooks: { onSubscripe: () => ({}) } }, "hooks: onSubscripe is no hook; the hooks are onConn"],
    [{ config: { channel: { history_siz: 1 } } }, "channel.history_siz"],
  ])("[TK10] refuses %o", async (options, message) => {
    await expect(startDormouse(options)).rejects.toThrow(message);
  });
});

describe("[OW14] a Worker of one's own whose configuration can't be right", () => {
  it("is refused with its problems and their values, whatever stands before the server", async () => {
    const folder = mkdtempSync(join(tmpdir(), "dormouse-test-"));
    const worker = join(folder, "worker.js");
    const source = JSON.stringify(join(packageRoot, "package", "index.ts"));
    writeFileSync(
      worker,
      `import { dormouse } from ${source};
       export * from ${source};
       dormouse({ prefix: "/realtime", config: { client: { ping_interval: "often" } } });
       export default { fetch: () => new Response("log in first", { status: 401 }) };`,
    );
    try {
      const started = startDormouse({ worker, wrangler: false, prefix: "/realtime" });
      await expect(started).rejects.toThrow(
        /refuses to serve:\nclient\.ping_interval: "often" is not a duration/,
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

/** The folders of servers that run. */
function folders(): readonly string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith("dormouse-kit-"));
}

it("[TK1] the kit says which Node.js it needs, where an older one runs it", () => {
  expect(() => checkNodeVersion("20.11.0")).toThrow(
    "the test kit needs Node.js 22 or newer; this is 20.11.0",
  );
  for (const version of ["22.0.0", process.versions.node]) checkNodeVersion(version);
});
