/**
 * `npm run deploy`: refuses a configuration that the deployed Worker would refuse, and deploys any other. Everything after
 * `--` goes to `wrangler deploy`, for example `npm run deploy -- --env staging`; the configuration that is checked is the
 * one that it would deploy.
 */
import { spawnSync } from "node:child_process";
import { checkConfiguration } from "./configuration-problems.ts";
import { root, wranglerScript } from "./wrangler.ts";

function deploy(options: readonly string[]): number {
  if (checkConfiguration(options) === undefined) return 1;
  const { status } = spawnSync(process.execPath, [wranglerScript, "deploy", ...options], {
    cwd: root,
    stdio: "inherit",
  });
  // Ended by a signal, it has no status.
  return status ?? 1;
}

process.exitCode = deploy(process.argv.slice(2));
