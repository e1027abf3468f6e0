import { ChatError, type ChatCommands, pause } from "./backend.ts";
import {
  type ChatValues,
  chatLimits,
  isRunning,
  logKey,
  logOf,
  messageKey,
  parseEntry,
} from "./wire.ts";

/** What came of writing to a log: `over` if it has ended, `known` if it has what this producer hasn't read. */
export type Written = "written" | "over" | "known";

/**
 * The log of an answer, as its one producer writes it: texts that grow, each up to a length, so that the end of a window stays
 * cheap. Each piece says where it begins. So one that is sent again is there once, and what a crash of the server has lost is
 * sent again.
 */
export class AnswerLog {
  readonly #chat: ChatCommands;
  readonly #id: string;
  readonly #attempt: number;
  /** All of the value that grows. */
  #text: string;
  #number: number;
  #isUnread: boolean;

  /** @param found what is there, if somebody has looked */
  constructor(
    chat: ChatCommands,
    id: string,
    attempt: number,
    found: readonly string[] | "unread",
  ) {
    const log = found === "unread" ? [] : found;
    this.#isUnread = found === "unread";
    this.#chat = chat;
    this.#id = id;
    this.#attempt = attempt;
    this.#number = Math.max(0, log.length - 1);
    this.#text = log.at(-1) ?? "";
  }

  /**
   * Adds a text.
   *
   * @param isEnd nothing comes after it
   * @returns `over` if somebody has stopped the answer, or it is another one's now; `known` if another producer has written to a
   *   log that this one hasn't read
   */
  async write(text: string, isEnd = false): Promise<Written> {
    let rest = text;
    for (;;) {
      const room = Math.max(0, chatLimits.logValueLength - this.#text.length);
      const piece = rest.slice(0, wholeLength(rest, room));
      rest = rest.slice(piece.length);
      const isFull = rest !== "";
      const outcome = await this.#append(piece, isFull || isEnd);
      if (outcome !== "written") return outcome;
      if (!isFull) return "written";
      this.#number++;
      this.#text = "";
    }
  }

  async #append(piece: string, final: boolean): Promise<Written> {
    const key = logKey(this.#id, this.#attempt, this.#number);
    let at = this.#text.length;
    const before = this.#text;
    this.#text += piece;
    const isUnread = this.#isUnread;
    this.#isUnread = false;
    for (;;) {
      const text = this.#text.slice(at);
      const { length, suppressed, suppress_reason } = await this.#chat.append({
        key,
        text,
        at,
        final,
      });
      if (suppressed !== true) return isUnread && length > this.#text.length ? "known" : "written";
      // A text that this producer has ended is there, which is a success.
      if (suppress_reason === "final" || (await this.#isOver())) return "over";
      if (suppress_reason !== "length_mismatch") throw written(this.#id, suppress_reason);
      if (isUnread) return (await this.#hasEnded(key, length)) ? "over" : "known";
      if (length >= at) {
        const { value } = await this.#chat.read(key);
        if (value === `${before}${logEnd}`) return "over";
        throw written(this.#id, "it is longer");
      }
      // A crash of the server has lost the end of it.
      at = length;
    }
  }

  /** Whether a value that another producer has written grows no more. One that does gets an empty line. */
  async #hasEnded(key: string, at: number): Promise<boolean> {
    const { suppress_reason } = await this.#chat.append({ key, text: "\n", at });
    return suppress_reason === "final";
  }

  async #isOver(): Promise<boolean> {
    const { value } = await this.#chat.read(messageKey(this.#id));
    const entry = parseEntry(value);
    return !isRunning(entry) || entry.attempt !== this.#attempt;
  }
}

/** What ends a log: an empty line, as an empty text would change nothing. */
const logEnd = "\n";

function written(id: string, reason = "it can't grow"): ChatError {
  return new ChatError(`another producer writes the answer ${id}: ${reason}`);
}

/**
 * The log of an answer whose producer is gone, with what it wrote last: that may be stored a moment later.
 *
 * @param known the values of the chat, which were read just now
 */
export async function readLog(
  chat: ChatCommands,
  id: string,
  attempt: number,
  known?: ChatValues,
): Promise<readonly string[]> {
  for (let tries = 0; tries < readTriesMax; tries++) {
    const values = tries === 0 ? known : undefined;
    const log = logOf(values ?? (await chat.readAll()), id, attempt);
    const key = logKey(id, attempt, Math.max(0, log.length - 1));
    const last = log.at(-1);
    if (last === undefined) return log;
    const { suppressed } = await chat.append({ key, text: "", at: last.length });
    if (suppressed !== true) return log;
    await pause(chatLimits.readAgainMs);
  }
  throw written(id, "it grows");
}

const readTriesMax = 40;

/** Ends the log of an answer, so that its producer can't go on: whatever it sends is refused. */
export async function endLog(chat: ChatCommands, id: string, attempt: number): Promise<void> {
  let number = Math.max(0, logOf(await chat.readAll(), id, attempt).length - 1);
  // A value that has ended is full, or has just become so: its producer goes on with the next one, which is ended, too.
  for (;;) {
    const end = { key: logKey(id, attempt, number), text: logEnd, final: true };
    const { suppressed } = await chat.append(end);
    if (suppressed !== true) return;
    number++;
  }
}

/** How much of a text goes into a room, without half of a surrogate pair. */
function wholeLength(text: string, room: number): number {
  if (text.length <= room) return text.length;
  const last = text.charCodeAt(room - 1);
  return last >= 0xd800 && last < 0xdc00 ? room - 1 : room;
}
