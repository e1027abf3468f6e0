/**
 * Problems of the variables by which `npm start` and `npm run serve` tell the Worker where it runs (rules A10, A20).
 *
 * @param variables of a Worker that isn't for development
 */
export function developmentVariables(variables: object): readonly string[] {
  return [
    ["DEVELOPMENT", "npm start"],
    ["DEVELOPMENT_ORIGINS", "npm start"],
    ["SELF_HOSTED", "npm run serve"],
  ].flatMap(([name = "", command]) =>
    name in variables ? [`variable ${name} is for ${command} only`] : [],
  );
}
