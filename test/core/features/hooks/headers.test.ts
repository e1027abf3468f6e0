import { describe, expect, it } from "vitest";
import {
  afterConnect,
  fitHeaders,
  handshakeHeaders,
  headersFor,
  withEmulated,
} from "../../../../src/features/hooks/headers.ts";
import type { HookTarget } from "../../../../src/config/config.ts";
import { hookLimits } from "../../../../src/features/hooks/limits.ts";
import { target } from "./targets.ts";

function targets(...all: readonly HookTarget[]): ReadonlyMap<string, HookTarget> {
  return new Map(all.map((one) => [one.name, one]));
}

const connect = target({ name: "client.proxy.connect", httpHeaders: ["cookie", "x-ip"] });
const rpc = target({ httpHeaders: ["x-ip"], emulatedHeaders: ["authorization"] });
const publish = target({ name: "proxies.a", httpHeaders: ["authorization"] });

describe("[Q8] the headers of a connection", () => {
  it("are those of the handshake that a hook names", () => {
    const request = new Map([
      ["cookie", "a=b"],
      ["x-ip", ""],
      ["x-secret", "s"],
    ]);
    expect(handshakeHeaders(targets(connect, rpc), (name) => request.get(name))).toStrictEqual([
      ["cookie", "a=b"],
    ]);
    expect(handshakeHeaders(targets(rpc), (name) => request.get(name))).toBeUndefined();
  });

  it("are those of the connect command only where a hook names them as emulated", () => {
    const sent = new Map([
      ["Authorization", "Bearer t"],
      ["X-IP", "10.0.0.1"],
      ["cookie", "a=c"],
    ]);
    const kept = withEmulated(targets(connect, rpc), { http: [["x-ip", "10.0.0.2"]] }, sent);
    expect(kept).toStrictEqual({
      http: [["x-ip", "10.0.0.2"]],
      emulated: [["authorization", "Bearer t"]],
    });
    expect(headersFor(rpc, kept)).toStrictEqual([
      ["x-ip", "10.0.0.2"],
      ["authorization", "Bearer t"],
    ]);
    // A client can't pass its own header off as one of the handshake.
    expect(headersFor(publish, kept)).toStrictEqual([]);
    expect(headersFor(connect, kept)).toStrictEqual([["x-ip", "10.0.0.2"]]);
  });

  it("of the handshake go before those of the connect command", () => {
    const both = target({ httpHeaders: ["a"], emulatedHeaders: ["a"] });
    expect(headersFor(both, { http: [["a", "1"]], emulated: [["a", "2"]] })).toStrictEqual([
      ["a", "1"],
    ]);
    expect(headersFor(both, { emulated: [["a", "2"]] })).toStrictEqual([["a", "2"]]);
  });

  it.each(["a\r\nx-other: b", "a\nb", " a", "\u{1F600}"])("have no value such as %j", (value) => {
    const kept = withEmulated(targets(rpc), {}, new Map([["authorization", value]]));
    expect(kept).toStrictEqual({});
  });

  it("are kept after connect as far as other hooks get them", () => {
    const kept = {
      http: [
        ["cookie", "a=b"],
        ["x-ip", "1"],
      ],
    } as const;
    expect(afterConnect(targets(connect, rpc), kept)).toStrictEqual({ http: [["x-ip", "1"]] });
    expect(afterConnect(targets(connect), kept)).toBeUndefined();
    expect(afterConnect(targets(rpc), {})).toBeUndefined();
  });

  it("[B2] are bounded together", () => {
    const most = hookLimits.hookHeadersLengthMax - 1;
    expect(fitHeaders({ http: [["a", "x".repeat(most)]] })).toBe(true);
    expect(fitHeaders({ http: [["a", "x".repeat(most)]], emulated: [["b", ""]] })).toBe(false);
  });
});
