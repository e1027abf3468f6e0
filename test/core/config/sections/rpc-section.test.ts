import { describe, expect, it } from "vitest";
import { configOf, problemsOf } from "../parsed.ts";

const noHooks = { namespaceBoundary: ":", namespaces: new Map() };

describe("[A8] the rpc section", () => {
  it.each([true, false])("takes %j for ping.enabled", (enabled) => {
    const { rpc } = configOf({ rpc: { ping: { enabled, method: "ping" }, namespaces: [] } });
    expect(rpc).toStrictEqual({ pingEnabled: enabled, ...noHooks });
  });

  it.each([
    ["no section", {}],
    ["an empty one", { rpc: {} }],
    ["an empty ping", { rpc: { ping: {} } }],
  ])("answers no method for %s", (_, input) => {
    expect(configOf(input).rpc).toStrictEqual({ pingEnabled: false, ...noHooks });
  });

  it("takes any namespace_boundary", () => {
    expect(configOf({ rpc: { namespace_boundary: "/" } }).rpc.namespaceBoundary).toBe("/");
  });

  it.each<[object, string]>([
    [{ ping: true }, "rpc.ping must be an object, found a boolean"],
    [{ ping: { enabled: "true" } }, "rpc.ping.enabled must be true or false, found a string"],
    [{ ping: { enable: true } }, "rpc.ping.enable is unknown; did you mean enabled?"],
    [{ pings: {} }, "rpc.pings is unknown; did you mean ping?"],
    [{ namespace_boundary: 1 }, "rpc.namespace_boundary must be a string, found a number"],
    [{ without_namespace: { proxy: true } }, "rpc.without_namespace.proxy is unknown"],
  ])("refuses %j", (rpc, problem) => {
    expect(problemsOf({ rpc })).toEqual([problem]);
  });
});
