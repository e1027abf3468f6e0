/** The oldest Node.js with which wrangler runs, which serves and deploys projects. */
const wranglersNode = 22;

/**
 * Says that Node.js is too old for wrangler. The commands themselves run with an older one.
 *
 * @param version of Node.js, such as 20.11.0
 * @returns undefined if it is new enough
 */
export function oldNodeProblem(version: string = process.versions.node): string | undefined {
  const major = Number(version.split(".")[0]);
  return major >= wranglersNode
    ? undefined
    : `npm start and deploy need Node.js ${wranglersNode} or newer, because wrangler does; this is ${version}`;
}
