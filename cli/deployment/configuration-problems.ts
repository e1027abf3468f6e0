import { existsSync } from "node:fs";
import { basename } from "node:path";
import type { Config } from "../../src/config/config.ts";
import { parseConfig } from "../../src/config/parse-config.ts";
import { type Target } from "../../src/config/targets.ts";
import { targetsOf } from "../../src/features/sections.ts";
import { missingBindings } from "../../src/contract/bindings.ts";
import {
  type Target as WranglerTarget,
  targetOf,
  variablesOf,
} from "../configuration/command-line.ts";
import { developmentVariables } from "../configuration/development-variables.ts";
import { environmentProblem } from "../configuration/environments.ts";
import { queueProblems } from "./queue-problems.ts";
import { parseFile } from "../configuration/document.ts";
import { isJsonObject } from "../../src/protocol/wire-value.ts";
import { textFault, textOf } from "../configuration/text-file.ts";
import { configurationFile, wranglerConfigOf } from "./wrangler-config.ts";

/**
 * Checks the configuration of a Worker before the Worker gets it, and prints its problems.
 *
 * @param options wrangler's command line
 * @param use what the Worker is for; one that isn't for development may have no variable of `npm start`
 * @returns the parsed configuration; undefined if it is invalid
 */
export function checkConfiguration(
  options: readonly string[],
  use: "development" | "deployment" | "hosting",
): Config | undefined {
  const target = targetOf(options);
  const read = readConfiguration(target);
  if (read.outcome === "bad") {
    console.error(`The configuration is invalid:\n  ${read.problem}`);
    return undefined;
  }
  const { wranglerConfig } = read;
  const parsed = parseConfig(target.config ?? wranglerConfig.vars["config"], {
    development: use === "development",
    selfHosted: use !== "deployment",
  });
  const collectsMetrics = parsed.outcome === "config" && parsed.config.prometheus.counts;
  const problems = [
    ...unboundObjects(wranglerConfig, collectsMetrics),
    ...(use !== "development"
      ? developmentVariables({ ...wranglerConfig.vars, ...variablesOf(options) })
      : []),
    ...(parsed.outcome === "bad"
      ? parsed.problems
      : [
          ...unboundTargets(targetsOf(parsed.config), wranglerConfig),
          ...queueProblems(parsed.config.consumers, wranglerConfig.queues),
        ]),
  ];
  if (parsed.outcome === "config" && problems.length === 0) {
    for (const note of parsed.notes) console.log(`Note: ${note}`);
    return parsed.config;
  }
  const lines = problems.map((problem) => `  ${problem}`).join("\n");
  console.error(`The configuration is invalid:\n${lines}`);
  return undefined;
}

type ReadConfiguration =
  | { readonly outcome: "read"; readonly wranglerConfig: ReturnType<typeof wranglerConfigOf> }
  | { readonly outcome: "bad"; readonly problem: string };

/** Reads wrangler's file, or says why it can't be read, without a line of it (rule A7). */
function readConfiguration(target: WranglerTarget): ReadConfiguration {
  const file = configurationFile(target);
  const fault = existsSync(file) ? textFault(file) : undefined;
  if (fault !== undefined) return { outcome: "bad", problem: fault };
  const unknown = unknownEnvironment(file, target);
  if (unknown !== undefined) return { outcome: "bad", problem: unknown };
  try {
    return { outcome: "read", wranglerConfig: wranglerConfigOf(target) };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const [first = ""] = error.message.split("\n");
    return { outcome: "bad", problem: `${file} can't be read: ${first}` };
  }
}

/** The problem of an environment that the file doesn't have; wrangler says what else is wrong with the file. */
function unknownEnvironment(file: string, { environment }: WranglerTarget): string | undefined {
  const parsed = existsSync(file) ? parseFile(basename(file), textOf(file)) : undefined;
  if (parsed?.outcome !== "document") return undefined;
  const { env = {} } = parsed.document;
  const asked = environment ?? process.env["CLOUDFLARE_ENV"];
  return environmentProblem(file, asked, isJsonObject(env) ? Object.keys(env) : []);
}

/** Problems of the bindings by which the Worker reaches other Workers and queues. */
function unboundTargets(
  targets: readonly Target[],
  { services = [], queues }: ReturnType<typeof wranglerConfigOf>,
): readonly string[] {
  return targets.flatMap(({ key, endpoint }) => {
    switch (endpoint.kind) {
      case "url":
        return [];
      case "queue": {
        const { binding } = endpoint;
        const isBound = (queues?.producers ?? []).some(
          (one: { readonly binding: string }) => one.binding === binding,
        );
        return isBound
          ? []
          : [`${key}: ${binding} is not a binding of [[queues.producers]] in wrangler.toml`];
      }
      case "service":
        return unboundService(key, endpoint, services);
    }
  });
}

function unboundService(
  key: string,
  { binding, entrypoint }: Extract<Target["endpoint"], { readonly kind: "service" }>,
  services: readonly ServiceBinding[],
): readonly string[] {
  const bound = services.find((one) => one.binding === binding);
  if (bound === undefined)
    return [`${key}: ${binding} is not a binding of [[services]] in wrangler.toml`];
  return entrypoint === undefined || bound.entrypoint === entrypoint
    ? []
    : [`${key}: the binding ${binding} has no entrypoint = "${entrypoint}"`];
}

/** An entry of `[[services]]`. */
interface ServiceBinding {
  readonly binding: string;
  readonly entrypoint?: string | undefined;
}

function unboundObjects(
  wranglerConfig: ReturnType<typeof wranglerConfigOf>,
  collectsMetrics: boolean,
): readonly string[] {
  const { bindings } = wranglerConfig.durable_objects;
  const isBound = (name: string, className: string) =>
    bindings.some(
      (one: { readonly name: string; readonly class_name: string }) =>
        one.name === name && one.class_name === className,
    );
  return missingBindings(isBound, collectsMetrics);
}
