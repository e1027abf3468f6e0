import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { broughtByWrangler, isClone, packageFolder, packageText } from "./packages.ts";
import { workerBuild } from "./worker-build.ts";
import { DormouseTestError } from "./test-error.ts";

/** The modules of the Worker under test, by their names; the first one is the main module. */
export type WorkerModules = Readonly<Record<string, string>>;

/**
 * The server as it is deployed, or a Worker of one's own, with the control of the kit around it.
 *
 * @param main the main module of a Worker of one's own, from the working directory
 */
export async function workerModules(main?: string): Promise<WorkerModules> {
  const code = main === undefined ? await serverCode() : await bundled(ownModule(main));
  return { "kit.js": kitText("kit.js"), "clock.js": kitText("clock.js"), "server.js": code };
}

/** The code of a module that the kit runs beside the Worker under test. */
export function kitText(name: string): string {
  return isClone
    ? packageText("package", "test", "worker", name)
    : packageText("dist", "test", name);
}

let built: Promise<string> | undefined;

function serverCode(): Promise<string> {
  if (!isClone) return Promise.resolve(packageText("dist", "test", "server.js"));
  built ??= bundled(join(packageFolder, "workers", "edge.ts"));
  return built;
}

function ownModule(main: string): string {
  const path = resolve(main);
  if (!existsSync(path)) throw new DormouseTestError(`worker: there is no file ${path}`);
  return path;
}

async function bundled(entry: string): Promise<string> {
  const { outputFiles } = await broughtByWrangler().esbuild.build({
    entryPoints: [entry],
    ...workerBuild,
  });
  return outputFiles[0]?.text ?? "";
}
