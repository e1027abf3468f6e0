/**
 * `npm run update`: has a running `npm run serve` go on with the sources, the packages and the configuration as they are on
 * the disk now. docs/self-hosting.md tells how it is used.
 */
import { resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { packageRoot } from "../package-root.ts";
import { runningServer } from "./state-folder.ts";
import { lastUpdate, updateText } from "./update-note.ts";

const usage = `npm run update -- [options]

Has a running npm run serve go on with the version that is on the disk now. The new version is checked and built while the
one before serves; then the port is handed over, and clients reconnect and recover. See docs/self-hosting.md.

  --state PATH    the folder of the running server (default .dormouse)
  --help          prints this text
`;

/** How often the server is looked at, in ms. */
const lookMs = 50;

async function update(args: readonly string[]): Promise<number> {
  const folder = stateFolderOf(args);
  if (folder === undefined) {
    console.log(usage);
    return args.includes("--help") ? 0 : 2;
  }
  const server = runningServer(folder);
  if (server.outcome === "none") {
    console.error(`Nothing was updated: ${server.problem}`);
    return 1;
  }
  const before = lastUpdate(folder)?.id;
  process.kill(server.processId, "SIGUSR2");
  console.log("The new version is checked and built while the server goes on");
  for (;;) {
    await pause(lookMs);
    const last = lastUpdate(folder);
    if (last !== undefined && last.id !== before) {
      const { outcome } = last;
      console.log(updateText(outcome));
      return outcome.outcome === "updated" ? 0 : 1;
    }
    const now = runningServer(folder);
    if (now.outcome === "none") {
      console.error(`The server has ended before it was updated: ${now.problem}`);
      return 1;
    }
  }
}

/** The folder that the command line names; undefined if it asks for help, or is wrong. */
function stateFolderOf(args: readonly string[]): string | undefined {
  if (args.includes("--help")) return undefined;
  try {
    const { values } = parseArgs({ args: [...args], options: { state: { type: "string" } } });
    return resolve(values.state ?? resolve(packageRoot, ".dormouse"));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return undefined;
  }
}

process.exitCode = await update(process.argv.slice(2));
