import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Miniflare, MiniflareOptions, V4MiniflareOptions } from "miniflare";
import { type HookBackend, hooksBinding, type JsonConfig } from "./hooks.ts";
import { broughtByWrangler } from "./packages.ts";
import { DormouseTestError } from "./test-error.ts";
import { testLimits } from "./test-limits.ts";
import { kitText, type WorkerModules } from "./worker-code.ts";

/** An object of the server that was started, and how often. */
export interface StartedObject {
  readonly kind: ObjectKind;
  readonly name: string;
  /** One more each time that the object has woken in the present runtime. */
  readonly starts: number;
}

/** The kinds of objects, by the names of their bindings. */
export type ObjectKind = "CHANNELS" | "GATEWAYS" | "USERS" | "METRICS";

/** What {@link Runtime} runs. */
export interface RuntimeSetup {
  readonly modules: WorkerModules;
  /** Variables and secrets, in JSON. */
  readonly bindings: JsonConfig;
  readonly hooks: HookBackend;
}

/** Where the clock is after a step, and how many alarms have rung. */
interface ClockStep {
  readonly nowMs: number;
  readonly aheadMs: number;
  readonly rung: number;
}

/** The Worker in the runtime, with its state in a folder of its own. */
export class Runtime {
  readonly #setup: RuntimeSetup;
  readonly #folder: string;
  readonly #miniflare: Miniflare;
  #url: URL;
  #aheadMs = 0;
  /** Also at the end of a process that is killed: the runtime ends it before anything else can be awaited. */
  readonly #clear = (): void => rmSync(this.#folder, { recursive: true, force: true });

  static async start(setup: RuntimeSetup): Promise<Runtime> {
    const folder = mkdtempSync(join(tmpdir(), "dormouse-kit-"));
    const { Miniflare: Started } = broughtByWrangler().miniflare;
    const miniflare = new Started(optionsOf(setup, folder, 0));
    try {
      await miniflare.ready;
      return new Runtime(setup, folder, miniflare, await miniflare.unsafeGetDirectURL(workerName));
    } catch (error) {
      await miniflare.dispose();
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  private constructor(setup: RuntimeSetup, folder: string, miniflare: Miniflare, url: URL) {
    this.#setup = setup;
    this.#folder = folder;
    this.#miniflare = miniflare;
    this.#url = url;
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

  /** All objects that were ever started. */
  objects(): Promise<readonly StartedObject[]> {
    return this.#control("objects");
  }

  /**
   * Throws away an object's memory, and keeps its sockets, as the platform does with an object that is idle. Resolves when it
   * sleeps, also if it slept already.
   */
  async evict({ kind, name }: Pick<StartedObject, "kind" | "name">): Promise<void> {
    try {
      // Again until it sleeps: what is under way may wake it once more.
      for (let tries = 0; tries < testLimits.evictions; tries++)
        await this.#miniflare.unsafeEvictDurableObject(workerName, classNames[kind], { name });
    } catch (error) {
      if (error instanceof Error && error.message.includes("not currently running")) return;
      throw error;
    }
  }

  /** Ends the runtime, and starts it again with the same state, as a deploy does with the objects. */
  async deploy(): Promise<void> {
    const objects = await this.objects();
    await this.#miniflare.setOptions(optionsOf(this.#setup, this.#folder, this.#aheadMs));
    this.#url = await this.#miniflare.unsafeGetDirectURL(workerName);
    await this.#control("know", objects);
  }

  /** Sets the clock ahead up to a time, but no further than to the next alarm, and rings what is due then. */
  async step(untilMs: number): Promise<ClockStep> {
    const step = await this.#control<ClockStep>("step", untilMs);
    this.#aheadMs = step.aheadMs;
    return step;
  }

  /** Empties all objects, and ends their sockets. */
  async wipe(): Promise<void> {
    await this.#control("wipe");
  }

  async stop(): Promise<void> {
    await this.#miniflare.dispose();
    process.off("exit", this.#clear);
    this.#clear();
  }

  async #control<Answer>(...call: readonly unknown[]): Promise<Answer> {
    const response = await this.#miniflare.dispatchFetch("http://control.invalid/", {
      method: "POST",
      body: JSON.stringify(call),
    });
    const text = await response.text();
    if (!response.ok) throw new DormouseTestError(`the control of the runtime failed: ${text}`);
    return JSON.parse(text);
  }
}

const workerName = "dormouse";

const classNames: Readonly<Record<ObjectKind, string>> = {
  CHANNELS: "ChannelObject",
  GATEWAYS: "GatewayObject",
  USERS: "UsersObject",
  METRICS: "MetricsObject",
};

const compatibilityDate = "2026-11-02";

function optionsOf(
  { modules, bindings, hooks }: RuntimeSetup,
  folder: string,
  aheadMs: number,
): MiniflareOptions {
  const { convertV4MiniflareOptions, Response } = broughtByWrangler().miniflare;
  const options: V4MiniflareOptions = {
    host: "127.0.0.1",
    port: 0,
    cf: false,
    logRequests: false,
    resourcePersistencePath: folder,
    workers: [
      {
        name: "control",
        compatibilityDate,
        modules: [{ type: "ESModule", path: "control.js", contents: kitText("control.js") }],
        serviceBindings: { CONTROL: { name: workerName, entrypoint: "DormouseTestControl" } },
      },
      {
        name: "backend",
        compatibilityDate,
        modules: [{ type: "ESModule", path: "backend.js", contents: kitText("backend.js") }],
        serviceBindings: {
          TEST: async (request) => {
            const { pathname } = new URL(request.url);
            const headers = new Headers([...request.headers]);
            const { status, body } = await hooks.answer(pathname, await request.text(), headers);
            return new Response(body === "" ? null : body, { status });
          },
        },
      },
      {
        name: workerName,
        compatibilityDate,
        compatibilityFlags: ["no_web_socket_compression"],
        modulesRoot: "/",
        modules: Object.entries(modules).map(([name, text]) => ({
          type: "ESModule",
          path: `/${name}`,
          contents: name === "clock.js" ? `globalThis.aheadAtStartMs = ${aheadMs};\n${text}` : text,
        })),
        bindings: JSON.parse(JSON.stringify(bindings)),
        durableObjects: Object.fromEntries(
          Object.entries(classNames).map(([binding, className]) => [
            binding,
            { className, useSQLite: true },
          ]),
        ),
        serviceBindings: {
          [hooksBinding]: "backend",
        },
        unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
      },
    ],
  };
  return convertV4MiniflareOptions(options);
}
