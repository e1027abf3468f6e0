import type { ChannelAnswers, ChannelCommand } from "../../src/api/channel-command.ts";
import { limits } from "../../src/limits.ts";

/** What the queue's owner does for it. */
export interface CommandWork {
  /** Carries out one call's commands, at once. */
  carryOut(commands: readonly ChannelCommand[]): ChannelAnswers;
  /** Sends what the calls carried out since the last time have published. */
  settle(): void;
  /** Resolves when everything written so far is durable. */
  committed(): Promise<void>;
}

/**
 * Lets the calls that arrive while a commit is under way share the next one (rules B6, O2). Making a commit durable takes as
 * long for one publication as for a hundred, so an object under load does a hundred at a time, and its subscribers
 * get them in one frame. An idle object carries a call out as it comes.
 */
export class CommandQueue {
  readonly #work: CommandWork;
  #waiting: WaitingCall[] = [];
  #waitingBytes = 0;
  #committing = false;

  constructor(work: CommandWork) {
    this.#work = work;
  }

  /** Carries the commands out, in the order of the calls; the answer may leave as soon as it resolves. */
  add(commands: readonly ChannelCommand[]): Promise<ChannelAnswers> {
    const bytes = commands.reduce((sum, command) => sum + weightBytes(command), 0);
    // A call that finds nobody waiting is taken, whatever it weighs: the edge has bounded it.
    if (this.#waiting.length > 0 && this.#waitingBytes + bytes > limits.waitingBytesMax) {
      return Promise.resolve({ outcome: "overloaded", retryAfterSeconds: 1 });
    }
    const { promise, resolve, reject } = Promise.withResolvers<ChannelAnswers>();
    this.#waiting.push({ commands, resolve, reject });
    this.#waitingBytes += bytes;
    if (!this.#committing) void this.#carryOut();
    return promise;
  }

  async #carryOut(): Promise<void> {
    this.#committing = true;
    try {
      while (this.#waiting.length > 0) {
        const calls = this.#waiting;
        this.#waiting = [];
        this.#waitingBytes = 0;
        for (const call of calls) this.#answer(call);
        this.#work.settle();
        await this.#work.committed();
      }
    } finally {
      this.#committing = false;
    }
  }

  /** A call that fails is its own caller's misfortune and nobody else's. */
  #answer({ commands, resolve, reject }: WaitingCall): void {
    try {
      resolve(this.#work.carryOut(commands));
    } catch (error) {
      reject(error);
    }
  }
}

interface WaitingCall {
  readonly commands: readonly ChannelCommand[];
  readonly resolve: (answers: ChannelAnswers) => void;
  readonly reject: (error: unknown) => void;
}

/** What a command holds in memory while it waits, roughly. */
function weightBytes(command: ChannelCommand): number {
  return command.method === "publish" ? command.request.data.length + commandBytes : commandBytes;
}

const commandBytes = 1_024;
