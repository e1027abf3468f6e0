/** Answers of models that outlive the request that asked for them. */
import { DurableObject } from "cloudflare:workers";
import type { ChatBackend } from "./ai/backend.ts";
import type { Chunk } from "./ai/chunks.ts";
import { type BegunAnswer, stopAnswer } from "./ai/stored-answer.ts";
import { streamToChannel, type StreamToChannelOptions, type Turn } from "./ai/stream-to-channel.ts";
import type { AnswerState } from "./ai/wire.ts";

/** What an object has to generate. */
export interface Generation<Job> {
  /** The chat's channel. */
  readonly channel: string;
  /** The answer's ID: `answerId` of the request. */
  readonly messageId: string;
  /** What the model has to know, as JSON, such as the messages. */
  readonly job: Job;
  /** `begun` of the request: the answer then begins without a look at the channel. */
  readonly begun?: BegunAnswer | undefined;
}

/**
 * An object that writes one answer to a chat's channel, whatever becomes of the request. It begins at once; its alarm waits for
 * the end, up to 15 minutes, and is repeated by the platform after a crash; the answer goes on then where the channel is. Extend it,
 * and take an object for each answer: `env.GENERATIONS.getByName(answerId).begin({ channel, messageId: answerId, job })`.
 */
export abstract class GenerationObject<Env, Job> extends DurableObject<Env> {
  #stop: AbortController | undefined;
  /** What is written now. */
  #work: Promise<void> | undefined;
  /** The answers of which nobody has written anything, by the keys of their jobs. A crash forgets them. */
  readonly #begun = new Map<string, BegunAnswer | undefined>();

  /** What writes the channel: in the Worker that has it `withEnv(realtime, this.env)`. */
  protected abstract realtime(): ChatBackend;

  /** Begins the answer, as {@link streamToChannel} takes it. */
  protected abstract generate(
    job: Job,
    turn: Turn,
  ): ReadableStream<Chunk> | Promise<ReadableStream<Chunk>>;

  /** Further options of {@link streamToChannel}. */
  protected options(): Partial<StreamToChannelOptions> {
    return {};
  }

  /**
   * Resolves when the answer will be written, whatever happens. A second call is done when the first is: an answer that goes on
   * with a tool's result may be asked for before the object is done with what came before, and one that is finished stays.
   */
  async begin({ begun, ...generation }: Generation<Job>): Promise<void> {
    const isBusy = (await this.ctx.storage.get(jobKey)) !== undefined;
    const key = isBusy ? nextKey : jobKey;
    this.#begun.set(key, begun);
    await this.ctx.storage.put(key, generation);
    await this.ctx.storage.setAlarm(Date.now());
    // What fails is repeated by the alarm.
    this.#run().catch(() => undefined);
  }

  /** Stops the answer at once. One that is stopped on the channel alone stops with its next piece. */
  async stop(): Promise<void> {
    this.#stop?.abort();
    const generation = await this.ctx.storage.get<Generation<Job>>(jobKey);
    if (generation === undefined) return;
    await stopAnswer(this.realtime(), generation.channel, generation.messageId);
  }

  override async alarm(): Promise<void> {
    // A job may have come while the work before it ended.
    while ((await this.ctx.storage.get(jobKey)) !== undefined) await this.#run();
  }

  /** Writes what there is to write, or waits until that is done. */
  #run(): Promise<void> {
    this.#work ??= this.#writeAll().finally(() => (this.#work = undefined));
    return this.#work;
  }

  async #writeAll(): Promise<void> {
    for (;;) {
      const generation = await this.ctx.storage.get<Generation<Job>>(jobKey);
      if (generation === undefined) return;
      await this.#write(generation);
      const next = await this.ctx.storage.get<Generation<Job>>(nextKey);
      if (next === undefined) return this.ctx.storage.deleteAll();
      this.#begun.set(jobKey, this.#begun.get(nextKey));
      await this.ctx.storage.put(jobKey, next);
      await this.ctx.storage.delete(nextKey);
    }
  }

  #write({ channel, messageId, job }: Generation<Job>): Promise<AnswerState> {
    this.#stop = new AbortController();
    // Who comes again after a failure reads what is there.
    const begun = this.#begun.get(jobKey);
    this.#begun.delete(jobKey);
    return streamToChannel(this.realtime(), channel, (turn) => this.generate(job, turn), {
      ...this.options(),
      messageId,
      begun,
      signal: this.#stop.signal,
    });
  }
}

const jobKey = "generation";
const nextKey = "next";
