/**
 * Why an environment can't be used: wrangler only warns of a name that its file doesn't have, and takes the top level, so
 * that somebody would deploy production for a mistyped staging (rule A8).
 *
 * @param file    as a person names it
 * @param asked   undefined or "" for the top level
 * @param defined the environments in the file
 * @returns undefined if the file has it
 */
export function environmentProblem(
  file: string,
  asked: string | undefined,
  defined: readonly string[],
): string | undefined {
  if (asked === undefined || asked === "" || defined.includes(asked)) return undefined;
  const known = defined.length === 0 ? "it has none" : `it has ${defined.join(", ")}`;
  return `${file} has no environment ${asked}: ${known}`;
}
