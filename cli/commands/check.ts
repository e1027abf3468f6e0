import { Command } from "commander";
import { secretProblems, secretsIn } from "../../src/access/secrets.ts";
import { type Config, everyOptions } from "../../src/config/config.ts";
import { nestedName } from "../../src/config/flat-names.ts";
import { type ParsedConfig, parseConfig } from "../../src/config/parse-config.ts";
import { cursorLimits } from "../../src/features/cursors/limits.ts";
import { secretUses } from "../../src/config/secret-uses.ts";
import { isJsonObject, type JsonValue } from "../../src/protocol/wire-value.ts";
import { wranglerFiles } from "../configuration/wrangler.ts";
import { neededSecrets } from "../configuration/needed-secrets.ts";
import { secretsOf, withSecrets, type SecretOptions } from "../connection/settings.ts";
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
    .description("check a configuration: wrangler's file, or one in JSON, YAML or TOML")
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

Examples:
  dormouse check
  dormouse check wrangler.toml --env staging
  dormouse check centrifugo.yaml
  dormouse check --secrets .dev.vars.production`,
    )
    .action((file: string | undefined, options: CheckOptions) => {
      const { development = false, serve = development } = options;
      const found = foundConfig(file, options, shell);
      const parsed = parseConfig(found.input, { development, selfHosted: serve });
      const report = reportOn(found, parsed, options, shell);
      if (options.json === true) shell.print(JSON.stringify(report));
      else printReport(report, shell);
      if (!report.valid) process.exitCode = exitCodes.refused;
    });
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
  const options = {
    ...(env !== undefined && { env }),
    ...(file !== undefined && { config: file }),
  };
  const found = findConfig(options, shell);
  if (found !== undefined) return found;
  throw usageFailure(`there is none of ${wranglerFiles.join(", ")} here: name a file`);
}

/** Checks a configuration that was read and parsed, without printing anything. */
export function reportOn(
  found: FoundConfig,
  parsed: ParsedConfig,
  options: CheckOptions,
  shell: Shell,
): Report {
  const config = parsed.outcome === "config" ? parsed.config : undefined;
  const problems = [
    ...found.problems(config?.prometheus.counts === true),
    ...(parsed.outcome === "bad" ? parsed.problems : []),
    ...(config === undefined ? [] : problemsOfSecrets(config, options, shell)),
  ];
  const notes =
    parsed.outcome === "config"
      ? [...parsed.notes, ...audienceNotes(parsed.config)]
      : flatNotes(found.input, found.file);
  const secrets = config === undefined ? [] : neededSecrets(config);
  return { file: found.file, valid: problems.length === 0, problems, notes, secrets };
}

function problemsOfSecrets(config: Config, options: CheckOptions, shell: Shell): readonly string[] {
  const { development = false, secrets } = options;
  if (!development && secrets === undefined) return [];
  const uses = secretUses(config);
  const find = secretsOf(options, shell);
  const given = secretsIn(Object.fromEntries(uses.map(({ name }) => [name, find(name)])), uses);
  const missing = neededSecrets(config)
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
