import { setTimeout as pause } from "node:timers/promises";
import type { JsonObject } from "../../src/protocol/wire-value.ts";
import { refusal } from "../shell.ts";
import type { ApiAnswer, ApiClient } from "./api-client.ts";

/**
 * Appends a long text to the value of a key of a map, piece by piece. Each piece names the length that the value has before
 * it. So a piece whose answer is lost is repeated, and after a crash of the server the text goes on from the length that it
 * names.
 */
export class TextAppender {
  readonly #client: ApiClient;
  readonly #place: AppendPlace;
  /** The newest text that was given, of which the end may have to be sent again. */
  #kept = "";
  /** Where in the value that begins. */
  #keptFrom = 0;
  #at = 0;
  /** Pieces that were sent, and how often the text had to be taken back. */
  pieces = 0;
  resumed = 0;
  /** The last result. */
  last: JsonObject = {};

  constructor(client: ApiClient, place: AppendPlace) {
    this.#client = client;
    this.#place = place;
  }

  /** How long the value is, as far as the server has answered, in UTF-16 units. */
  get length(): number {
    return this.#at;
  }

  /** Finds out how long the value is, at whose end the text goes on. */
  async begin(): Promise<void> {
    const { length } = await this.#call("", 0, false);
    this.#at = length;
    this.#keptFrom = length;
  }

  /**
   * Appends a text, and waits until the server has taken it.
   *
   * @param isFinal whether this is the end of the value
   * @throws {Failure} if the server refuses it, can't be reached, or has other text at that place
   */
  async append(text: string, isFinal: boolean): Promise<void> {
    this.#kept += text;
    const end = this.#keptFrom + this.#kept.length;
    for (let isDone = false; !isDone;) {
      const piece = pieceOf(this.#kept, this.#at - this.#keptFrom);
      const isLast = this.#at + piece.length === end;
      const answer = await this.#call(piece, this.#at, isFinal && isLast);
      this.pieces++;
      if (answer.isThere) {
        this.#at += piece.length;
        isDone = isLast;
      } else this.#goOnFrom(answer.length, end);
    }
    const forgotten = Math.max(0, this.#kept.length - keptMax);
    this.#kept = this.#kept.slice(forgotten);
    this.#keptFrom += forgotten;
  }

  #goOnFrom(length: number, end: number): void {
    if (length < this.#keptFrom || length > end) {
      const what = `the text has ${length} characters, and not ${this.#at}`;
      throw refusal(`${what}: somebody else has changed it`);
    }
    this.#at = length;
    this.resumed++;
  }

  /** Calls until there is an answer that says something about the text. */
  async #call(
    text: string,
    at: number,
    final: boolean,
  ): Promise<{ length: number; isThere: boolean }> {
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#client.call("map_append", { ...this.#place, text, at, final });
      if (answer.outcome === "result") {
        this.last = answer.result;
        return read(answer.result);
      }
      if (attempt >= attemptsMax || !isTemporary(answer)) throw this.#client.failure(answer);
      await pause(Math.min(100 * 2 ** attempt, pauseMsMax));
    }
  }
}

/** The value that grows. */
export interface AppendPlace {
  readonly channel: string;
  readonly key: string;
  readonly field?: string;
}

function read({ length, suppress_reason: reason }: JsonObject): {
  length: number;
  isThere: boolean;
} {
  if (typeof length !== "number") throw refusal("the server's answer has no length");
  if (reason === undefined) return { length, isThere: true };
  if (reason === "length_mismatch") return { length, isThere: false };
  if (reason === "final") throw refusal("the text was ended before: nothing can be appended to it");
  throw refusal("the key's value is no text that can grow");
}

function isTemporary(answer: Exclude<ApiAnswer, { readonly outcome: "result" }>): boolean {
  return answer.outcome === "unreachable" || (answer.outcome === "error" && answer.code === 111);
}

/** The next piece from a place on: it ends with a whole character. */
function pieceOf(text: string, from: number): string {
  const piece = text.slice(from, from + pieceMax);
  return piece.isWellFormed() ? piece : piece.slice(0, -1);
}

/** The characters of a piece, and of the text that is kept, of which a crash takes back what came within a window. */
const pieceMax = 16_384;
const keptMax = 500_000;
const attemptsMax = 8;
const pauseMsMax = 2_000;
