import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseEnv } from "node:util";
import { Command } from "commander";
import { secretProblems, secretsIn } from "../../src/access/secrets.ts";
import { type ParsedConfig, parseConfigDocument } from "../../src/config/parse-config.ts";
import { secretUses } from "../../src/config/secret-uses.ts";
import { readText } from "../configuration/document.ts";
import { optionValue, variablesOf } from "../configuration/command-line.ts";
import { developmentVariables } from "../configuration/development-variables.ts";
import { oldNodeProblem } from "../node-version.ts";
import { exitCodes, refusal, type Shell, usageFailure } from "../shell.ts";
import { checkedConfiguration, foundConfig, printReport } from "./check.ts";

/** `dormouse deploy`: checks the environment that it deploys, and deploys it with the project's own wrangler. */
export function deployCommand(shell: Shell): Command {
  return new Command("deploy")
    .description("check what a project of init deploys, and deploy it with its wrangler")
    .argument("[options...]", "options of wrangler deploy, such as --env and --secrets-file")
    .allowUnknownOption()
    .addHelpText(
      "after",
      `
Nothing is deployed if the server would refuse it. In a clone of the repository this is npm run deploy.

Examples:
  dormouse deploy
  dormouse deploy --env staging
  dormouse deploy --secrets-file .dev.vars.production
  dormouse deploy --dry-run`,
    )
    .action(async (options: readonly string[]) => {
      if (!(await isGood(options, shell))) {
        shell.note("Nothing was deployed.");
        process.exitCode = exitCodes.refused;
        return;
      }
      const old = oldNodeProblem();
      if (old !== undefined) throw refusal(old);
      process.exitCode = await deployBy(wranglerOf(shell), options, shell);
    });
}

/** The wrangler that is installed in the project, so that its version is the project's. */
function wranglerOf(shell: Shell): string {
  const script = join(shell.folder, "node_modules", "wrangler", "bin", "wrangler.js");
  if (existsSync(script)) return script;
  throw usageFailure("the project has no wrangler: npm install, in the folder of package.json");
}

/** Checks what these options deploy, and prints a report of it. */
async function isGood(options: readonly string[], shell: Shell): Promise<boolean> {
  const file = optionValue(options, "--config", "-c");
  const env = optionValue(options, "--env", "-e");
  const chosen = env === undefined ? {} : { env };
  const found = foundConfig(file, chosen, shell);
  const { report, parsed } = await checkedConfiguration(found, chosen, shell);
  const variables = { ...found.variables, ...variablesOf(options) };
  const problems = [
    ...report.problems,
    ...developmentVariables(variables),
    ...givenSecretProblems(parsed, { ...variables, ...uploaded(options, shell) }),
  ];
  printReport({ ...report, problems, valid: problems.length === 0 }, shell);
  return problems.length === 0;
}

/** The problems of secrets that are uploaded; those that the Worker has already can't be read. */
function givenSecretProblems(parsed: ParsedConfig | undefined, source: object): readonly string[] {
  const uses = secretUses(parsed?.outcome === "config" ? parsed.config : undefined);
  return secretProblems(secretsIn(source, uses), uses, false);
}

/** What `--secrets-file` names: JSON, or lines such as `NAME="value"`, as wrangler reads it. */
function uploaded(options: readonly string[], shell: Shell): object {
  const file = optionValue(options, "--secrets-file", "--secretsFile");
  if (file === undefined) return {};
  const path = resolve(shell.folder, file);
  if (!existsSync(path)) throw usageFailure(`--secrets-file names ${file}, which doesn't exist`);
  const text = readText(path, file);
  const parsed = parseConfigDocument(text);
  return parsed.outcome === "bad" ? parseEnv(text) : parsed.document;
}

/** Runs wrangler at the same terminal, and gives its exit status. */
function deployBy(script: string, options: readonly string[], shell: Shell): Promise<number> {
  const running = spawn(process.execPath, [script, "deploy", ...options], {
    cwd: shell.folder,
    stdio: "inherit",
  });
  return new Promise((done) => {
    // A process that was ended by a signal has no status.
    running.once("close", (status) => done(status ?? 1));
  });
}
