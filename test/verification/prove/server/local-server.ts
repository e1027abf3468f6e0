import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../../support/servers/listen.ts";
import { Workerd, type WorkerdSetup } from "../../../../cli/serve/workerd.ts";

/** The kinds of objects, by the names of their bindings. */
export type ObjectKind = "CHANNELS" | "GATEWAYS" | "USERS";

/**
 * A fault of calls between objects. late: requests and answers take up to 0.3 s longer. lost: every other call fails
 * before it arrives. next lost: the next call fails so. unanswered: every other call fails after it was carried out.
 * doubled: each call arrives twice.
 */
export type CallFault = "late" | "lost" | "next lost" | "unanswered" | "doubled";

/** The parts that a {@link LocalServer} serves. */
export interface LocalServerOptions {
  /** The production bundle, or one without a protection. */
  readonly bundle: string;
  /** `[vars.config]`. */
  readonly config: object;
  readonly secrets: Readonly<Record<string, string>>;
}

/**
 * The production bundle in workerd, with its state on disk, and ways to break it: single objects, or the whole process.
 * It always restarts on the same port with the same disk.
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
   * Discards an object's memory when nothing is in progress in it.
   *
   * @param sockets whether they outlive the memory, as with an idle object, or are closed with it
   * @returns whether there was an instance to discard
   */
  async evict(objects: ObjectKind, name: string, sockets: "hibernate" | "close"): Promise<boolean> {
    return (await this.#control("evict", { objects, name, sockets })).done;
  }

  /** Ends an object in the middle of its work, and its sockets with it. Wakes it first if necessary. */
  async crash(objects: ObjectKind, name: string): Promise<boolean> {
    return (await this.#control("crash", { objects, name })).done;
  }

  /** Injects faults into the calls that an object gets, for a while. Wakes the object if necessary. */
  async failCalls(
    objects: ObjectKind,
    name: string,
    calls: CallFault,
    forMs: number,
  ): Promise<boolean> {
    return (await this.#control("trouble", { objects, name, calls, forMs: String(forMs) })).done;
  }

  /** Sets the clock of all objects so far ahead of the right time, and rings the alarm of one if it is due then. */
  async ring(objects: ObjectKind, name: string, afterMs: number): Promise<void> {
    const rung = await this.#control("ring", { objects, name, afterMs: String(afterMs) });
    if (!rung.done) throw new Error(`the alarm of ${name} couldn't ring: ${rung.text}`);
  }

  /** How many calls to an object have had a fault since it woke. */
  async failedCalls(objects: ObjectKind, name: string): Promise<number> {
    const { done, text } = await this.#control("troubled", { objects, name });
    return done ? Number(text) : 0;
  }

  /** Ends the runtime with `kill -9`, and starts it again on the same disk. */
  async killAndRestart(): Promise<void> {
    await this.#workerd?.kill();
    await this.#start();
  }

  /** Replaces the bundle as a deploy does: objects and sockets end, and new instances run the new code. */
  async deploy(): Promise<void> {
    this.#deploys++;
    await this.#workerd?.stop(drainMs);
    await this.#start();
  }

  /** Ends the server for good, and removes its state. */
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
      classNames: { CHANNELS: "ChannelObject", GATEWAYS: "GatewayObject", USERS: "UsersObject" },
      variables: { ...secrets, config: JSON.stringify(config) },
      control: { module: control, port: this.#controlPort },
    };
  }

  async #control(
    action: "evict" | "crash" | "ring" | "trouble" | "troubled",
    target: Readonly<Record<string, string>>,
  ): Promise<{ readonly done: boolean; readonly text: string }> {
    const query = new URLSearchParams(target).toString();
    const address = `http://127.0.0.1:${this.#controlPort}/${action}?${query}`;
    let response: Response;
    try {
      // Evicting an object waits for its work; that may take long, and later faults wait too.
      const patienceMs = action === "ring" ? ringMs : controlMs;
      response = await fetch(address, { signal: AbortSignal.timeout(patienceMs) });
    } catch {
      return { done: false, text: "" };
    }
    const text = await response.text();
    // A crash answers with its own reason, because the object can't answer any more.
    if (response.ok || text.includes("crash wanted")) return { done: true, text };
    if (response.status === 409) return { done: false, text };
    throw new Error(`${action} was answered ${response.status}: ${text}`);
  }
}

/** The bundle with another version, as the next release would have. */
function renamed(bundle: string, deploys: number): string {
  if (deploys === 0) return bundle;
  const changed = bundle.replace(nameOfRelease, `$1 deploy ${deploys}`);
  if (changed === bundle) throw new Error("the bundle doesn't say which release it is");
  return changed;
}

const nameOfRelease = /(\d+\.\d+\.\d+ Dormouse)/;

/** How long a fault of one object may take. */
const controlMs = 3_000;
/** How long an alarm may take: a home asks many objects then. */
const ringMs = 30_000;

/** How long the runtime may take to end by itself. */
const drainMs = 500;

const control = readFileSync(new URL("./control.js", import.meta.url), "utf8");
const breakable = readFileSync(new URL("./breakable.js", import.meta.url), "utf8");
