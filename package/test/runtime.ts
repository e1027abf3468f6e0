import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Miniflare } from "miniflare";
import { miniflareModule } from "./packages.ts";
import { callableObjects, callableService, type MethodCall } from "./project/callable-bindings.ts";
import { applyMigrations } from "./project/d1-migrations.ts";
import type { WranglerProject } from "./project/wrangler-file.ts";
import { runtimeOptions, type RuntimeSetup, workerName } from "./runtime-options.ts";
import type { ClockStep, OwnObject, RunningServer, StartedObject } from "./running-server.ts";
import { DormouseTestError } from "./test-error.ts";
import { testLimits } from "./test-limits.ts";

/** The Worker in the runtime, with its state in a folder of its own. */
export class Runtime<Bindings extends object> implements RunningServer<Bindings> {
  readonly #setup: RuntimeSetup;
  readonly #project: WranglerProject | undefined;
  readonly #folder: string;
  readonly #miniflare: Miniflare;
  #url: URL;
  #bindings: Bindings;
  #aheadMs = 0;
  /** How often the state was thrown away: it is in another folder since. */
  #wiped = 0;
  /** Also at the end of a process that is killed: the runtime ends it before anything else can be awaited. */
  readonly #clear = (): void => rmSync(this.#folder, { recursive: true, force: true });

  static async start<Bindings extends object>(
    setup: RuntimeSetup,
    project: WranglerProject | undefined,
  ): Promise<Runtime<Bindings>> {
    const folder = mkdtempSync(join(tmpdir(), "dormouse-kit-"));
    const { Miniflare: Started } = miniflareModule();
    const miniflare = new Started(runtimeOptions(setup, stateFolder(folder, 0), 0));
    try {
      await miniflare.ready;
      const url = await miniflare.unsafeGetDirectURL(workerName);
      const bindings = await bindingsOf<Bindings>(setup, miniflare);
      const runtime = new Runtime({ setup, project, folder, miniflare, url, bindings });
      await runtime.#migrate();
      return runtime;
    } catch (error) {
      await miniflare.dispose();
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  private constructor(parts: RuntimeParts<Bindings>) {
    const { setup, project, folder, miniflare, url, bindings } = parts;
    this.#setup = setup;
    this.#project = project;
    this.#folder = folder;
    this.#miniflare = miniflare;
    this.#url = url;
    this.#bindings = bindings;
    process.once("exit", this.#clear);
  }

  /** Where the Worker is reached, until the next deploy. */
  get url(): URL {
    return this.#url;
  }

  /** How far the Worker's clock is ahead of this machine's. */
  get aheadMs(): number {
    return this.#aheadMs;
  }

  /** What the Worker's environment has, for the test: until the next deploy. */
  get bindings(): Bindings {
    return this.#bindings;
  }

  /** All objects that were ever started. */
  objects(): Promise<readonly StartedObject[]> {
    return this.#control("objects");
  }

  /**
   * Throws away an object's memory, and keeps its sockets, as the platform does with an object that is idle. Resolves when it
   * sleeps, also if it slept already.
   */
  async evict({ kind, name, id = "" }: OwnObject): Promise<void> {
    const { className } = this.#setup.objects.find(({ binding }) => binding === kind) ?? {};
    if (className === undefined)
      throw new DormouseTestError(
        `evict: the Worker has no objects ${kind}; it has ${this.#setup.objects.map(({ binding }) => binding).join(", ")}`,
      );
    const object = name === undefined ? { id } : { name };
    try {
      // Again until it sleeps: what is under way may wake it once more.
      for (let tries = 0; tries < testLimits.evictions; tries++)
        await this.#miniflare.unsafeEvictDurableObject(workerName, className, object);
    } catch (error) {
      if (error instanceof Error && error.message.includes("not currently running")) return;
      throw error;
    }
  }

  /** Ends the runtime, and starts it again with the same state, as a deploy does with the objects. */
  async deploy(): Promise<void> {
    const objects = await this.objects();
    await this.#restart();
    await this.#control("know", objects);
  }

  /** A sentence for each problem of the configuration in the Worker's code; none if it has none. */
  configurationProblems(): Promise<readonly string[]> {
    return this.#control("configurationProblems");
  }

  /** The events of the configuration in the Worker's code; null if there is none. */
  embeddedEvents(): Promise<object | null> {
    return this.#control("embeddedEvents");
  }

  /** Sets the clock ahead up to a time, but no further than to the next alarm, and rings what is due then. */
  async step(untilMs: number): Promise<ClockStep> {
    const step = await this.#control<ClockStep>("step", untilMs);
    this.#aheadMs = step.aheadMs;
    return step;
  }

  /** Forgets all state, and ends all connections. A Worker with databases or the like starts anew, on an empty disk. */
  async wipe(): Promise<void> {
    if (this.#setup.surroundings?.keepsState !== true) return this.#control("wipe");
    const before = stateFolder(this.#folder, this.#wiped++);
    await this.#restart();
    rmSync(before, { recursive: true, force: true });
    await this.#migrate();
  }

  async stop(): Promise<void> {
    await this.#miniflare.dispose();
    process.off("exit", this.#clear);
    this.#clear();
  }

  async #restart(): Promise<void> {
    const state = stateFolder(this.#folder, this.#wiped);
    await this.#miniflare.setOptions(runtimeOptions(this.#setup, state, this.#aheadMs));
    this.#url = await this.#miniflare.unsafeGetDirectURL(workerName);
    this.#bindings = await bindingsOf(this.#setup, this.#miniflare);
  }

  async #migrate(): Promise<void> {
    if (this.#project !== undefined)
      await applyMigrations(this.#project, (name) =>
        this.#miniflare.getD1Database(name, workerName),
      );
  }

  #control<Answer>(...call: readonly unknown[]): Promise<Answer> {
    return controlled(this.#miniflare, call);
  }
}

interface RuntimeParts<Bindings> {
  readonly setup: RuntimeSetup;
  readonly project: WranglerProject | undefined;
  readonly folder: string;
  readonly miniflare: Miniflare;
  readonly url: URL;
  readonly bindings: Bindings;
}

/** What the environment of the Worker under test has, for the test. */
async function bindingsOf<Bindings extends object>(
  { objects, given, surroundings }: RuntimeSetup,
  miniflare: Miniflare,
): Promise<Bindings> {
  const bindings = await miniflare.getBindings<Record<string, object>>(workerName);
  const kinds = new Set(objects.map(({ binding }) => binding));
  const services = new Set([
    ...given.services.keys(),
    ...Object.keys({ ...surroundings?.options.serviceBindings }),
  ]);
  const call = (method: MethodCall) => calledMethod(miniflare, method);
  const shown = Object.entries(bindings)
    .filter(([name]) => !name.startsWith("DORMOUSE_TEST_"))
    .map(([name, bound]) => {
      if (kinds.has(name)) return [name, callableObjects(name, bound, call)];
      return [name, services.has(name) ? callableService(name, bound, call) : bound];
    });
  return Object.fromEntries(shown);
}

/** Lets the Worker under test call a method, and throws what the method throws. */
async function calledMethod(miniflare: Miniflare, call: MethodCall): Promise<unknown> {
  const { result, threw } = await controlled<MethodAnswer>(miniflare, ["call", call]);
  if (threw !== undefined) throw Object.assign(new Error(threw.message), { name: threw.name });
  return result;
}

interface MethodAnswer {
  readonly result?: unknown;
  readonly threw?: { readonly name: string; readonly message: string };
}

/** Asks the kit's control in the runtime. */
async function controlled<Answer>(miniflare: Miniflare, call: readonly unknown[]): Promise<Answer> {
  const response = await miniflare.dispatchFetch("http://control.invalid/", {
    method: "POST",
    body: JSON.stringify(call),
  });
  const text = await response.text();
  if (!response.ok) throw new DormouseTestError(`the control of the runtime failed: ${text}`);
  return JSON.parse(text);
}

function stateFolder(folder: string, wiped: number): string {
  return join(folder, `state-${wiped}`);
}
