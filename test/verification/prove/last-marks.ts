import { setTimeout as pause } from "node:timers/promises";
import type { CursorEvent } from "../checker/cursors/cursor-event.ts";
import { type BackendAddress, BackendCalls } from "./clients/backend-call.ts";
import { lastUsers, type ProvedCursors } from "./cursor-scenario.ts";
import { microseconds } from "./history/clock.ts";
import type { Recorder } from "./history/recorder.ts";
import type { LocalServer } from "./server/local-server.ts";

/**
 * The marks that a backend sets when the faults of a run are over. Each of them is the last word on a channel, so nothing later
 * repairs what its receipts weren't told: the channel's object has just lost its memory, or the call that tells the receipts
 * gets lost, or the user is forgotten.
 */
export class LastMarks {
  readonly #server: LocalServer;
  readonly #calls: BackendCalls;
  readonly #all: readonly ProvedCursors[];
  readonly #recorder: Recorder;
  #count = 0;

  constructor(
    server: LocalServer,
    backend: BackendAddress,
    all: readonly ProvedCursors[],
    recorder: Recorder,
  ) {
    this.#server = server;
    this.#calls = new BackendCalls(backend);
    this.#all = all;
    this.#recorder = recorder;
  }

  async mark(): Promise<void> {
    const { forgotten, afterWaking, later } = lastUsers;
    await Promise.all(
      this.#all.map(async (one) => {
        await this.#mark(one, forgotten);
        await this.#untilShown(one, forgotten);
      }),
    );
    await this.#forget(forgotten);
    for (const one of this.#all) {
      const isEvicted = await this.#server.evict("CHANNELS", one.channel, "hibernate");
      if (!isEvicted) await this.#crash(one.channel);
      await this.#loseNext(one);
      await this.#mark(one, afterWaking);
    }
    await Promise.all(this.#all.map((one) => this.#untilShown(one, afterWaking)));
    for (const one of this.#all) {
      await this.#loseNext(one);
      await this.#mark(one, later);
    }
  }

  /** Asks what all users have read. To be called when everything has settled. */
  async list(): Promise<void> {
    for (const { channel } of this.#all) {
      const { marks, epoch }: MarksResult = Object(
        await this.#calls.untilAnswered("marks", { channel, limit: 1_000 }),
      );
      const listed = marks.map(({ user, read, at_ms: atMs }) => ({ user, read, atMs }));
      this.#record({ type: "ok", f: "marks", channel, epoch, marks: listed });
    }
  }

  /** Closes the connections. No call may follow. */
  close(): void {
    this.#calls.close();
  }

  async #mark({ channel }: ProvedCursors, user: string): Promise<void> {
    const { channels }: UnreadResults = Object(
      await this.#calls.untilAnswered("unread", { user, channels: [channel] }),
    );
    const { epoch = "", offset = 0 } = channels[channel] ?? {};
    const mark = { f: "mark", channel, user, call: `last-${++this.#count}` } as const;
    this.#record({ ...mark, type: "invoke", epoch, offset, own: false });
    const { read }: MarkResult = Object(
      await this.#calls.untilAnswered("mark_read", { channel, user, offset, epoch }),
    );
    this.#record({ ...mark, type: "ok", epoch, read });
  }

  async #forget(user: string): Promise<void> {
    for (const { channel } of this.#all)
      this.#record({ type: "invoke", f: "forget-user", channel, user });
    await this.#calls.untilAnswered("forget_user", { user });
  }

  /** The next call that the object of the receipts gets is lost. */
  async #loseNext({ receipts }: ProvedCursors): Promise<void> {
    await this.#server.failCalls("CHANNELS", receipts, "next lost", losingMs);
  }

  async #crash(channel: string): Promise<void> {
    this.#recorder.record({ ...here(), type: "info", f: "crash", channel });
    await this.#server.crash("CHANNELS", channel);
  }

  /** Resolves when the receipts show a user. If they never do, the checker will say so. */
  async #untilShown({ receipts }: ProvedCursors, user: string): Promise<void> {
    const endMs = performance.now() + shownMs;
    do {
      const called = await this.#calls.call("map_read_state", { channel: receipts, limit: -1 });
      const result = called.outcome === "result" ? called.result : {};
      const { entries = [] }: { readonly entries?: readonly { readonly key: string }[] } = result;
      if (entries.some(({ key }) => key === user)) return;
      await pause(pollMs);
    } while (performance.now() < endMs);
  }

  #record(event: Unmarked<CursorEvent>): void {
    this.#recorder.record({ ...event, ...here() });
  }
}

function here(): { readonly process: string; readonly time: number } {
  return { process: "cursors", time: microseconds() };
}

/** An event of any kind without its process and time. */
type Unmarked<Each> = Each extends CursorEvent ? Omit<Each, "process" | "time"> : never;

/** The results of `marks`, `unread` and `mark_read`. */
interface MarksResult {
  readonly epoch: string;
  readonly marks: readonly {
    readonly user: string;
    readonly read: number;
    readonly at_ms: number;
  }[];
}

interface UnreadResults {
  readonly channels: Readonly<
    Record<string, { readonly epoch?: string; readonly offset?: number }>
  >;
}

interface MarkResult {
  readonly read: number;
}

/** A call that fails is repeated a second later. */
const losingMs = 900;
const shownMs = 5_000;
const pollMs = 100;
