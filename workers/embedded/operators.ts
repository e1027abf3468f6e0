/** The operators of a Worker of one's own, as its code knows them (rule OW15). */

/** What the Worker's `console` may give: only `true` lets somebody in. */
export type OperatorAnswer = boolean | null | undefined;

/**
 * Asks the Worker's code whether a request is an operator's.
 *
 * @throws what it throws, which is in the log: nobody is let in
 */
export async function askForAdmission(
  ask: () => OperatorAnswer | Promise<OperatorAnswer>,
): Promise<boolean> {
  try {
    return parseAdmission(await ask());
  } catch (error) {
    console.error("who may see the console isn't known:", error);
    throw error;
  }
}

/** JavaScript may give anything, such as the whole user, who may be nobody's operator. */
function parseAdmission(given: unknown): boolean {
  if (given === true) return true;
  if (given === false || given === null || given === undefined) return false;
  throw new Error(
    `console of dormouse() gave a value of the type ${typeof given}, where only true lets somebody in`,
  );
}

/**
 * The configuration with the console on, unless it says otherwise.
 *
 * @throws if it lets operators in by Cloudflare Access as well
 */
export function withConsole(config: object): object {
  const section: unknown = Reflect.get(config, "console");
  const said = typeof section === "object" && section !== null ? section : {};
  if ("access_team_domain" in said)
    throw new Error(
      "console of dormouse() and console.access_team_domain both name operators: keep one",
    );
  return { ...config, console: { enabled: true, ...said } };
}
