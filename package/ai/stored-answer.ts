import { endLog, readLog } from "./answer-log.ts";
import { type ChatBackend, ChatCommands, ChatError } from "./backend.ts";
import { type Chunk, chunksIn, closingChunks, compacted } from "./chunks.ts";
import {
  type AnswerEntry,
  type AnswerState,
  chatLimits,
  isMessageId,
  logKeysOf,
  messageKey,
  parseEntry,
} from "./wire.ts";

/** The entry of an answer, and the offset of its last change. */
export interface StoredAnswer {
  readonly entry: AnswerEntry;
  readonly offset: number;
}

/** An answer that has just begun, as JSON: nobody has written anything of it. */
export type BegunAnswer = StoredAnswer;

/** Reads the entry of an answer; undefined if there is none. @throws if the message is somebody's and no answer */
export async function readAnswer(
  chat: ChatCommands,
  id: string,
): Promise<StoredAnswer | undefined> {
  const { value, offset } = await chat.read(messageKey(id));
  const entry = parseEntry(value);
  if (entry === undefined) return undefined;
  if (!("answer" in entry)) throw new ChatError(`the message ${id} isn't an answer`);
  return { entry, offset };
}

/** Begins an answer. @returns undefined if it has begun before */
export async function beginAnswer(
  chat: ChatCommands,
  id: string,
  place: number,
): Promise<StoredAnswer | undefined> {
  if (!isMessageId(id)) throw new ChatError(`"${id}" can't be the ID of a message`);
  const entry = newAnswer(place);
  const key = messageKey(id);
  const { suppressed, offset } = await chat.publish({ key, data: entry, key_mode: "if_new" });
  return suppressed === true ? undefined : { entry, offset };
}

/** The entry of an answer that begins. */
export function newAnswer(place: number): AnswerEntry {
  return { place, answer: "running", attempt: 1 };
}

/** Gives an answer that has just begun another place. @returns undefined if somebody has stopped or removed it */
export async function moveAnswer(
  chat: ChatCommands,
  id: string,
  { entry, offset }: StoredAnswer,
  place: number,
): Promise<StoredAnswer | undefined> {
  const moved: AnswerEntry = { ...entry, place };
  const changed = await chat.publish({ key: messageKey(id), data: moved, if_offset: offset });
  if (changed.suppressed !== true) return { entry: moved, offset: changed.offset };
  const stored = await readAnswer(chat, id);
  return stored?.entry.answer === "running" ? stored : undefined;
}

/** Lets an answer begin anew, with an empty log. @returns undefined if somebody else was faster */
export async function beginAnew(
  chat: ChatCommands,
  id: string,
  { entry, offset }: StoredAnswer,
): Promise<StoredAnswer | undefined> {
  const anew: AnswerEntry = { ...entry, attempt: entry.attempt + 1 };
  const key = messageKey(id);
  const changed = await chat.publish({ key, data: anew, if_offset: offset });
  if (changed.suppressed === true) return undefined;
  await removeLogs(chat, id, anew.attempt);
  return { entry: anew, offset: changed.offset };
}

/**
 * Makes one message of an answer whose log has ended. Its log goes, unless the message would be too large.
 *
 * @returns how the answer is: somebody else may have been faster
 */
export async function finishAnswer(
  chat: ChatCommands,
  id: string,
  { entry, offset }: StoredAnswer,
  answer: AnswerState,
  chunks: readonly Chunk[],
): Promise<AnswerState> {
  const few = compacted(chunks);
  const isSmall = JSON.stringify(few).length <= chatLimits.finishedLength;
  const before = entry.chunks !== undefined && ({ logged: true } as const);
  const data: AnswerEntry = { ...entry, answer, ...(isSmall ? { chunks: few } : before) };
  const key = messageKey(id);
  const { suppressed } = await chat.publish({ key, data, if_offset: offset });
  const stored = suppressed === true ? await readAnswer(chat, id) : { entry: data };
  if (stored !== undefined && isOneValue(stored.entry)) await removeLogs(chat, id);
  return stored?.entry.answer ?? "stopped";
}

/**
 * Lets a finished answer go on, in a log of its own.
 *
 * @param stored what goes on
 * @param chunks what was said before, with the page's results
 * @returns undefined if it doesn't: somebody else was faster
 */
export async function goOn(
  chat: ChatCommands,
  id: string,
  { entry, offset }: StoredAnswer,
  chunks: readonly Chunk[],
): Promise<StoredAnswer | undefined> {
  if (!isOneValue(entry)) return undefined;
  const next: AnswerEntry = { ...entry, answer: "running", attempt: entry.attempt + 1, chunks };
  const changed = await chat.publish({ key: messageKey(id), data: next, if_offset: offset });
  return changed.suppressed === true ? undefined : { entry: next, offset: changed.offset };
}

/** Whether all of an answer is in its entry: it is finished, and has no log. */
function isOneValue({ answer, chunks, logged }: AnswerEntry): boolean {
  return answer !== "running" && chunks !== undefined && logged === undefined;
}

/** Removes the logs of an answer, but that of an attempt if one is given. */
async function removeLogs(chat: ChatCommands, id: string, without?: number): Promise<void> {
  for (const key of logKeysOf(await chat.readAll(), id, without)) await chat.remove(key);
}

/** Removes the logs that no page reads. @param entry of the answer; undefined if it was removed */
export async function removeStrayLogs(
  chat: ChatCommands,
  id: string,
  entry: AnswerEntry | undefined,
): Promise<void> {
  if (entry?.answer === "running") await removeLogs(chat, id, entry.attempt);
  else if (entry === undefined || isOneValue(entry)) await removeLogs(chat, id);
}

/** Stops an answer of a chat, from anywhere. */
export async function stopAnswer(
  backend: ChatBackend,
  channel: string,
  messageId: string,
): Promise<void> {
  await endAnswer(new ChatCommands(backend, channel), messageId);
}

/**
 * Stops an answer, wherever its producer is, and if there is none any more: what it has said stays, and its parts end. Its
 * producer learns of it with the next piece that it sends, or within two seconds.
 */
export async function endAnswer(chat: ChatCommands, id: string): Promise<void> {
  const stored = await readAnswer(chat, id);
  if (stored === undefined || stored.entry.answer !== "running") return;
  const { attempt } = stored.entry;
  await endLog(chat, id, attempt);
  const log = await readLog(chat, id, attempt);
  const said = [...(stored.entry.chunks ?? []), ...chunksIn(log.join(""))];
  const chunks = [...said, ...closingChunks(said, "stopped"), { type: "abort" } as const];
  await finishAnswer(chat, id, stored, "stopped", chunks);
}
