import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Workerd, type WorkerdSetup } from "../../cli/serve/workerd.ts";
import { benchPort } from "./bench-port.ts";
import type { SystemOptions, Counts, RunningSystem } from "./system.ts";

/** A Worker of the bench. */
export interface WorkerdProgram extends Pick<
  WorkerdSetup,
  "modules" | "classNames" | "variables" | "secrets"
> {
  /** The path that gives its counts, if they are wanted; absent for a Worker without counts. */
  readonly countsPath?: string;
}

/** Starts a Worker in its own workerd, with its state on disk until it stops. */
export async function startOnWorkerd(
  { observed = false, counted = false }: SystemOptions,
  { countsPath, ...program }: WorkerdProgram,
): Promise<RunningSystem> {
  const folder = mkdtempSync(join(tmpdir(), "dormouse-bench-"));
  const port = await benchPort();
  const observation = observed ? await observationSetup() : undefined;
  const workerd = await started({ ...program, ...observation }, folder, port);
  const { processId } = workerd;
  if (processId === undefined) throw new Error("workerd runs without a process");
  return {
    port,
    processId,
    ...(observation !== undefined && { inspectorPort: observation.inspectorPort }),
    sleep: async () => {
      if (observation === undefined) throw new Error("Nothing was arranged to make objects sleep");
      await asked(`http://127.0.0.1:${observation.control.port}/`);
    },
    counts: async () => {
      if (!counted || countsPath === undefined)
        throw new Error("Nothing was arranged to be counted");
      const counts: Counts = JSON.parse(await asked(`http://127.0.0.1:${port}${countsPath}`));
      return counts;
    },
    stop: async () => {
      await workerd.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function started(setup: WorkerdSetup, folder: string, port: number): Promise<Workerd> {
  try {
    return await Workerd.start(setup, folder, port);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

async function observationSetup() {
  const module = readFileSync(new URL("./sleep-control.js", import.meta.url), "utf8");
  return { inspectorPort: await benchPort(), control: { module, port: await benchPort() } };
}

async function asked(address: string): Promise<string> {
  const response = await fetch(address);
  const text = await response.text();
  if (!response.ok) throw new Error(`${address} was answered ${response.status}: ${text}`);
  return text;
}
