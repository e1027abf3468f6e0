import type { Config } from "../src/config/config.ts";
import { parseConfig } from "../src/config/parse-config.ts";
import { missingBindings } from "../src/contract/bindings.ts";
import { targetOf, variablesOf } from "./command-line.ts";
import { queueProblems } from "./queue-problems.ts";
import { wranglerConfigOf } from "./wrangler-config.ts";

/**
 * Checks the configuration of a Worker before the Worker gets it, and prints its problems.
 *
 * @param options wrangler's command line
 * @param use what the Worker is for; a deployed one may have no variable of `npm start`
 * @returns the parsed configuration; undefined if it is invalid
 */
export function checkConfiguration(
  options: readonly string[],
  use: "development" | "deployment",
): Config | undefined {
  const target = targetOf(options);
  const wranglerConfig = wranglerConfigOf(target);
  const parsed = parseConfig(target.config ?? wranglerConfig.vars["config"], {
    development: use === "development",
  });
  const problems = [
    ...unboundObjects(wranglerConfig),
    ...(use === "deployment"
      ? developmentVariables({ ...wranglerConfig.vars, ...variablesOf(options) })
      : []),
    ...(parsed.outcome === "bad"
      ? parsed.problems
      : [
          ...unboundServices(parsed.config.hooks.targets, wranglerConfig),
          ...queueProblems(parsed.config.consumers, wranglerConfig.queues),
        ]),
  ];
  if (parsed.outcome === "config" && problems.length === 0) {
    for (const note of parsed.notes) console.log(`Note: ${note}`);
    return parsed.config;
  }
  const lines = problems.map((problem) => `  ${problem}`).join("\n");
  console.error(`The configuration is invalid:\n${lines}`);
  return undefined;
}

/** Problems of the variables by which `npm start` tells the Worker that it serves this machine alone (rule A10). */
function developmentVariables(variables: object): readonly string[] {
  return ["DEVELOPMENT", "DEVELOPMENT_ORIGINS"]
    .filter((name) => name in variables)
    .map((name) => `variable ${name} is for npm start only`);
}

/** Problems of the service bindings by which hooks ask other Workers. */
function unboundServices(
  targets: Config["hooks"]["targets"],
  { services = [] }: ReturnType<typeof wranglerConfigOf>,
): readonly string[] {
  return [...targets.values()].flatMap(({ name, endpoint }) => {
    if (endpoint.kind !== "service") return [];
    const { binding, entrypoint } = endpoint;
    const bound = services.find((one: ServiceBinding) => one.binding === binding);
    if (bound === undefined)
      return [`${name}.endpoint: ${binding} is not a binding of [[services]] in wrangler.toml`];
    return entrypoint === undefined || bound.entrypoint === entrypoint
      ? []
      : [`${name}.endpoint: the binding ${binding} has no entrypoint = "${entrypoint}"`];
  });
}

/** An entry of `[[services]]`. */
interface ServiceBinding {
  readonly binding: string;
  readonly entrypoint?: string | undefined;
}

function unboundObjects(wranglerConfig: ReturnType<typeof wranglerConfigOf>): readonly string[] {
  const { bindings } = wranglerConfig.durable_objects;
  return missingBindings((name, className) =>
    bindings.some(
      (one: { readonly name: string; readonly class_name: string }) =>
        one.name === name && one.class_name === className,
    ),
  );
}
