import { isJsonObject, type JsonObject } from "../../src/protocol/wire-value.ts";

/**
 * The text of a `wrangler.jsonc` with a configuration.
 *
 * @param template the content of Dormouse's own wrangler.toml
 * @param command  of `dormouse` that makes it
 * @param paths    where the Worker's module and its assets are, relative to the new file
 */
export function workerFile(
  command: "init" | "migrate",
  template: JsonObject,
  config: JsonObject,
  paths: {
    readonly name: string;
    readonly main: string;
    readonly assets: string;
    readonly schema: string;
  },
): string {
  const { assets = {}, ...others } = template;
  const worker = {
    $schema: paths.schema,
    ...others,
    name: paths.name,
    main: paths.main,
    assets: { ...(isJsonObject(assets) ? assets : {}), directory: paths.assets },
    vars: { config },
  };
  return `// Made by dormouse ${command}. docs/configuration.md explains the options under "config".\n${JSON.stringify(worker, null, 2)}\n`;
}

/**
 * The text of a file of secrets, with a line such as `NAME='value'` for each.
 *
 * @returns undefined if a value has all kinds of quotes, so that no line can hold it
 */
export function secretsFile(secrets: Readonly<Record<string, string>>): string | undefined {
  const lines = Object.entries(secrets).map(([name, value]) => {
    const quote = ["'", '"', "`"].find((one) => !value.includes(one));
    return quote === undefined ? undefined : `${name}=${quote}${value}${quote}\n`;
  });
  return lines.includes(undefined) ? undefined : lines.join("");
}
