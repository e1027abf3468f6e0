/** All values of an option, written `--name value` or `--name=value`, in their order. */
export function optionValues(options: readonly string[], name: string): readonly string[] {
  return options.flatMap((option, index) => {
    if (option.startsWith(`${name}=`)) return [option.slice(name.length + 1)];
    const next = options[index + 1];
    return option === name && next !== undefined ? [next] : [];
  });
}

/** The last value of an option, which is the one that counts. */
export function optionValue(options: readonly string[], name: string): string | undefined {
  return optionValues(options, name).at(-1);
}

/** The options without that one and its values. */
export function withoutOption(options: readonly string[], name: string): readonly string[] {
  return options.filter(
    (option, index) =>
      option !== name && !option.startsWith(`${name}=`) && options[index - 1] !== name,
  );
}
