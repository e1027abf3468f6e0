import type { HookTarget } from "../../../../src/config/config.ts";

/** A target with the defaults of the configuration, except for the given fields. */
export function target(more: Partial<HookTarget> = {}): HookTarget {
  return {
    name: "rpc.proxy",
    endpoint: { kind: "url", url: "https://backend.example/rpc" },
    timeoutMs: 1_000,
    httpHeaders: [],
    emulatedHeaders: [],
    staticHeaders: [],
    statuses: new Map(),
    binaryEncoding: false,
    includesMeta: false,
    ...more,
  };
}
