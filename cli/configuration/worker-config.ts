import type { Command } from "commander";
import type { Config } from "../../src/config/config.ts";
import { parseConfig } from "../../src/config/parse-config.ts";
import { missingBindings } from "../../src/contract/bindings.ts";
import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../src/protocol/wire-value.ts";
import { wranglerFiles } from "./wrangler.ts";
import { environmentProblem } from "./environments.ts";
import { type WorkerSettings, workerSettings } from "./worker-settings.ts";
import { firstOf, readDocument } from "./document.ts";
import { refusal, type Shell, usageFailure } from "../shell.ts";

/** The options of every command that reads a configuration. */
export interface ConfigOptions {
  readonly config?: string;
  readonly env?: string;
}

/** A configuration as it stands in a file, not yet checked. */
export interface FoundConfig {
  /** The file, as a person would name it. */
  readonly file: string;
  /** The configuration, or its JSON text; undefined if the file has none, which is the default. */
  readonly input: JsonValue | undefined;
  /** The variables of the Worker, of which the configuration is one; none if the file isn't wrangler's. */
  readonly variables: JsonObject;
  /**
   * Problems of the file around the configuration: bindings of objects that are missing.
   *
   * @param collectsMetrics whether the configuration switches metrics on
   */
  problems(collectsMetrics: boolean): readonly string[];
  /** The Worker around the configuration; absent if the file isn't wrangler's. */
  readonly worker?: FoundWorker;
}

/** What wrangler's file says of a Worker, in an environment. */
export interface FoundWorker {
  /** The environment; "" for the top level. */
  readonly environment: string;
  /** The path of the main module from the file's folder; undefined if the file names none. */
  readonly main: string | undefined;
  /** Whether the file has a command that makes the Worker's files. */
  readonly isBuilt: boolean;
  readonly settings: WorkerSettings;
}

/** Adds the options of {@link ConfigOptions} to a command. */
export function withConfig(command: Command): Command {
  return command
    .option("-c, --config <file>", `the configuration (default: ${wranglerFiles.join(", ")})`)
    .option("-e, --env <name>", "the environment in wrangler's file");
}

/**
 * Finds the configuration: in wrangler's file, under `vars.config` of the environment, or a file that is nothing but
 * the configuration, such as Centrifugo's.
 *
 * @returns undefined if no file is named and there is none
 * @throws {Failure} if the file can't be read, or doesn't have the environment
 */
export function findConfig({ config, env }: ConfigOptions, shell: Shell): FoundConfig | undefined {
  const file = config ?? firstOf(wranglerFiles, shell.folder);
  if (file === undefined) return undefined;
  const document = readDocument(file, shell);
  if (!isWranglers(document)) {
    if (env !== undefined && env !== "")
      throw usageFailure(`${file} isn't wrangler's, so it has no --env`);
    return { file, input: document, variables: {}, problems: () => [] };
  }
  const worker =
    env === undefined || env === "" ? document : objectAt(objectAt(document, "env"), env);
  const environments = Object.keys(objectAt(document, "env") ?? {});
  const unknown = environmentProblem(file, env, environments);
  if (worker === undefined) throw usageFailure(unknown ?? `${file} has no environment ${env}`);
  const unbound = (collectsMetrics: boolean) => unboundObjects(worker, collectsMetrics);
  const variables = objectAt(worker, "vars") ?? {};
  return {
    file,
    input: variables["config"],
    variables,
    problems: unbound,
    worker: foundWorker(file, env ?? "", { ...document, ...worker }),
  };
}

/** @param merged the values of the environment, and of the top level those that it inherits */
function foundWorker(file: string, environment: string, merged: JsonObject): FoundWorker {
  const { main } = merged;
  return {
    environment,
    main: typeof main === "string" ? main : undefined,
    isBuilt: objectAt(merged, "build")?.["command"] !== undefined,
    settings: workerSettings(file, merged),
  };
}

/**
 * The checked configuration that a command works with: that of the file, or all defaults if there is none.
 *
 * @throws {Failure} if the configuration is invalid
 */
export function checkedConfig(options: ConfigOptions, shell: Shell): Config {
  const found = findConfig(options, shell);
  const parsed = parseConfig(found?.input, { development: true });
  if (parsed.outcome === "config") return parsed.config;
  throw refusal(
    `${found?.file} is invalid, see dormouse check: ${parsed.problems.slice(0, 3).join("; ")}`,
  );
}

function isWranglers(document: JsonObject): boolean {
  return ["main", "compatibility_date", "durable_objects", "vars"].some((key) =>
    Object.hasOwn(document, key),
  );
}

function unboundObjects(worker: JsonObject, collectsMetrics: boolean): readonly string[] {
  const bindings = objectAt(worker, "durable_objects")?.["bindings"] ?? [];
  const listed = isJsonArray(bindings) ? bindings.filter(isJsonObject) : [];
  return missingBindings(
    (name, className) =>
      listed.some((one) => one["name"] === name && one["class_name"] === className),
    collectsMetrics,
  );
}

function objectAt(parent: JsonObject | undefined, key: string): JsonObject | undefined {
  const value = parent?.[key];
  return value !== undefined && isJsonObject(value) ? value : undefined;
}
