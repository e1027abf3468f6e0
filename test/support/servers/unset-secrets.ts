import { secretUses } from "../../../src/config/secret-uses.ts";

/**
 * All secrets that every Worker may have, without a value. Servers of tests get them below their own, so that none comes
 * from the `.dev.vars` of whoever has run `npm start`: its values are public, and refused outside development.
 */
export const unsetSecrets: Readonly<Record<string, string>> = Object.fromEntries(
  secretUses(undefined).map(({ name }) => [name, ""]),
);
