/**
 * `npm run serve`: runs the production bundle in workerd as if it were deployed, with its state on this machine's disk.
 * The bench measures this server, and docs/self-hosting.md tells how to host Dormouse with it.
 */
import { join } from "node:path";
import { KeptServer } from "./kept-server.ts";
import { listeningSocket } from "./listening-socket.ts";
import { usage } from "./serve-options.ts";
import { builtSetup, checkedSetup } from "./setup.ts";
import { noteServer, takeStateFolder } from "./state-folder.ts";
import { deleteEmptyDatabases } from "./wrangler-state.ts";

async function serve(args: readonly string[]): Promise<number> {
  const checked = checkedSetup(args);
  if (checked.outcome === "help") {
    console.log(usage);
    return 0;
  }
  if (checked.outcome === "bad") return refuse(checked.problem);
  const { options, source } = checked;
  const opened = await listeningSocket(options.host, options.port);
  if (opened.outcome === "refused") return refuse(opened.problem);
  const folder = takeStateFolder(options.state);
  if (folder.outcome === "refused") return refuse(folder.problem);
  noteServer(options.state, process.pid);
  deleteEmptyDatabases(join(options.state, "storage"));
  const setup = { ...(await builtSetup(checked)), keepsOpen: folder.descriptor };
  return new KeptServer(setup, opened, options, source, args).run();
}

function refuse(problem: string | undefined): number {
  if (problem !== undefined) console.error(`The server did not start: ${problem}`);
  return 1;
}

process.exitCode = await serve(process.argv.slice(2));
