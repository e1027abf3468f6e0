/** The configuration that a wrangler command gives to the Worker. */
export interface Target {
  /** `--config`: the configuration file; if absent, the file that wrangler finds. */
  readonly file?: string;
  /** `--env`: the environment in that file; if absent, the one that CLOUDFLARE_ENV names, or else the top level. */
  readonly environment?: string;
  /** `--var config:…`: the whole configuration as JSON text, in place of the file's. */
  readonly config?: string;
}

/** Parses the {@link Target} from a wrangler command line. */
export function targetOf(options: readonly string[]): Target {
  const file = optionValue(options, "--config", "-c");
  const environment = optionValue(options, "--env", "-e");
  const { config } = variablesOf(options);
  return {
    ...(file !== undefined && { file }),
    ...(environment !== undefined && { environment }),
    ...(config !== undefined && { config }),
  };
}

/** The Worker's variables that a wrangler command line sets, `--var NAME:value`, as texts by their names. */
export function variablesOf(options: readonly string[]): Readonly<NodeJS.Dict<string>> {
  const pairs = listValues(options, "--var").flatMap((option) => {
    const colon = option.indexOf(":");
    return colon < 0 ? [] : [[option.slice(0, colon), option.slice(colon + 1)] as const];
  });
  return Object.fromEntries(pairs);
}

/**
 * The value of an option, written `--name value` or `--name=value`. If there are several, the last one is used.
 *
 * @param names all names of the option
 */
export function optionValue(
  options: readonly string[],
  ...names: readonly string[]
): string | undefined {
  const values = options.map((option, index) => {
    const name = names.find((each) => option.startsWith(`${each}=`));
    if (name !== undefined) return option.slice(name.length + 1);
    return names.includes(option) ? options[index + 1] : undefined;
  });
  return values.findLast((value) => value !== undefined);
}

/** The options without one option and its values. */
export function withoutOption(options: readonly string[], name: string): readonly string[] {
  return options.filter(
    (option, index) =>
      option !== name && !option.startsWith(`${name}=`) && options[index - 1] !== name,
  );
}

/** All values of an option that takes every value up to the next option, such as `--var A:1 B:2`. */
function listValues(options: readonly string[], name: string): readonly string[] {
  const values: string[] = [];
  let taking = false;
  for (const option of options) {
    if (option.startsWith(`${name}=`)) values.push(option.slice(name.length + 1));
    else if (taking && !option.startsWith("-")) values.push(option);
    taking =
      option === name || option.startsWith(`${name}=`) || (taking && !option.startsWith("-"));
  }
  return values;
}
