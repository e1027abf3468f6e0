import { setTimeout as pause } from "node:timers/promises";
import { isatty } from "node:tty";
import { limits } from "../../src/limits.ts";
import { listeningSocket, type ListeningSocket } from "./listening-socket.ts";
import { whenParentEnds } from "./local-server.ts";
import { preparedSetup } from "./prepared-setup.ts";
import { Restarts, whenClockIsSetBack } from "./restarts.ts";
import type { ServeOptions } from "./serve-options.ts";
import { noteProcess, noteServer } from "./state-folder.ts";
import { noteUpdate, type UpdateOutcome, updateText } from "./update-note.ts";
import { bracketed } from "./workerd-config.ts";
import {
  type Ending,
  howItEnded,
  problemsOf,
  statusOf,
  Workerd,
  type WorkerdSetup,
} from "./workerd.ts";

/** The time in ms that pending requests have when the server stops. Sockets would stay open forever. */
const drainMs = 2_000;
/** The time in ms that they have when the server is updated: new requests wait meanwhile. */
const handoverMs = 300;

/** With fewer file descriptors, the server says for how many connections they suffice. */
const descriptorsRecommended = 8_192;

/** One workerd, from its start to its end. */
interface Served {
  /** The problems that the Worker reports; "" if there are none; undefined if it ended before it answered. */
  readonly problems: string | undefined;
  /** For how long it served; undefined if it ended before it answered. */
  readonly servedMs: number | undefined;
  readonly ending: Ending;
}

/**
 * workerd as `npm run serve` keeps it: started again if it ends by itself (rule B12) or the clock was set back (B32), and
 * with a new setup on SIGUSR2 (B33). The state is on the disk, and clients reconnect and recover.
 */
export class KeptServer {
  readonly #options: ServeOptions;
  readonly #source: string;
  readonly #args: readonly string[];
  readonly #stopping = new AbortController();
  readonly #restarts = new Restarts();
  #setup: WorkerdSetup;
  #socket: ListeningSocket;
  #workerd: Workerd | undefined;
  #hasServed = false;
  /** Whether the workerd that runs was ended so that another one starts. */
  #isRenewed = false;
  /** How often an update was asked for. */
  #updatesAsked = 0;
  /** An update whose setup hasn't answered yet: what was served before, and since when nobody is answered, in ms. */
  #handover: { readonly before: WorkerdSetup; readonly sinceMs: number } | undefined;

  /**
   * @param source where the secrets come from, for a person
   * @param args   the command line, by which the setup is made anew
   */
  constructor(
    setup: WorkerdSetup,
    socket: ListeningSocket,
    options: ServeOptions,
    source: string,
    args: readonly string[],
  ) {
    this.#setup = setup;
    this.#socket = socket;
    this.#options = options;
    this.#source = source;
    this.#args = args;
  }

  /** Serves until a signal stops the server. Gives the exit status of the script. */
  async run(): Promise<number> {
    const unwatch = this.#watch();
    noteServer(this.#options.state, process.pid);
    try {
      for (;;) {
        const served = await this.#serveOnce();
        const status = await this.#afterEnd(served);
        if (status !== undefined) return status;
      }
    } finally {
      unwatch();
    }
  }

  /** Follows signals, the parent process and the clock. Gives a function that ends this. */
  #watch(): () => void {
    process.once("exit", () => void this.#workerd?.kill());
    for (const signal of ["SIGINT", "SIGTERM"] as const)
      process.on(signal, () => this.#end(signal));
    // Under nohup no stream is a terminal, and the server outlives the one that is closed; Node.js resets what nohup set.
    process.on("SIGHUP", () => {
      if ([0, 1, 2].some((stream) => isatty(stream)))
        this.#end("SIGHUP, as its terminal was closed");
    });
    process.on("SIGUSR2", () => {
      this.#updatesAsked++;
      if (this.#updatesAsked === 1) void this.#update();
    });
    const unwatchParent = whenParentEnds(() => {
      if (!this.#stopping.signal.aborted) this.#end("npm, which started it, has ended");
    });
    const unwatchClock = whenClockIsSetBack((byMs) => {
      const seconds = Math.round(byMs / 1_000);
      console.error(`The clock was set back by ${seconds} s: workerd starts again with it`);
      this.#isRenewed = true;
      void this.#workerd?.kill();
    });
    return () => {
      unwatchParent();
      unwatchClock();
    };
  }

  /** A second call ends the server at once. */
  #end(why: string): void {
    if (!this.#stopping.signal.aborted) console.log(`The server stops: ${why}`);
    void (this.#stopping.signal.aborted ? this.#workerd?.kill() : this.#workerd?.stop(drainMs));
    this.#stopping.abort();
  }

  async #serveOnce(): Promise<Served> {
    const { state, port } = this.#options;
    this.#isRenewed = false;
    const listensOn = this.#socket.descriptor;
    const workerd = Workerd.launch({ ...this.#setup, listensOn }, state, port);
    this.#workerd = workerd;
    if (workerd.processId !== undefined) noteProcess(state, workerd.processId);
    const problems = await problemsOf(workerd);
    const answeredAtMs = Date.now();
    if (problems === "") this.#answers();
    else if (problems !== undefined) await workerd.stop(drainMs);
    const ending = await workerd.ended;
    const servedMs = problems === undefined ? undefined : Date.now() - answeredAtMs;
    return { problems, servedMs, ending };
  }

  #answers(): void {
    const { state, host, port } = this.#options;
    if (this.#handover !== undefined) {
      const goneMs = Math.round(performance.now() - this.#handover.sinceMs);
      this.#handover = undefined;
      this.#endUpdate({ outcome: "updated", goneMs });
    } else if (this.#hasServed) console.log("workerd serves again");
    else announce(`http://${bracketed(host)}:${port}`, state, this.#setup);
    this.#hasServed = true;
  }

  /** What follows from an end of workerd: the exit status of the script; undefined for another start. */
  async #afterEnd({ problems, servedMs, ending }: Served): Promise<number | undefined> {
    if (this.#stopping.signal.aborted) return 0;
    if (this.#isRenewed) return undefined;
    const how = howItEnded(ending);
    if (problems !== "" && this.#handover !== undefined) {
      this.#setup = this.#handover.before;
      this.#handover = undefined;
      const problem = problems ?? `workerd ended before it answered: ${how}`;
      this.#endUpdate({ outcome: "refused", problem });
      return undefined;
    }
    if (problems !== undefined && problems !== "") {
      const from = `(secrets are taken from ${this.#source})`;
      console.error(`The server did not start: ${problems}\n${from}`);
      return 1;
    }
    const restartInMs = this.#restarts.afterEnd(servedMs);
    console.error(unexpectedEnd(how, restartInMs));
    if (restartInMs === undefined) return statusOf(ending);
    // A burst of connections that ended workerd would wait for the next one, and end it as well.
    await this.#socket.close();
    if (!(await waited(restartInMs, this.#stopping.signal))) return 0;
    const opened = await listeningSocket(this.#options.host, this.#options.port);
    if (this.#stopping.signal.aborted) return 0;
    if (opened.outcome === "listening") this.#socket = opened;
    else console.error(`The server stops: ${opened.problem}`);
    return opened.outcome === "listening" ? undefined : 1;
  }

  /** Makes the setup from what is on the disk now, while the server goes on, and has workerd start with it. */
  async #update(): Promise<void> {
    const prepared = await preparedSetup(this.#args);
    if (this.#stopping.signal.aborted) return;
    // What is on the disk may have changed since.
    if (this.#updatesAsked > 1) {
      this.#updatesAsked = 1;
      return this.#update();
    }
    if (prepared.outcome === "bad")
      return this.#endUpdate({ outcome: "refused", problem: prepared.problem });
    const before = this.#setup;
    this.#handover = { before, sinceMs: performance.now() };
    this.#setup = { ...prepared.setup, keepsOpen: before.keepsOpen };
    this.#isRenewed = true;
    await this.#workerd?.stop(handoverMs);
  }

  #endUpdate(outcome: UpdateOutcome): void {
    const text = updateText(outcome);
    if (outcome.outcome === "updated") console.log(text);
    else console.error(text);
    noteUpdate(this.#options.state, outcome);
    const isAskedAgain = this.#updatesAsked > 1;
    this.#updatesAsked = isAskedAgain ? 1 : 0;
    if (isAskedAgain) void this.#update();
  }
}

function announce(address: string, state: string, { descriptorsMax: max }: WorkerdSetup): void {
  console.log(`Dormouse serves ${address}, its state is in ${state}`);
  if (max === undefined || max >= descriptorsRecommended) return;
  const room = Math.floor((max * (1 - limits.descriptorsSpare)) / limits.descriptorsPerRequest);
  console.log(
    `ulimit -n is ${max}: there is room for at most ${room} connections with a channel each`,
  );
}

/** What the operator is told when workerd has ended by itself. workerd has printed the cause before. */
function unexpectedEnd(how: string, restartInMs: number | undefined): string {
  const ended = `workerd ended unexpectedly: ${how}`;
  if (restartInMs === undefined) return ended;
  const when = restartInMs === 0 ? "now" : `in ${restartInMs} ms`;
  return (
    `${ended}. It starts again ${when}, and clients reconnect. After "Too many open files", raise ulimit -n, and ` +
    "bound the connections in the proxy: docs/self-hosting.md"
  );
}

/** Lets so many ms pass. Returns whether they passed: false if the server is stopped meanwhile. */
async function waited(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await pause(ms, undefined, { signal });
    return true;
  } catch {
    return false; // The only error is that the signal aborted the wait.
  }
}
