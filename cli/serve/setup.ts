/**
 * What `npm run serve` runs in workerd: the production bundle, the bindings and the secrets, all by the command line, the
 * configuration and the sources as they are on the disk now.
 */
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { secretProblems } from "../../src/access/secrets.ts";
import type { Config } from "../../src/config/config.ts";
import { targetsOf } from "../../src/features/sections.ts";
import { secretUses } from "../../src/config/secret-uses.ts";
import { buildConsole } from "../build/build-console.ts";
import { keptBundle } from "../build/kept-bundle.ts";
import { checkConfiguration } from "../deployment/configuration-problems.ts";
import { streamProbeMs } from "./local-server.ts";
import { parseServeOptions, type ServeOptions } from "./serve-options.ts";
import { type ServedSecrets, servedSecrets } from "../deployment/secrets.ts";
import type { WorkerdSetup } from "./workerd.ts";
import { configurationFile, wranglerConfigOf } from "../deployment/wrangler-config.ts";

/** A setup that has passed all checks, except for those of the Worker itself. */
export interface Checked {
  readonly options: ServeOptions;
  readonly setup: Omit<WorkerdSetup, "modules">;
  /** Where its secrets come from, for a person. */
  readonly source: string;
}

export type CheckedSetup =
  | ({ readonly outcome: "checked" } & Checked)
  | { readonly outcome: "help" }
  /** The problem; undefined if it has been printed. */
  | { readonly outcome: "bad"; readonly problem: string | undefined };

/** Checks the command line, the configuration and the secrets. */
export function checkedSetup(args: readonly string[]): CheckedSetup {
  const parsed = parseServeOptions(args);
  if (parsed.outcome !== "options") return parsed;
  const { options } = parsed;
  const config = checkConfiguration(args, "hosting");
  if (config === undefined) return { outcome: "bad", problem: undefined };
  const unplaced = unplacedTargets(config, options.services);
  if (unplaced !== undefined) return { outcome: "bad", problem: unplaced };
  const uses = secretUses(config);
  const given = servedSecrets(options.target, uses);
  if (given.fault !== undefined) return { outcome: "bad", problem: given.fault };
  const setup = setupOf(options, given.secrets);
  const weak = secretProblems({ ...setup.variables, ...given.secrets }, uses, false);
  if (weak.length > 0) return { outcome: "bad", problem: weak.join("\n") };
  return { outcome: "checked", options, setup, source: given.source };
}

/** Builds the console, and the bundle unless it is kept from an earlier start. */
export async function builtSetup({ options, setup }: Checked): Promise<WorkerdSetup> {
  await buildConsole();
  return { ...setup, modules: { "edge.js": keptBundle(options.target) } };
}

/**
 * The problem of consumers, of a target that the server can't reach, or of one whose address isn't given; undefined if
 * there is none.
 */
function unplacedTargets(config: Config, services: ServeOptions["services"]): string | undefined {
  if (config.consumers.length > 0)
    return "consumers take messages of queues, which only Cloudflare and npm start have";
  for (const { key, endpoint } of targetsOf(config)) {
    if (endpoint.kind === "queue")
      return `${key} is a queue, which only Cloudflare and npm start have`;
    if (endpoint.kind === "service" && !(endpoint.binding in services))
      return `say with --service ${endpoint.binding}=HOST:PORT where the Worker is that ${key} names`;
  }
  return undefined;
}

/** Everything that the deployed Worker has, except its code. */
function setupOf(
  { target, host, services }: ServeOptions,
  secrets: ServedSecrets["secrets"],
): Omit<WorkerdSetup, "modules"> {
  const config = wranglerConfigOf(target);
  const { binding = "ASSETS", directory } = config.assets ?? {};
  const variables =
    target.config === undefined ? config.vars : { ...config.vars, config: target.config };
  return {
    classNames: Object.fromEntries(
      config.durable_objects.bindings.map(
        (each: { readonly name: string; readonly class_name: string }) => [
          each.name,
          each.class_name,
        ],
      ),
    ),
    variables: {
      STREAM_PROBE_MS: String(streamProbeMs),
      // Without a proxy that sets a header, every client could.
      CLIENT_ADDRESS_HEADER: "",
      ...textsOf(variables, secrets),
      SELF_HOSTED: "true",
    },
    secrets,
    ...(directory !== undefined && { assets: { binding, folder: folderOf(target, directory) } }),
    compatibility: { date: config.compatibility_date ?? "", flags: config.compatibility_flags },
    host,
    services,
    ...descriptorsLimit(),
    printsThrough: true,
  };
}

/** How many file descriptors workerd may have; it inherits the limit of this process. Only Linux tells it. */
function descriptorsLimit(): Pick<WorkerdSetup, "descriptorsMax"> {
  if (process.platform !== "linux") return {};
  const limit = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
  return limit === undefined ? {} : { descriptorsMax: Number(limit) };
}

/** The variables as texts, without those that a secret replaces. */
function textsOf(
  variables: ReturnType<typeof wranglerConfigOf>["vars"],
  secrets: ServedSecrets["secrets"],
): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(variables)) {
    if (name in secrets) continue;
    texts[name] = typeof value === "string" ? value : JSON.stringify(value);
  }
  return texts;
}

function folderOf(target: ServeOptions["target"], directory: string): string {
  return resolve(dirname(configurationFile(target)), directory);
}
