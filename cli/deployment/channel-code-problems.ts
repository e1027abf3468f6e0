import { relative, sep } from "node:path";
import { type Target, targetOf } from "../configuration/command-line.ts";
import { wranglerScript } from "../configuration/wrangler.ts";
import { askWorker } from "../embedded/asked-worker.ts";
import { dryUpload } from "../embedded/upload.ts";
import { packageRoot } from "../package-root.ts";
import { configurationFile, wranglerConfigOf } from "./wrangler-config.ts";

/**
 * The problems of the code of channels that a Worker has beside its configuration: wrangler builds what it would deploy, and the
 * module runs as far as its top level. The server's own module has none, and isn't built.
 *
 * @param options wrangler's command line, whose configuration was found to be valid
 */
export async function channelCodeProblems(options: readonly string[]): Promise<readonly string[]> {
  const target = targetOf(options);
  const { main = "", vars } = wranglerConfigOf(target);
  const name = relative(packageRoot, main);
  if (main === "" || name.split(sep)[0] === "workers") return [];
  const built = await dryUpload({
    wrangler: wranglerScript,
    folder: packageRoot,
    file: configurationFile(target),
    environment: environmentOf(target),
  });
  if (built.outcome === "bad") return [`wrangler can't build ${name}: ${built.says}`];
  const { main: module } = built.upload;
  if (module === undefined) return [`${name} is no module`];
  const place = { development: false, selfHosted: false };
  const input = JSON.parse(JSON.stringify(target.config ?? vars["config"] ?? null)) ?? undefined;
  const asked = await askWorker({ ...built.upload, main: module }, {}, place, input);
  return asked.outcome === "bad"
    ? [`${name} can't be loaded: ${asked.says}`]
    : asked.worker.channelProblems;
}

function environmentOf({ environment }: Target): string {
  return environment ?? process.env["CLOUDFLARE_ENV"] ?? "";
}
