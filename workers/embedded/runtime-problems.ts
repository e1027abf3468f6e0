import { exports } from "cloudflare:workers";
import { missingClasses } from "../../src/contract/bindings.ts";
import { flagProblem, runtimeFlags } from "../../src/contract/runtime-flags.ts";

/**
 * What the Worker lacks, so that no request below the prefix could be served: a sentence for each problem (rules OW7 and
 * OW13). What only some requests need is in the log: a request that works is never refused.
 */
export function runtimeProblems(): readonly string[] {
  const off = runtimeFlags.filter(({ name }) => isOff(name));
  for (const flag of off) if (flag.neededBy !== "connections") console.warn(flagProblem(flag));
  return [
    ...off.filter(({ neededBy }) => neededBy === "connections").map(flagProblem),
    // Cloudflare fills the exports in with this flag alone.
    ...(isOff("enable_ctx_exports") ? [] : missingClasses((name) => name in exports)),
  ];
}

/** Whether the runtime says that a compatibility flag is off. An older one says nothing. */
function isOff(name: string): boolean {
  const platform: unknown = Reflect.get(globalThis, "Cloudflare");
  return parseFlag(platform, name) === false;
}

function parseFlag(platform: unknown, name: string): unknown {
  if (typeof platform !== "object" || platform === null) return undefined;
  const flags: unknown = Reflect.get(platform, "compatibilityFlags");
  return typeof flags === "object" && flags !== null ? Reflect.get(flags, name) : undefined;
}
