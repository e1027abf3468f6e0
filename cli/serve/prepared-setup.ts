/**
 * The setup of a server that is updated, made and tried by a process of its own: it runs the sources as they are on the disk
 * now, while the server's process has those with which it was started.
 */
import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listeningSocket } from "./listening-socket.ts";
import { builtSetup, checkedSetup } from "./setup.ts";
import { howItEnded, problemsOf, Workerd, type WorkerdSetup } from "./workerd.ts";

export type PreparedSetup =
  | { readonly outcome: "built"; readonly setup: WorkerdSetup }
  | { readonly outcome: "bad"; readonly problem: string };

/** Changes with the members of {@link WorkerdSetup}, which a process of another version wouldn't know. */
const setupVersion = 1;

/** What the process says to its parent. */
interface Message {
  readonly version: number;
  readonly prepared: PreparedSetup;
}

/**
 * Makes the setup.
 *
 * @param args the command line of `npm run serve`
 */
export function preparedSetup(args: readonly string[]): Promise<PreparedSetup> {
  const child = fork(import.meta.filename, args, {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const { promise, resolve } = Promise.withResolvers<PreparedSetup>();
  child.once("message", (message: Message) => {
    const problem = "this version needs a restart of npm run serve";
    resolve(message.version === setupVersion ? message.prepared : { outcome: "bad", problem });
  });
  child.once("error", ({ message }) => resolve({ outcome: "bad", problem: message }));
  // Its own output has said why.
  child.once("close", () =>
    resolve({ outcome: "bad", problem: "the new version can't be prepared" }),
  );
  return promise;
}

async function prepare(args: readonly string[]): Promise<PreparedSetup> {
  const checked = checkedSetup(args);
  switch (checked.outcome) {
    case "checked": {
      const setup = await builtSetup(checked);
      const problem = await problemOf(setup);
      return problem === "" ? { outcome: "built", setup } : { outcome: "bad", problem };
    }
    case "bad":
      return { outcome: "bad", problem: checked.problem ?? "its configuration is invalid" };
    case "help":
      return { outcome: "bad", problem: "--help serves nothing" };
  }
}

/** Starts workerd with the setup, on a port and in a folder of its own. "" if it answers without a problem. */
async function problemOf(setup: WorkerdSetup): Promise<string> {
  const opened = await listeningSocket("127.0.0.1", 0);
  if (opened.outcome === "refused") return opened.problem;
  const folder = mkdtempSync(join(tmpdir(), "dormouse-update-"));
  const tried = { ...setup, host: "127.0.0.1", listensOn: opened.descriptor };
  const workerd = Workerd.launch(tried, folder, opened.port);
  try {
    const problems = await problemsOf(workerd);
    return problems ?? `workerd ended before it answered: ${howItEnded(await workerd.ended)}`;
  } finally {
    await workerd.kill();
    await opened.close();
    rmSync(folder, { recursive: true });
  }
}

if (import.meta.main) {
  const prepared = await prepare(process.argv.slice(2));
  process.send?.({ version: setupVersion, prepared } satisfies Message);
}
