/** Which configuration a command of wrangler's gives the Worker. */
export interface Target {
  /** `--config`: the configuration file; absent for the one wrangler finds. */
  readonly file?: string;
  /** `--env`: the part of it that is meant; absent for the top level, or whatever CLOUDFLARE_ENV names. */
  readonly environment?: string;
  /** `--var config:…`: the whole configuration as JSON text, in place of the file's. */
  readonly config?: string;
}

/** Reads from wrangler's command line what {@link Target} is made of. */
export function targetOf(options: readonly string[]): Target {
  const file = optionValue(options, "--config", "-c");
  const environment = optionValue(options, "--env", "-e");
  const config = listValues(options, "--var").findLast((value) => value.startsWith("config:"));
  return {
    ...(file !== undefined && { file }),
    ...(environment !== undefined && { environment }),
    ...(config !== undefined && { config: config.slice("config:".length) }),
  };
}

/**
 * The last value of an option, which is the one that counts, written `--name value` or `--name=value`.
 *
 * @param names all names that the option has
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

/** The options without that one and its values. */
export function withoutOption(options: readonly string[], name: string): readonly string[] {
  return options.filter(
    (option, index) =>
      option !== name && !option.startsWith(`${name}=`) && options[index - 1] !== name,
  );
}

/** All values of an option that takes as many as follow, up to the next option: `--var A:1 B:2`. */
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
