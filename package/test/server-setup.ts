import { relative } from "node:path";
import { type HookBackend, type JsonConfig, testConfig } from "./hooks.ts";
import { bundledWorker } from "./project/bundle.ts";
import { sortedBindings } from "./project/given-bindings.ts";
import { projectSurroundings } from "./project/surroundings.ts";
import {
  nearestWranglerFile,
  readWranglerProject,
  type WranglerProject,
} from "./project/wrangler-file.ts";
import { type RuntimeSetup, workerName } from "./runtime-options.ts";
import { isOwnWorker, type StartOptions } from "./start-options.ts";
import { DormouseTestError } from "./test-error.ts";
import { type BoundClass, serverCode, serverObjects } from "./worker-code.ts";

/** The wrangler file that options name, or that is nearest to the Worker; undefined if there is none, or none is wanted. */
export function projectOf(options: StartOptions): WranglerProject | undefined {
  const { worker, wrangler, environment } = options;
  if (wrangler === false || !isOwnWorker(options)) return undefined;
  const file = wrangler ?? nearestWranglerFile(worker ?? "");
  return file === undefined ? undefined : readWranglerProject({ file, environment });
}

/**
 * What the runtime runs: the server as it is deployed, or a Worker of one's own with what its wrangler file binds. A sentence
 * for each binding that isn't there in tests goes to the console.
 *
 * @throws {DormouseTestError} if the Worker can't be built, or doesn't have its classes
 */
export async function serverSetup(
  options: StartOptions,
  project: WranglerProject | undefined,
  hooks: HookBackend,
): Promise<RuntimeSetup> {
  const given = sortedBindings(options.bindings ?? {});
  // All clients have one address here, which would bound them together.
  const variables: JsonConfig = {
    CLIENT_ADDRESS_HEADER: "",
    ...options.variables,
    ...given.variables,
  };
  if (!isOwnWorker(options)) {
    const config = testConfig({ ...options.config }, hooks.functions);
    const server = { code: await serverCode(), others: [], objects: serverObjects };
    return {
      ...server,
      hooks,
      given,
      variables: { ...variables, config },
      surroundings: undefined,
    };
  }
  const main = options.worker ?? project?.config.main;
  if (main === undefined)
    throw new DormouseTestError(
      `wrangler: ${project?.file} has no main: name the module in worker`,
    );
  const { code, exports, others } = await bundledWorker(main, project);
  const surroundings = project && projectSurroundings(project, given, workerName);
  for (const note of surroundings?.notes ?? []) console.warn(`startDormouse: ${note}`);
  const isExported = ({ className }: BoundClass) => exports.includes(className);
  const objects = surroundings?.objects ?? serverObjects.filter(isExported);
  const missing = objects.find((one) => !isExported(one));
  if (missing !== undefined)
    throw new DormouseTestError(
      `${project?.file} binds the class ${missing.className}, which ${relative(process.cwd(), main)} doesn't export`,
    );
  const config = variables["config"] ?? surroundings?.options.bindings?.["config"];
  return {
    code,
    others,
    objects,
    hooks,
    given,
    variables: { ...variables, ...(config !== undefined && { config: keepingConfig(config) }) },
    surroundings,
  };
}

/** The configuration in a variable, with events that keep what is published. */
function keepingConfig(config: unknown): unknown {
  const read = parseConfigVariable(config);
  return read === undefined ? config : testConfig(read, {});
}

/** The configuration in a variable: an object, or its JSON. Undefined if it is neither: the server itself says so. */
export function parseConfigVariable(config: unknown): JsonConfig | undefined {
  if (typeof config === "object" && config !== null) return { ...config };
  if (typeof config !== "string") return undefined;
  try {
    const read: unknown = JSON.parse(config);
    return typeof read === "object" && read !== null ? { ...read } : undefined;
  } catch {
    return undefined;
  }
}
