import { AnswerLog, readLog, type Written } from "./answer-log.ts";
import { type ChatBackend, ChatCommands, ChatError, pause } from "./backend.ts";
import { addChunk, type Chunk, chunksIn, closingChunks, KnownChunks, linesOf } from "./chunks.ts";
import {
  type BegunAnswer,
  beginAnew,
  beginAnswer,
  endAnswer,
  finishAnswer,
  readAnswer,
  removeStrayLogs,
  type StoredAnswer,
} from "./stored-answer.ts";
import { type AnswerState, chatLimits, nextPlace } from "./wire.ts";

/** An answer's chunks, or what begins to give them. */
export type ChunkSource =
  | ReadableStream<Chunk>
  | ((turn: Turn) => ReadableStream<Chunk> | Promise<ReadableStream<Chunk>>);

/** What a producer is told. */
export interface Turn {
  /** Aborts when somebody stops the answer: for the model, as its `abortSignal`. */
  readonly signal: AbortSignal;
  /** The chunks of producers before this one, since the answer began or a page's tool let it go on; empty at first. */
  readonly soFar: readonly Chunk[];
}

export interface StreamToChannelOptions {
  /** The answer's ID: `answerId` of the request. */
  readonly messageId: string;
  /**
   * `begun` of the request, for the first who writes the answer: what he says is shown without a look at the channel before it. One
   * who comes after a crash reads what is there; if he gives this as well, his source has to be a function, which is called again then.
   */
  readonly begun?: BegunAnswer | undefined;
  /** Stops the answer, as a user does. */
  readonly signal?: AbortSignal;
  /** What is said goes out so often at most, in ms; 100 by default. Windows of the namespace say when it is durable. */
  readonly periodMs?: number;
  /**
   * Whether a function goes on after `soFar`. By default each producer says the whole answer, and what the channel has of it is
   * skipped; if a producer says something else than the one before it, the answer begins anew.
   */
  readonly continues?: boolean;
  /** What users see of an error that the source has thrown; by default that there was one. */
  readonly onError?: (error: unknown) => string;
}

/**
 * Writes an answer to a chat's channel, chunk by chunk, and makes one message of it when it ends.
 *
 * @returns how the answer is
 * @throws if another producer writes the same answer, or Dormouse can't be reached for two minutes
 */
export async function streamToChannel(
  backend: ChatBackend,
  channel: string,
  source: ChunkSource,
  options: StreamToChannelOptions,
): Promise<AnswerState> {
  const chat = new ChatCommands(backend, channel);
  const { messageId: id, begun } = options;
  if (begun !== undefined) {
    const answer = await new Producer(chat, options, begun, "unread").run(source);
    if (answer !== "known") return answer;
    if (typeof source !== "function")
      throw new ChatError(
        `the answer ${id} has been written before: its producer has to be a function`,
      );
  }
  // At the same time, since the user waits.
  const [found, values] = await Promise.all([readAnswer(chat, id), chat.readAll()]);
  const stored =
    found ?? (await beginAnswer(chat, id, nextPlace(values))) ?? (await readAnswer(chat, id));
  if (stored === undefined || stored.entry.answer !== "running")
    return stored?.entry.answer ?? "stopped";
  const log = await readLog(chat, id, stored.entry.attempt, values);
  const answer = await new Producer(chat, options, stored, log).run(source);
  return answer === "known" ? "stopped" : answer;
}

/** The one that writes an answer. */
class Producer {
  readonly #chat: ChatCommands;
  readonly #options: StreamToChannelOptions;
  readonly #stop = new AbortController();
  #stored: StoredAnswer;
  #log: AnswerLog;
  /** The chunks from before a page's tool let the answer go on. */
  readonly #before: readonly Chunk[];
  /** All that was said, also by producers before this one. */
  #said: Chunk[];
  #known: KnownChunks;
  /** What isn't written yet. */
  #waiting: Chunk[] = [];
  #hasEnded = false;
  /** Whether somebody else has ended the answer. */
  #isOver = false;
  /** Whether there was a producer before this one, whose log it hasn't read. */
  #isSecond = false;
  /** Whether the channel has to be asked, beside what is written first, whether the answer is still as it was. */
  #mustLook: boolean;
  #wake: () => void = () => undefined;

  constructor(
    chat: ChatCommands,
    options: StreamToChannelOptions,
    stored: StoredAnswer,
    found: readonly string[] | "unread",
  ) {
    const log = found === "unread" ? [] : found;
    this.#mustLook = found === "unread";
    this.#chat = chat;
    this.#options = options;
    this.#stored = stored;
    this.#before = stored.entry.chunks ?? [];
    const lines = chunksIn(log.join(""));
    this.#said = [...this.#before, ...lines];
    this.#known = new KnownChunks(options.continues === true ? [] : lines);
    this.#log = new AnswerLog(chat, options.messageId, stored.entry.attempt, found);
  }

  /** @returns how the answer is; `known` if the channel has a log of it that wasn't read */
  async run(source: ChunkSource): Promise<AnswerState | "known"> {
    const stop = () => this.#stop.abort();
    this.#options.signal?.addEventListener("abort", stop);
    if (this.#options.signal?.aborted === true) stop();
    try {
      const [answer] = await Promise.all([this.#read(source), this.#write()]);
      if (this.#isSecond) return "known";
      if (this.#isOver) return await this.#howItEnded();
      return await finishAnswer(this.#chat, this.#id, this.#stored, answer, this.#said);
    } catch (error) {
      // Nobody gets what the model says.
      stop();
      throw error;
    } finally {
      this.#options.signal?.removeEventListener("abort", stop);
    }
  }

  get #id(): string {
    return this.#options.messageId;
  }

  /** Who has stopped the answer may have died before it was one message. */
  async #howItEnded(): Promise<AnswerState> {
    const { entry } = (await readAnswer(this.#chat, this.#id)) ?? {};
    // What was written without a look may be in a log that is no answer's.
    if (this.#options.begun !== undefined) await removeStrayLogs(this.#chat, this.#id, entry);
    if (entry?.answer !== "running") return entry?.answer ?? "stopped";
    if (entry.attempt === this.#stored.entry.attempt) await endAnswer(this.#chat, this.#id);
    return "stopped";
  }

  /** Takes chunks until there are no more, and what makes the answer whole. */
  async #read(source: ChunkSource): Promise<AnswerState> {
    let answer: AnswerState = "done";
    try {
      const soFar = this.#said.slice(this.#before.length);
      if (this.#goesOn) this.#close("interrupted");
      const turn = { signal: this.#stop.signal, soFar };
      const stream = typeof source === "function" ? await source(turn) : source;
      for await (const chunk of chunksOf(stream, this.#stop.signal)) {
        if (chunk.type === "abort") this.#stop.abort();
        else await this.#take(chunk);
        if (chunk.type === "error") answer = "failed";
      }
      // A shorter answer is another one.
      if (!this.#known.haveCome && !this.#stop.signal.aborted) await this.#beginAnew();
    } catch (error) {
      if (!this.#stop.signal.aborted) {
        answer = "failed";
        const { onError = () => "An error occurred." } = this.#options;
        this.#close("failed", { type: "error", errorText: onError(error) });
      }
    }
    if (this.#stop.signal.aborted) {
      answer = "stopped";
      this.#close("stopped", { type: "abort" });
    }
    this.#hasEnded = true;
    this.#wake();
    return answer;
  }

  /** Whether the answer goes on after what a producer before this one has said. */
  get #goesOn(): boolean {
    return this.#options.continues === true && this.#said.length > this.#before.length;
  }

  async #take(chunk: Chunk): Promise<void> {
    if (chunk.type === "start" && this.#goesOn) return;
    if (chunk.type === "error") return this.#close("failed", chunk);
    const own = chunk.type === "start" ? { ...chunk, messageId: this.#id } : chunk;
    const beyond = this.#known.next(plain(own));
    if (beyond === undefined) await this.#beginAnew(own);
    else for (const one of beyond) this.#say(one);
  }

  /** Ends all parts that are open. */
  #close(why: string, ...after: readonly Chunk[]): void {
    for (const chunk of [...closingChunks(this.#said, why), ...after]) this.#say(chunk);
  }

  #say(chunk: Chunk): void {
    addChunk(this.#said, chunk);
    addChunk(this.#waiting, chunk);
    this.#wake();
  }

  /** The answer is another one than the producer before has said: it begins anew. */
  async #beginAnew(...chunks: readonly Chunk[]): Promise<void> {
    const again = this.#known.come;
    this.#known = new KnownChunks([]);
    const anew = await beginAnew(this.#chat, this.#id, this.#stored);
    if (anew === undefined) {
      this.#end();
      return;
    }
    this.#stored = anew;
    this.#log = new AnswerLog(this.#chat, this.#id, anew.entry.attempt, []);
    this.#said = [...this.#before];
    for (const one of [...again, ...chunks]) this.#say(one);
  }

  /** Somebody else has ended the answer. */
  #end(): void {
    this.#isOver = true;
    this.#stop.abort();
    this.#wake();
  }

  /** Writes what is said: at once until there is something to show, and then once in a period. */
  async #write(): Promise<void> {
    const { periodMs = 100 } = this.#options;
    let aliveMs = Date.now();
    let isFirst = true;
    while (!this.#isOver) {
      const [lines, isEnd] = [linesOf(this.#waiting), this.#hasEnded];
      const isShown = this.#waiting.some(isVisible);
      this.#waiting = [];
      if (lines === "" && !isEnd && Date.now() - aliveMs < chatLimits.aliveMs) {
        const isMore = await this.#until(() => this.#waiting.length > 0, chatLimits.lookMs);
        if (!isMore) await this.#look();
        // What is said at the same time is shown at the same time.
        else if (isFirst) await pause(0);
        isFirst = false;
        continue;
      }
      aliveMs = Date.now();
      const log = this.#log;
      const written = await this.#append(log, lines === "" ? "\n" : lines, isEnd);
      this.#isSecond = written === "known";
      if (written !== "written" && log === this.#log) this.#end();
      if (isEnd) return;
      if (isShown) await this.#until(() => false, periodMs);
    }
  }

  /** Appends lines to a log, and looks at the same time whether the answer is as it was, if nobody has looked before. */
  async #append(log: AnswerLog, lines: string, isEnd: boolean): Promise<Written> {
    const mustLook = this.#mustLook;
    this.#mustLook = false;
    const [written] = await Promise.all([log.write(lines, isEnd), mustLook && this.#look()]);
    return written;
  }

  /** Waits until something is so or the answer has ended, but not for longer than a time. @returns whether it is */
  async #until(isSo: () => boolean, ms: number): Promise<boolean> {
    const isEnough = () => isSo() || this.#hasEnded || this.#isOver;
    const untilMs = Date.now() + ms;
    while (!isEnough() && Date.now() < untilMs) {
      const woken = Promise.withResolvers<undefined>();
      this.#wake = () => woken.resolve(undefined);
      const timer = setTimeout(this.#wake, untilMs - Date.now());
      await woken.promise;
      clearTimeout(timer);
    }
    return isEnough();
  }

  /** Asks whether the answer was stopped. */
  async #look(): Promise<void> {
    const stored = await readAnswer(this.#chat, this.#id);
    if (stored?.offset !== this.#stored.offset) this.#end();
  }
}

/** The chunks of a stream, up to its end or a signal. */
async function* chunksOf(
  stream: ReadableStream<Chunk>,
  signal: AbortSignal,
): AsyncGenerator<Chunk> {
  const reader = stream.getReader();
  const { promise: aborted, resolve } = Promise.withResolvers<{ readonly done: true }>();
  const abort = () => resolve({ done: true });
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  try {
    for (;;) {
      const next = await Promise.race([aborted, reader.read()]);
      if (next.done) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener("abort", abort);
    void reader.cancel().catch(() => undefined);
  }
}

/** Whether a page shows something when it gets the chunk. */
function isVisible({ type }: Chunk): boolean {
  return !/^(?:start|start-step|text-start|reasoning-start)$/.test(type);
}

/** As JSON has it, to be compared with what was read. */
function plain(chunk: Chunk): Chunk {
  return JSON.parse(JSON.stringify(chunk));
}
