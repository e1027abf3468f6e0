import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../../test/support/listen.ts";
import { Workerd, type WorkerdSetup } from "../../../tools/workerd.ts";

/** The two kinds of objects, by the names of their bindings. */
export type ObjectKind = "CHANNELS" | "GATEWAYS";

/**
 * What becomes of calls between objects. late: by up to 0.3 s, and their answers too. lost: every other one fails before it was heard.
 * unanswered: every other one fails after it was carried out. doubled: it is heard twice.
 */
export type CallFault = "late" | "lost" | "unanswered" | "doubled";

/** What a {@link LocalServer} serves. */
export interface LocalServerOptions {
  /** The production bundle, or what was made of it to see whether the proof notices. */
  readonly bundle: string;
  /** `[vars.config]`. */
  readonly config: object;
  readonly secrets: Readonly<Record<string, string>>;
}

/**
 * The production bundle in workerd, with its state on disk, and ways to break it: its objects from outside, and all of it.
 * Whatever becomes of it, it comes back on the same port with the same disk.
 */
export class LocalServer {
  /** Such as `http://127.0.0.1:8787`; the same after every restart. */
  readonly address: string;
  readonly #port: number;
  readonly #controlPort: number;
  readonly #folder: string;
  readonly #options: LocalServerOptions;
  #deploys = 0;
  #isClosed = false;
  #workerd: Workerd | undefined;

  static async start(options: LocalServerOptions): Promise<LocalServer> {
    const folder = mkdtempSync(join(tmpdir(), "dormouse-prove-"));
    const server = new LocalServer(options, folder, await freePort(), await freePort());
    try {
      await server.#start();
    } catch (error) {
      await server.close();
      throw error;
    }
    return server;
  }

  private constructor(options: LocalServerOptions, folder: string, port: number, control: number) {
    this.#options = options;
    this.#folder = folder;
    this.#port = port;
    this.#controlPort = control;
    this.address = `http://127.0.0.1:${port}`;
  }

  /**
   * Throws an object's memory away when nothing is under way in it.
   *
   * @param sockets whether they outlive it, as with an idle object, or are closed with it
   * @returns whether there was an instance to throw away
   */
  async evict(objects: ObjectKind, name: string, sockets: "hibernate" | "close"): Promise<boolean> {
    return (await this.#control("evict", { objects, name, sockets })).done;
  }

  /** Ends an object in the middle of whatever it does, and its sockets with it. One that slept wakes for it. */
  async crash(objects: ObjectKind, name: string): Promise<boolean> {
    return (await this.#control("crash", { objects, name })).done;
  }

  /** Lets calls that an object gets come to something else for a while. One that slept wakes for it. */
  async failCalls(
    objects: ObjectKind,
    name: string,
    calls: CallFault,
    forMs: number,
  ): Promise<boolean> {
    return (await this.#control("trouble", { objects, name, calls, forMs: String(forMs) })).done;
  }

  /** How many calls to an object have come to something else since it woke. */
  async failedCalls(objects: ObjectKind, name: string): Promise<number> {
    const { done, text } = await this.#control("troubled", { objects, name });
    return done ? Number(text) : 0;
  }

  /** Ends the runtime with `kill -9`, and starts it again on the same disk. */
  async killAndRestart(): Promise<void> {
    await this.#workerd?.kill();
    await this.#start();
  }

  /** Replaces the bundle by another one, as a deploy does: objects end, sockets too, and what comes back runs the new code. */
  async deploy(): Promise<void> {
    this.#deploys++;
    await this.#workerd?.stop(drainMs);
    await this.#start();
  }

  /** Ends it for good, and removes what it kept. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#workerd?.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #start(): Promise<void> {
    if (this.#isClosed) throw new Error("the server was closed meanwhile");
    this.#workerd = await Workerd.start(this.#setup(), this.#folder, this.#port);
  }

  #setup(): WorkerdSetup {
    const { bundle, config, secrets } = this.#options;
    return {
      modules: { "breakable.js": breakable, "edge.js": renamed(bundle, this.#deploys) },
      classNames: { CHANNELS: "ChannelObject", GATEWAYS: "GatewayObject" },
      variables: { ...secrets, config: JSON.stringify(config) },
      control: { module: control, port: this.#controlPort },
    };
  }

  async #control(
    action: "evict" | "crash" | "trouble" | "troubled",
    target: Readonly<Record<string, string>>,
  ): Promise<{ readonly done: boolean; readonly text: string }> {
    const query = new URLSearchParams(target).toString();
    const address = `http://127.0.0.1:${this.#controlPort}/${action}?${query}`;
    let response: Response;
    try {
      // Throwing an object away waits for what it is doing; that may be long, and what follows waits too.
      response = await fetch(address, { signal: AbortSignal.timeout(controlMs) });
    } catch {
      return { done: false, text: "" };
    }
    const text = await response.text();
    // A crash answers with its own reason: nobody is left to answer anything else.
    if (response.ok || text.includes("crash wanted")) return { done: true, text };
    if (response.status === 409) return { done: false, text };
    throw new Error(`${action} was answered ${response.status}: ${text}`);
  }
}

/** The bundle as the next release would be: it calls itself something else. */
function renamed(bundle: string, deploys: number): string {
  if (deploys === 0) return bundle;
  const changed = bundle.replace(nameOfRelease, `$1 deploy ${deploys}`);
  if (changed === bundle) throw new Error("the bundle doesn't say which release it is");
  return changed;
}

const nameOfRelease = /(\d+\.\d+\.\d+ Dormouse)/;

/** How long something may take that is done to one object. */
const controlMs = 3_000;

/** How long the runtime may take to end by itself. */
const drainMs = 500;

const control = readFileSync(new URL("./control.js", import.meta.url), "utf8");
const breakable = readFileSync(new URL("./breakable.js", import.meta.url), "utf8");
