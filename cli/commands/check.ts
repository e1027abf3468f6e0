import { dirname, join } from "node:path";
import { Command } from "commander";
import { secretProblems, secretsIn } from "../../src/access/secrets.ts";
import { type Config, everyOptions } from "../../src/config/config.ts";
import { nestedName } from "../../src/config/flat-names.ts";
import { type ParsedConfig, parseConfig } from "../../src/config/parse-config.ts";
import { functionsBinding, unboundTargets } from "../../src/config/targets.ts";
import { targetsOf } from "../../src/features/sections.ts";
import { cursorLimits } from "../../src/features/cursors/limits.ts";
import { secretUses } from "../../src/config/secret-uses.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/protocol/wire-value.ts";
import { wranglerFiles } from "../configuration/wrangler.ts";
import { neededSecrets } from "../configuration/needed-secrets.ts";
import { type SettingsReport, settingsReport } from "../configuration/worker-settings.ts";
import { secretsOf, withSecrets, type SecretOptions } from "../connection/settings.ts";
import { type ConfigPlace, placeOfConfig } from "../embedded/coded-config.ts";
import { redirectedFile } from "../embedded/redirected-file.ts";
import { nestedVariable } from "../embedded/upload.ts";
import { exitCodes, paintOf, type Shell, usageFailure } from "../shell.ts";
import { findConfig, type FoundConfig } from "../configuration/worker-config.ts";

interface CheckOptions extends SecretOptions {
  readonly env?: string;
  readonly development?: boolean;
  readonly serve?: boolean;
  readonly json?: boolean;
}

/** The report of a check. */
export interface Report {
  readonly file: string;
  readonly valid: boolean;
  readonly problems: readonly string[];
  readonly notes: readonly string[];
  /** The names of the secrets that the Worker needs. */
  readonly secrets: readonly string[];
}

/** `dormouse check`: says whether the server would take a configuration, and names everything that is wrong with it. */
export function checkCommand(shell: Shell): Command {
  const command = new Command("check")
    .description(
      "check a configuration: in wrangler's file, in a Worker's code, or in JSON, YAML or TOML",
    )
    .argument("[file]", `the file (default: ${wranglerFiles.join(", ")})`)
    .option("-e, --env <name>", "the environment in wrangler's file")
    .option("--development", "allow what npm start allows: insecure modes and weak secrets")
    .option("--serve", "allow what npm run serve allows: insecure_endpoints");
  return withSecrets(command)
    .option("--json", "print the report as JSON")
    .addHelpText(
      "after",
      `
With --secrets, or with --development, the secrets are checked as well.
A configuration that is given to dormouse() is read from the Worker that the project's wrangler builds.

Examples:
  dormouse check
  dormouse check wrangler.toml --env staging
  dormouse check centrifugo.yaml
  dormouse check --secrets .dev.vars.production`,
    )
    .action(async (file: string | undefined, options: CheckOptions) => {
      if (isLeftToOthers(shell)) return;
      const { report } = await checkedConfiguration(
        foundConfig(file, options, shell),
        options,
        shell,
      );
      if (options.json === true) shell.print(JSON.stringify(report));
      else printReport(report, shell);
      if (!report.valid) process.exitCode = exitCodes.refused;
    });
}

/**
 * Whether the check runs as a part of wrangler's own build, and isn't to be made there: another check has started that build,
 * or it is `wrangler dev`, whose requests say what is wrong.
 */
function isLeftToOthers({ environment }: Shell): boolean {
  const command = environment["WRANGLER_COMMAND"];
  return environment[nestedVariable] !== undefined || command === "dev" || command === "types";
}

/**
 * Reads the configuration that is to be checked.
 *
 * @param file undefined for the one that wrangler finds
 * @throws {Failure} if there is none, or if it doesn't have the environment
 */
export function foundConfig(
  file: string | undefined,
  { env }: Pick<CheckOptions, "env">,
  shell: Shell,
): FoundConfig {
  const made = file === undefined ? redirectedFile(shell.folder) : undefined;
  const config = file ?? made;
  const place = config === undefined ? {} : { config };
  // A file that a build has made is of one environment.
  if (made !== undefined) return findConfig(place, shell) ?? noFile();
  if (env !== undefined) return findConfig({ ...place, env }, shell) ?? noFile();
  const found = findConfig(place, shell) ?? noFile();
  // The one that wrangler takes.
  const chosen = shell.environment["CLOUDFLARE_ENV"] ?? "";
  if (found.worker === undefined || chosen === "") return found;
  return findConfig({ ...place, env: chosen }, shell) ?? noFile();
}

function noFile(): never {
  throw usageFailure(
    `there is none of ${wranglerFiles.join(", ")} here: name a file, or check after the build that writes one, such as vite build`,
  );
}

/** What a check has found, with the configuration that it has parsed. */
export interface CheckedConfiguration {
  readonly report: Report;
  readonly parsed: ParsedConfig | undefined;
}

/**
 * Checks a configuration without printing anything: that of the file, or the one in the Worker's code.
 *
 * @throws {Failure} if it is in code, and the project has no wrangler
 */
export async function checkedConfiguration(
  found: FoundConfig,
  options: CheckOptions,
  shell: Shell,
): Promise<CheckedConfiguration> {
  const { development = false, serve: selfHosted = development } = options;
  const use = { development, selfHosted };
  const where = await placeOfConfig(found, options, use, shell);
  switch (where.place) {
    case "file": {
      const parsed = parseConfig(found.input, use);
      return { parsed, report: reportOn(found, parsed, options, shell, where) };
    }
    case "code": {
      const parsed = parseConfig(where.configuration.config, use);
      return { parsed, report: reportOn(found, parsed, options, shell, where) };
    }
    case "unknown": {
      const { problems, notes } = settingsOf(found, undefined);
      const all = [...where.problems, ...problems];
      return {
        parsed: undefined,
        report: { file: found.file, valid: false, problems: all, notes, secrets: [] },
      };
    }
  }
}

function reportOn(
  found: FoundConfig,
  parsed: ParsedConfig,
  options: CheckOptions,
  shell: Shell,
  where: Exclude<ConfigPlace, { readonly place: "unknown" }>,
): Report {
  const code = where.place === "code" ? where : undefined;
  const config = parsed.outcome === "config" ? parsed.config : undefined;
  const secrets = config === undefined ? [] : neededSecrets(config, code?.configuration);
  const settings = settingsOf(found, config);
  const problems = new Set([
    ...found.problems(config?.prometheus.counts === true),
    ...where.problems,
    ...(parsed.outcome === "bad" ? parsed.problems : []),
    ...(config === undefined || code === undefined ? [] : unboundOf(config, code.bindings)),
    ...settings.problems,
    ...(config === undefined ? [] : problemsOfSecrets(config, secrets, options, shell)),
  ]);
  const notes =
    parsed.outcome === "config"
      ? [...parsed.notes, ...audienceNotes(parsed.config)]
      : flatNotes(found.input, found.file);
  return {
    file: code === undefined ? found.file : codeFile(found),
    valid: problems.size === 0,
    problems: [...problems],
    notes: [...notes, ...settings.notes],
    secrets,
  };
}

/** The Worker's module, as a person would name it. */
function codeFile({ file, worker }: FoundConfig): string {
  return join(dirname(file), worker?.main ?? "");
}

/** The problems of other Workers and queues that the configuration names and the upload doesn't bind. */
function unboundOf(config: Config, bindings: readonly JsonObject[]): readonly string[] {
  return unboundTargets(
    targetsOf(config),
    (kind, binding) =>
      binding === functionsBinding ||
      bindings.some(({ name, type }) => name === binding && type === kind),
  );
}

function settingsOf({ worker }: FoundConfig, config: Config | undefined): SettingsReport {
  return worker === undefined
    ? { problems: [], notes: [] }
    : settingsReport(worker.settings, config);
}

function problemsOfSecrets(
  config: Config,
  needed: readonly string[],
  options: CheckOptions,
  shell: Shell,
): readonly string[] {
  const { development = false, secrets } = options;
  if (!development && secrets === undefined) return [];
  const uses = secretUses(config);
  const find = secretsOf(options, shell);
  const given = secretsIn(Object.fromEntries(uses.map(({ name }) => [name, find(name)])), uses);
  const missing = needed
    .filter((name) => given[name] === undefined)
    .map((name) => `secret ${name} is missing`);
  return [...missing, ...secretProblems(given, uses, development)];
}

/** Says where an audience may be larger than the log of events from which a backend is told of it (rule CU46). */
function audienceNotes({ channel, events }: Config): readonly string[] {
  const { membersMax, judgedLogShare } = cursorLimits;
  const tells = everyOptions(channel).some(({ cursors }) => cursors?.notify !== undefined);
  if (!tells || events === undefined || events.keepMax >= membersMax) return [];
  return [
    `events.keep_max is ${events.keepMax}, and an audience may have ${membersMax} members: your backend is told of ${events.keepMax * judgedLogShare} who haven't seen a publication, and of further ones as it takes these events`,
  ];
}

/** A hint for a configuration of Centrifugo 4 or 5. */
function flatNotes(input: JsonValue | undefined, file: string): readonly string[] {
  const isFlat =
    input !== undefined &&
    isJsonObject(input) &&
    Object.keys(input).some((name) => nestedName(name) !== undefined);
  return isFlat ? [`dormouse migrate ${file} converts a configuration of Centrifugo`] : [];
}

/** Prints a report for people. */
export function printReport({ file, valid, problems, notes, secrets }: Report, shell: Shell): void {
  const paint = paintOf(shell);
  shell.print(
    valid
      ? `${file}: ${paint.good("the configuration is valid")}`
      : `${file}: ${paint.bad("the configuration is invalid")}`,
  );
  for (const problem of problems) shell.print(`  ${problem}`);
  for (const note of notes) shell.print(`Note: ${note}`);
  if (secrets.length > 0) shell.print(`The Worker needs these secrets: ${secrets.join(", ")}`);
}
