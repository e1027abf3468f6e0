import { Random } from "../../../support/random.ts";
import { type BackendAddress, BackendCalls } from "../clients/backend-call.ts";
import { microseconds } from "../history/clock.ts";
import type { Recorder } from "../history/recorder.ts";
import { type ReadState, parseText, TextWriter } from "./text-writer.ts";

/** A backend with several producers, which write texts into maps at the same time. */
export class GrowthLoad {
  readonly #calls: BackendCalls;
  readonly #channels: readonly string[];
  readonly #recorder: Recorder;
  readonly #writers: readonly TextWriter[];
  readonly #stopping = new AbortController();
  #underWay: Promise<unknown> = Promise.resolve();

  /** @param channels maps for texts that grow */
  constructor(
    backend: BackendAddress,
    channels: readonly string[],
    random: Random,
    recorder: Recorder,
  ) {
    this.#calls = new BackendCalls(backend);
    this.#channels = channels;
    this.#recorder = recorder;
    this.#writers = channels.flatMap((channel) =>
      Array.from({ length: writersEach }, (_, index) => {
        const own = new Random(random.between(0, 2 ** 31));
        const process = `writer-${channel}-${index + 1}`;
        return new TextWriter(process, channel, this.#calls, recorder, own);
      }),
    );
  }

  /** Failures that no server may cause, in sentences. */
  get failures(): readonly string[] {
    return this.#writers.flatMap(({ failures }) => failures);
  }

  /** Writes a text into each map, so that its stream is stored before the first client comes. */
  async prepare(): Promise<void> {
    await Promise.all(this.#writers.map((writer) => writer.begin()));
  }

  start(): void {
    const { signal } = this.#stopping;
    this.#underWay = Promise.all(this.#writers.map((writer) => writer.write(signal)));
  }

  /** Resolves when text was acknowledged that is stored later, or after a while without. */
  async untilGrown(channel: string): Promise<void> {
    const grown = this.#writers.filter((writer) => writer.channel === channel);
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, grownWithinMs);
    for (const writer of grown) writer.onGrown = resolve;
    await promise;
    clearTimeout(timer);
  }

  /** Ends all texts. Resolves when that is acknowledged or given up; rejects when something failed. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#underWay;
    if (this.failures.length > 0) throw new Error(this.failures.join("\n"));
  }

  /** Records the texts that are stored, once everything has settled. */
  async read(): Promise<void> {
    for (const channel of this.#channels) {
      const asked = microseconds();
      const called = await this.#calls.call("map_read_state", { channel, limit: -1 });
      if (called.outcome !== "result") throw new Error(`${channel} couldn't be read`);
      const { epoch = "", entries = [] }: ReadState = called.result;
      const texts = entries.map(({ key, data }) => ({ key, text: parseText(data) }));
      const read = { process: "writers", type: "ok", f: "text-read", channel } as const;
      this.#recorder.record({ ...read, time: microseconds(), asked, epoch, texts, last: true });
    }
  }

  /** Closes the connections. No call may follow. */
  close(): void {
    this.#stopping.abort();
    this.#calls.close();
  }
}

/** Texts that are written into a map at the same time. */
const writersEach = 2;
/** How long is waited for a piece. */
const grownWithinMs = 2_000;
