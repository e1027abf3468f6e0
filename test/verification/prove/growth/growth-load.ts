import { Random } from "../../../support/random.ts";
import { BackendLoad } from "../backend-load.ts";
import type { BackendAddress } from "../clients/backend-call.ts";
import { microseconds } from "../history/clock.ts";
import type { Recorder } from "../history/recorder.ts";
import { type ReadState, parseText, TextWriter } from "./text-writer.ts";

/** A backend with several producers, which write texts into maps at the same time. */
export class GrowthLoad extends BackendLoad {
  readonly #channels: readonly string[];
  readonly #writers: readonly TextWriter[];

  /** @param channels maps for texts that grow */
  constructor(
    backend: BackendAddress,
    channels: readonly string[],
    random: Random,
    recorder: Recorder,
  ) {
    super(backend, random, recorder);
    this.#channels = channels;
    this.#writers = channels.flatMap((channel) =>
      Array.from({ length: writersEach }, (_, index) => {
        const own = new Random(random.between(0, 2 ** 31));
        const process = `writer-${channel}-${index + 1}`;
        return new TextWriter(process, channel, this.calls, recorder, own, this.failures);
      }),
    );
  }

  /** Writes a text into each map, so that its stream is stored before the first client comes. */
  async prepare(): Promise<void> {
    await Promise.all(this.#writers.map((writer) => writer.begin()));
  }

  protected override loops(signal: AbortSignal): readonly Promise<void>[] {
    return this.#writers.map((writer) => writer.write(signal));
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

  /** Records the texts that are stored, once everything has settled. */
  async read(): Promise<void> {
    for (const channel of this.#channels) {
      const asked = microseconds();
      const called = await this.calls.call("map_read_state", { channel, limit: -1 });
      if (called.outcome !== "result") throw new Error(`${channel} couldn't be read`);
      const { epoch = "", entries = [] }: ReadState = called.result;
      const texts = entries.map(({ key, data }) => ({ key, text: parseText(data) }));
      const read = { process: "writers", type: "ok", f: "text-read", channel } as const;
      this.recorder.record({ ...read, time: microseconds(), asked, epoch, texts, last: true });
    }
  }
}

/** Texts that are written into a map at the same time. */
const writersEach = 2;
/** How long is waited for a piece. */
const grownWithinMs = 2_000;
