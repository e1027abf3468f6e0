import { existsSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve, sep } from "node:path";
import { parseEnv } from "node:util";
import { missingClasses } from "../../src/contract/bindings.ts";
import {
  type CheckedPlace,
  type CodedConfiguration,
  configuredTwice,
} from "../../src/contract/coded-configuration.ts";
import type { JsonObject } from "../../src/protocol/wire-value.ts";
import { readText } from "../configuration/document.ts";
import type { FoundConfig, FoundWorker } from "../configuration/worker-config.ts";
import type { SecretOptions } from "../connection/settings.ts";
import { packageRoot } from "../package-root.ts";
import { type Shell, usageFailure } from "../shell.ts";
import { type AskedWorker, askWorker } from "./asked-worker.ts";
import { dryUpload, type Upload } from "./upload.ts";

/** Where the configuration of a Worker is. */
export type ConfigPlace =
  /** In the file that was found. */
  | {
      readonly place: "file";
      /** The problems of the code of channels that the Worker has beside the file. */
      readonly problems: readonly string[];
    }
  /** In the Worker's code, which gave it to `dormouse()`. */
  | {
      readonly place: "code";
      readonly configuration: CodedConfiguration;
      /** What is wrong with the configuration, and with the module that has it. */
      readonly problems: readonly string[];
      readonly bindings: readonly JsonObject[];
    }
  /** It can't be said, because the Worker can't be built or loaded. */
  | { readonly place: "unknown"; readonly problems: readonly string[] };

/**
 * Finds the configuration of a Worker, and reads it if it is in code (rule OW14): wrangler builds what it would deploy, and
 * the Worker's module is run up to its end.
 *
 * @throws {Failure} if there is no wrangler to build it
 */
export async function placeOfConfig(
  found: FoundConfig,
  options: SecretOptions,
  place: CheckedPlace,
  shell: Shell,
): Promise<ConfigPlace> {
  const { worker, input } = found;
  if (worker === undefined) return inFile;
  const isInFile = input !== undefined;
  const missing = missingModule(found.file, worker, shell);
  if (missing !== undefined) return isInFile ? inFile : { place: "unknown", problems: [missing] };
  if (isOurs(found.file, worker, shell)) return inFile;
  const wrangler = wranglerOf(resolve(shell.folder, dirname(found.file)));
  if (wrangler === undefined) {
    if (isInFile) return inFile;
    throw usageFailure(
      `the configuration is in the code of ${worker.main}, and the project has no wrangler to build it: npm install --save-dev wrangler`,
    );
  }
  shell.progress(`building ${worker.main}`);
  const built = await dryUpload({
    wrangler,
    folder: shell.folder,
    file: found.file,
    environment: worker.environment,
  });
  if (built.outcome === "bad")
    return {
      place: "unknown",
      problems: [`wrangler can't build ${worker.main}: ${indented(built.says)}`],
    };
  return askedPlace(found, worker, built.upload, localSecrets(found.file, options, shell), place);
}

/** The place of a configuration in the file, where no code of channels was checked. */
const inFile: ConfigPlace = { place: "file", problems: [] };

async function askedPlace(
  { file, input }: FoundConfig,
  { main = "" }: FoundWorker,
  upload: Upload,
  secrets: Readonly<NodeJS.Dict<string>>,
  place: CheckedPlace,
): Promise<ConfigPlace> {
  if (upload.main === undefined)
    return { place: "unknown", problems: [`${main} is no module, and dormouse() needs one`] };
  const asked = await askWorker({ ...upload, main: upload.main }, secrets, place, input);
  if (asked.outcome === "bad")
    return { place: "unknown", problems: [`${main} can't be loaded: ${indented(asked.says)}`] };
  const { configuration, channelProblems, exports } = asked.worker;
  if (configuration === undefined)
    return input !== undefined || exports.includes("GatewayObject")
      ? { place: "file", problems: channelProblems }
      : {
          place: "unknown",
          problems: [
            `${main} doesn't call dormouse() while it is loaded, and ${file} has no [vars.config]: call it once, at the top level of a module`,
          ],
        };
  return {
    place: "code",
    configuration,
    problems: [
      ...configuration.problems,
      ...(input === undefined ? [] : [configuredTwice]),
      ...unexported(asked.worker),
    ],
    bindings: upload.bindings,
  };
}

function unexported({ exports }: AskedWorker): readonly string[] {
  return missingClasses((name) => exports.includes(name));
}

/** Why there is no module to look at; undefined if there is one, or a command will make it. */
function missingModule(
  file: string,
  { main, isBuilt }: FoundWorker,
  shell: Shell,
): string | undefined {
  if (main === undefined)
    return `${file} has neither main nor [vars.config], so nothing says where the configuration is: name the Worker's module, or check after the build that writes it, such as vite build`;
  if (isBuilt || existsSync(modulePath(file, main, shell))) return undefined;
  return `main of ${file} is ${main}, which isn't there: check after the build that writes it, such as vite build`;
}

/** Whether the main module is the server that stands alone, which has its configuration in the file. */
function isOurs(file: string, { main = "" }: FoundWorker, shell: Shell): boolean {
  const path = modulePath(file, main, shell);
  if (!existsSync(path)) return false;
  const [folder = ""] = relative(realpathSync(packageRoot), realpathSync(path)).split(sep);
  return ["dist", "workers"].includes(folder);
}

function modulePath(file: string, main: string, { folder }: Shell): string {
  return resolve(folder, dirname(file), main);
}

/** The script of the wrangler that a project has, as Node.js finds it from there; undefined if there is none. */
function wranglerOf(folder: string): string | undefined {
  try {
    const require = createRequire(join(folder, "package.json"));
    return join(dirname(require.resolve("wrangler/package.json")), "bin", "wrangler.js");
  } catch {
    return undefined; // The only error is that there is none.
  }
}

/** The secrets that the module may read while it is loaded: those that are named, or those of `wrangler dev`. */
function localSecrets(
  file: string,
  { secrets }: SecretOptions,
  shell: Shell,
): Readonly<NodeJS.Dict<string>> {
  const shown = secrets ?? join(dirname(file), ".dev.vars");
  const path = resolve(shell.folder, shown);
  return existsSync(path) ? parseEnv(readText(path, shown)) : {};
}

function indented(text: string): string {
  return text.replaceAll("\n", "\n    ");
}
