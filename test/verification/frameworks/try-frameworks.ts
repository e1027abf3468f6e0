/**
 * `npm run try-frameworks`, or `npm run try-frameworks -- astro next`: installs, builds and serves the projects of
 * `examples/frameworks` with the packed package, and sends their form. It downloads 500 MB and takes minutes, so it isn't a
 * part of `npm test`; docs/frameworks.md says when it ran.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual, promisify } from "node:util";
import { packageRoot } from "../../../cli/package-root.ts";
import {
  frameworks,
  sendForm,
  versionsOf,
  withProject,
} from "../../support/servers/framework-project.ts";

const execute = promisify(execFile);
const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !frameworks().includes(name));
if (unknown.length > 0) {
  console.error(`no project for ${unknown.join(", ")}: there are ${frameworks().join(", ")}`);
  process.exit(2);
}
const place = mkdtempSync(join(tmpdir(), "dormouse-frameworks-"));
try {
  await execute("npm", ["pack", "--silent", "--pack-destination", place], { cwd: packageRoot });
  const [archive = ""] = readdirSync(place);
  for (const name of chosen.length > 0 ? chosen : frameworks())
    await tryOne(name, join(place, archive));
} finally {
  rmSync(place, { recursive: true });
}

/** Says in a line whether a framework's code publishes to the official client, and what goes wrong. */
async function tryOne(name: string, archive: string): Promise<void> {
  const folder = mkdtempSync(join(place, `${name}-`));
  try {
    await withProject(name, folder, archive, async (address) => {
      const outcome = await sendForm(address, "hello");
      const expected = { data: { text: "hello" }, code: 3501 };
      if (!isDeepStrictEqual(outcome, expected))
        throw new Error(`unexpected: ${JSON.stringify(outcome)}`);
    });
    const versions = Object.entries(versionsOf(name)).map(([one, version]) => `${one} ${version}`);
    console.log(`${name}: works, with ${versions.join(", ")}`);
  } catch (error) {
    process.exitCode = 1;
    console.error(`${name}: ${error instanceof Error ? error.stack : String(error)}`);
  }
}
