/**
 * `npm run deploy`: checks the configuration, and deploys unless the deployed Worker would refuse it. Everything after
 * `--` is passed to `wrangler deploy`, for example `npm run deploy -- --env staging`. The configuration that is checked
 * is the one that is deployed.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { secretProblems } from "../../src/access/secrets.ts";
import { namedSecretNames, secretUses } from "../../src/config/secret-uses.ts";
import { buildConsole } from "./build-console.ts";
import { targetOf } from "../configuration/command-line.ts";
import { channelCodeProblems } from "../deployment/channel-code-problems.ts";
import { checkConfiguration } from "../deployment/configuration-problems.ts";
import { deployedSecrets, uploadedFile } from "../deployment/secrets.ts";
import { textFault } from "../configuration/text-file.ts";
import { wranglerConfigOf } from "../deployment/wrangler-config.ts";
import { packageRoot } from "../package-root.ts";
import { wranglerScript } from "../configuration/wrangler.ts";

/**
 * Checks the configuration and the secrets, prints their problems, and deploys unless there is one.
 *
 * @param options wrangler's command line
 * @param deployChecked deploys what was checked, and gives the exit status
 * @returns the exit status
 */
export async function deploy(
  options: readonly string[],
  deployChecked: (options: readonly string[]) => number = deployByWrangler,
): Promise<number> {
  const config = checkConfiguration(options, "deployment");
  if (config === undefined) return 1;
  // Secrets that were uploaded before can't be read. The Worker itself refuses those (rule A10).
  const { vars } = wranglerConfigOf(targetOf(options));
  const uses = secretUses(config);
  const file = uploadedFile(options);
  const fault = file === undefined || !existsSync(file) ? undefined : textFault(file);
  if (fault !== undefined) {
    console.error(`Nothing was deployed:\n  ${fault}`);
    return 1;
  }
  const given = deployedSecrets(options, vars, uses);
  const problems = secretProblems(given, uses, false);
  if (problems.length > 0) {
    console.error(`Nothing was deployed:\n${problems.map((problem) => `  ${problem}`).join("\n")}`);
    return 1;
  }
  const needed = namedSecretNames(config).filter((name) => given[name] === undefined);
  if (needed.length > 0)
    console.log(
      `Note: until the Worker has these secrets, it answers every request with 503: ${needed.join(", ")}`,
    );
  const ofCode = await channelCodeProblems(options);
  if (ofCode.length > 0) {
    console.error(`Nothing was deployed:\n${ofCode.map((problem) => `  ${problem}`).join("\n")}`);
    return 1;
  }
  await buildConsole();
  return deployChecked(options);
}

function deployByWrangler(options: readonly string[]): number {
  const { status } = spawnSync(process.execPath, [wranglerScript, "deploy", ...options], {
    cwd: packageRoot,
    stdio: "inherit",
  });
  // A process that was ended by a signal has no status.
  return status ?? 1;
}

if (import.meta.main) process.exitCode = await deploy(process.argv.slice(2));
