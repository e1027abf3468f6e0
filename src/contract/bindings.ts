import { packageName } from "../version.ts";

/**
 * The problems of bindings of objects: bindings that are missing or have another class (rule A8). Wrangler deploys a
 * Worker without bindings, because an environment of wrangler.toml doesn't inherit them.
 *
 * @param isBound         whether a name is bound to objects of a class
 * @param collectsMetrics whether the configuration switches metrics on
 * @returns a sentence for each problem; none if the Worker has all of its objects
 */
export function missingBindings(
  isBound: (name: string, className: string) => boolean,
  collectsMetrics: boolean,
): readonly string[] {
  const needed = collectsMetrics ? [...objectBindings, metricsBinding] : objectBindings;
  return needed
    .filter(({ name, className }) => !isBound(name, className))
    .map(
      ({ name, className }) =>
        `binding ${name} to the class ${className} is missing: add it to the environment in wrangler.toml, which inherits none`,
    );
}

const objectBindings = [
  { name: "CHANNELS", className: "ChannelObject" },
  { name: "GATEWAYS", className: "GatewayObject" },
  { name: "USERS", className: "UsersObject" },
];

const metricsBinding = { name: "METRICS", className: "MetricsObject" };

/**
 * The problems of classes that a Worker of one's own doesn't export (rule A8).
 *
 * @param isExported whether the Worker's main module exports this name
 * @returns none, or a sentence with the line that is missing
 */
export function missingClasses(isExported: (name: string) => boolean): readonly string[] {
  const missing = exportedClasses.filter((name) => !isExported(name));
  return missing.length === 0
    ? []
    : [
        `the Worker doesn't export ${missing.join(", ")}: add export { ${missing.join(", ")} } from "${packageName}"; to its main module`,
      ];
}

const exportedClasses = [
  "BackendEntrypoint",
  "ChannelObject",
  "GatewayObject",
  "RealtimeEntrypoint",
  "UsersObject",
];
