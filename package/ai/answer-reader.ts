import type { ChatChannel } from "./chat-channel.ts";
import { addChunk, type Chunk, chunksBeyond, chunksIn, wholeLines } from "./chunks.ts";
import { type AnswerEntry, answerEntry, chunksOf, logOf } from "./wire.ts";

/** How a reader deals with what the channel alone can't tell. */
export interface ReaderOptions {
  /** After so long without a sign of the producer {@link isSilent} is called, in ms. */
  readonly silentMs: number;
  readonly isSilent: () => void;
  /** Whether somebody follows the chat, and will read an answer that has begun anew. */
  readonly isFollowed: () => boolean;
  /** The chunks that the page has of an answer that is to go on: the stream has those after them. */
  readonly known?: KnownAnswer;
}

/** An answer as a page has it. */
export interface KnownAnswer {
  readonly id: string;
  readonly attempt: number;
  readonly chunks: readonly Chunk[];
}

/** An answer in a page, from its first chunk to its last, each once, over lost connections. */
export class AnswerReader {
  readonly id: string;
  readonly stream: ReadableStream<Chunk>;
  /** Resolves when the stream has a chunk, or has ended. */
  readonly begun: Promise<void>;
  readonly #channel: ChatChannel;
  readonly #options: ReaderOptions;
  readonly #ended: (reader: AnswerReader) => void;
  readonly #stopListening: () => void;
  readonly #timer: ReturnType<typeof setInterval>;
  #controller: ReadableStreamDefaultController<Chunk> | undefined;
  #begin: () => void = () => undefined;
  #isSeen = false;
  #isOpen = true;
  #hasAll = false;
  #attempt = 0;
  /** All chunks that the stream has had, and the lines of the log that they were in. */
  readonly #given: Chunk[] = [];
  #lines = "";
  #silentAtMs: number;

  /** @param ended gets the reader when its stream ends, which may be at once */
  constructor(
    channel: ChatChannel,
    id: string,
    options: ReaderOptions,
    ended: (reader: AnswerReader) => void,
  ) {
    this.#channel = channel;
    this.id = id;
    this.#options = options;
    for (const chunk of options.known?.chunks ?? []) addChunk(this.#given, chunk);
    this.#ended = ended;
    this.#silentAtMs = options.silentMs;
    this.begun = new Promise((resolve) => (this.#begin = resolve));
    this.stream = new ReadableStream<Chunk>({
      start: (controller) => void (this.#controller = controller),
      cancel: () => this.#end(),
    });
    this.#stopListening = channel.listen(() => this.#look());
    this.#timer = setInterval(() => this.#listenForSilence(), options.silentMs / 8);
    this.#look();
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Whether the stream has had all of the answer. */
  get hasAll(): boolean {
    return this.#hasAll;
  }

  /** Ends the stream where it is. */
  close(): void {
    if (!this.#isOpen) return;
    this.#end();
    this.#controller?.close();
  }

  #end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#stopListening();
    clearInterval(this.#timer);
    this.#begin();
    this.#ended(this);
  }

  fail(error: Error): void {
    if (!this.#isOpen) return;
    this.#end();
    this.#controller?.error(error);
  }

  #look(): void {
    if (!this.#isOpen) return;
    if (this.#channel.problem !== undefined) return this.fail(this.#channel.problem);
    if (!this.#channel.isSynced) return;
    const entry = answerEntry(this.#channel.values, this.id);
    // Somebody has removed it.
    if (entry === undefined) return this.#isSeen ? this.close() : undefined;
    // It doesn't go on yet.
    if (entry.attempt <= (this.#options.known?.attempt ?? 0)) return;
    this.#isSeen = true;
    if (entry.answer === "running" && entry.attempt === this.#attempt) this.#readMore(entry);
    else this.#readAll(entry);
  }

  /** Reads on in the log. */
  #readMore(entry: AnswerEntry): void {
    const log = logOf(this.#channel.values, this.id, entry.attempt).join("");
    if (!log.startsWith(this.#lines)) {
      // The server has lost the end of it, which the producer sends again.
      if (!this.#lines.startsWith(log)) this.#readAll(entry);
      return;
    }
    const more = wholeLines(log.slice(this.#lines.length));
    this.#lines += more;
    this.#give(chunksIn(more));
  }

  /** Compares the whole with what the stream has had. */
  #readAll(entry: AnswerEntry): void {
    const { values } = this.#channel;
    const beyond = chunksBeyond(chunksOf(values, this.id, entry), this.#given);
    const isRunning = entry.answer === "running";
    if (beyond === "behind" && isRunning && entry.attempt === this.#attempt) return;
    this.#attempt = entry.attempt;
    if (typeof beyond === "string") return this.#beginsAnew();
    this.#lines = wholeLines(logOf(values, this.id, entry.attempt).join(""));
    this.#give(beyond);
    if (isRunning) return;
    this.#hasAll = true;
    this.close();
  }

  /** The answer is another one now, which no chunk can say: it is read by another stream. */
  #beginsAnew(): void {
    if (this.#options.isFollowed()) this.close();
    else this.fail(new Error("the answer has begun anew: reload the page"));
  }

  #give(chunks: readonly Chunk[]): void {
    for (const chunk of chunks) {
      addChunk(this.#given, chunk);
      this.#controller?.enqueue(chunk);
    }
    if (chunks.length > 0) this.#begin();
  }

  #listenForSilence(): void {
    const { quietMs } = this.#channel;
    if (quietMs < this.#options.silentMs) this.#silentAtMs = this.#options.silentMs;
    if (quietMs < this.#silentAtMs) return;
    this.#silentAtMs += this.#options.silentMs;
    if (this.#isSeen) this.#options.isSilent();
    else this.fail(new Error("no answer has begun"));
  }
}
