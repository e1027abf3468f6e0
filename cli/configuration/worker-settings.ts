import type { Config } from "../../src/config/config.ts";
import {
  type Compatibility,
  compression,
  isOn,
  type RuntimeFlag,
  runtimeFlags,
} from "../../src/contract/runtime-flags.ts";
import { isJsonArray, type JsonObject } from "../../src/protocol/wire-value.ts";

/** What wrangler's file says of how a Worker runs. */
export interface WorkerSettings {
  /** Undefined if the file has no date: wrangler then asks for one. */
  readonly compatibility: Compatibility | undefined;
  /** Whether wrangler makes the bundle small; undefined where another program bundles. */
  readonly minify: boolean | undefined;
  /** Whether the file is TOML; otherwise it is JSON. */
  readonly isToml: boolean;
}

/** What is wrong with settings, and what could be better: a sentence for each, with the line that mends it. */
export interface SettingsReport {
  readonly problems: readonly string[];
  readonly notes: readonly string[];
}

/**
 * Reads the settings of wrangler's file.
 *
 * @param file   its name
 * @param worker its values in an environment, with those that are inherited
 */
export function workerSettings(file: string, worker: JsonObject): WorkerSettings {
  const { compatibility_date: date, compatibility_flags: flags = [], minify } = worker;
  return {
    compatibility:
      typeof date === "string"
        ? { date, flags: isJsonArray(flags) ? flags.filter((one) => typeof one === "string") : [] }
        : undefined,
    minify: worker["no_bundle"] === true ? undefined : minify === true,
    isToml: file.endsWith(".toml"),
  };
}

/**
 * Checks the settings of a Worker (rule OW13).
 *
 * @param config what the Worker is configured for, which may not need each flag; undefined if that isn't known
 */
export function settingsReport(
  { compatibility, minify, isToml }: WorkerSettings,
  config: Config | undefined,
): SettingsReport {
  const [problems, notes]: [string[], string[]] = [[], []];
  if (compatibility !== undefined) {
    const off = runtimeFlags.filter((flag) => !isOn(flag, compatibility));
    const mended = withFlags(compatibility, off);
    for (const flag of off)
      (isNeeded(flag, config) ? problems : notes).push(
        offProblem(flag, compatibility, flagsLine(mended, isToml)),
      );
    if (isOn(compression, compatibility))
      notes.push(
        `${compression.advice}: write ${flagsLine([...mended, compression.opposite], isToml)}`,
      );
  }
  if (minify === false)
    notes.push(
      `the bundle has 441 KiB, and 266 KiB if it is minified: write ${isToml ? "minify = true" : '"minify": true'}`,
    );
  return { problems, notes };
}

function isNeeded({ neededBy }: RuntimeFlag, config: Config | undefined): boolean {
  if (config === undefined) return true;
  switch (neededBy) {
    case "connections":
    case "recovery":
      return true;
    case "streams": {
      const { sse, httpStream, uniSse, uniHttpStream } = config.transports;
      return sse || httpStream || uniSse || uniHttpStream;
    }
    case "hooks":
      return config.hooks.targets.size > 0;
  }
}

function offProblem(flag: RuntimeFlag, { date, flags }: Compatibility, line: string): string {
  const { name, opposite, since, without } = flag;
  const why = flags.includes(opposite)
    ? `the flag ${opposite} switches it off. Write ${line}`
    : `compatibility_date ${date} is before ${since}. Write ${line}, or a later date`;
  return `without the compatibility flag ${name} ${without}: ${why}`;
}

/** The flags of a Worker with others, and without what switches these off. */
function withFlags(
  { date, flags }: Compatibility,
  added: readonly RuntimeFlag[],
): readonly string[] {
  const opposites = new Set(added.map(({ opposite }) => opposite));
  const kept = flags.filter((one) => !opposites.has(one));
  // The platform refuses a flag that is on by the date.
  const written = added.filter(({ since }) => date < since);
  return [...kept, ...written.map(({ name }) => name)];
}

function flagsLine(flags: readonly string[], isToml: boolean): string {
  const list = `[${flags.map((one) => JSON.stringify(one)).join(", ")}]`;
  return isToml ? `compatibility_flags = ${list}` : `"compatibility_flags": ${list}`;
}
