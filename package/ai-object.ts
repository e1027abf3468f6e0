/** Answers of models that outlive the request that asked for them. */
import { DurableObject } from "cloudflare:workers";
import type { ChatBackend } from "./ai/backend.ts";
import type { Chunk } from "./ai/chunks.ts";
import { stopAnswer } from "./ai/stored-answer.ts";
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
}

/**
 * An object that writes one answer to a chat's channel, whatever becomes of the request. It does so in its alarm, which lasts up
 * to 15 minutes and is repeated by the platform after a crash; the answer goes on then where the channel is. Extend it,
 * and take an object for each answer: `env.GENERATIONS.getByName(answerId).begin({ channel, messageId: answerId, job })`.
 */
export abstract class GenerationObject<Env, Job> extends DurableObject<Env> {
  #stop: AbortController | undefined;

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
  async begin(generation: Generation<Job>): Promise<void> {
    const isBusy = (await this.ctx.storage.get(jobKey)) !== undefined;
    await this.ctx.storage.put(isBusy ? nextKey : jobKey, generation);
    await this.ctx.storage.setAlarm(Date.now());
  }

  /** Stops the answer at once. One that is stopped on the channel alone stops with its next piece. */
  async stop(): Promise<void> {
    this.#stop?.abort();
    const generation = await this.ctx.storage.get<Generation<Job>>(jobKey);
    if (generation === undefined) return;
    await stopAnswer(this.realtime(), generation.channel, generation.messageId);
  }

  override async alarm(): Promise<void> {
    for (;;) {
      const generation = await this.ctx.storage.get<Generation<Job>>(jobKey);
      if (generation === undefined) return;
      await this.#write(generation);
      const next = await this.ctx.storage.get<Generation<Job>>(nextKey);
      if (next === undefined) return this.ctx.storage.deleteAll();
      await this.ctx.storage.put(jobKey, next);
      await this.ctx.storage.delete(nextKey);
    }
  }

  #write({ channel, messageId, job }: Generation<Job>): Promise<AnswerState> {
    this.#stop = new AbortController();
    return streamToChannel(this.realtime(), channel, (turn) => this.generate(job, turn), {
      ...this.options(),
      messageId,
      signal: this.#stop.signal,
    });
  }
}

const jobKey = "generation";
const nextKey = "next";
