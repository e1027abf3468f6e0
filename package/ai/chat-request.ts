import type { UIMessage } from "ai";
import { type ChatBackend, ChatCommands, ChatError } from "./backend.ts";
import { messagesOf } from "./messages.ts";
import { beginAnswer, endAnswer, goOn, nextPlace } from "./stored-answer.ts";
import { parseToolAnswers, type ToolAnswer, withToolAnswers } from "./tool-answers.ts";
import {
  answerEntry,
  chunksOf,
  entriesOf,
  isMessageId,
  isRunning,
  logKeysOf,
  messageKey,
  parseEntry,
} from "./wire.ts";

/** What a page's transport posts to the application's route. */
export interface ChatRequest {
  /** The chat's ID: what the channel's name is made of. */
  readonly id: string;
  readonly trigger: "submit-message" | "regenerate-message" | "stop-message";
  /** The message that is edited, generated again, or stopped, or the answer that goes on. */
  readonly messageId: string | undefined;
  /** The ID of the answer, which the page has chosen: a request that comes twice has one answer. */
  readonly answerId: string;
  /** The user's newest message. */
  readonly message: UIMessage | undefined;
  /** The page's results and approvals for tool calls of an answer, which goes on with them. */
  readonly goesOn: PageAnswers | undefined;
  /** Messages that an edit or a new answer replaces. */
  readonly removes: readonly string[];
}

/** A page's results and approvals for the tool calls of an answer. */
interface PageAnswers {
  /** The attempt of the answer that the page knows. */
  readonly after: number;
  readonly toolAnswers: readonly ToolAnswer[];
}

/** What there is to answer. */
export interface TakenRequest<Message extends UIMessage> {
  /** The ID of the answer, for {@link streamToChannel}. */
  readonly answerId: string;
  /** The chat up to here, for the model. */
  readonly messages: Message[];
}

/** Reads the body of a request. @throws ChatError if it isn't one of a page's transport */
export function parseChatRequest(body: unknown): ChatRequest {
  const { id, trigger, messageId, answerId, messages, removes = [], after } = Object(body);
  if (typeof id !== "string" || id === "") throw new ChatError("the request has no chat: id");
  if (
    trigger !== "submit-message" &&
    trigger !== "regenerate-message" &&
    trigger !== "stop-message"
  )
    throw new ChatError("the request has no trigger");
  const stops = trigger === "stop-message";
  const ids = [stops ? messageId : answerId, ...(Array.isArray(removes) ? removes : [undefined])];
  if (!ids.every((one) => typeof one === "string" && isMessageId(one)))
    throw new ChatError("an ID of a message is missing, or can't be one");
  const goesOn =
    typeof after === "number" && !stops ? pageAnswers(after, answerId, messages) : undefined;
  return {
    id,
    trigger,
    messageId: typeof messageId === "string" ? messageId : undefined,
    answerId: String(stops ? messageId : answerId),
    message: stops || goesOn !== undefined ? undefined : parseUserMessage(messages),
    goesOn,
    removes: ids.slice(1),
  };
}

function pageAnswers(after: number, answerId: string, messages: unknown): PageAnswers {
  const all: readonly unknown[] = Array.isArray(messages) ? messages : [];
  const { parts } = Object(all.find((message) => Object(message).id === answerId));
  return { after, toolAnswers: parseToolAnswers(parts) };
}

/** What a page may say is a user's message: no other's role, and no answer. */
function parseUserMessage(messages: unknown): UIMessage {
  const { id, role, parts, metadata } = Object(
    Array.isArray(messages) ? messages.at(-1) : undefined,
  );
  const isOne =
    typeof id === "string" && isMessageId(id) && role === "user" && Array.isArray(parts);
  if (!isOne) throw new ChatError("the last of the messages isn't a user's");
  return { id, role, parts, ...(metadata !== undefined && { metadata }) };
}

/**
 * Takes a request of a page's transport: puts the user's message into the chat, removes what is replaced, and begins an
 * answer; or stops one.
 *
 * @param channel of the chat, to which the user may write: the application has to look
 * @param body    of the request, as JSON
 * @returns undefined if there is nothing to answer: an answer was stopped, or the request was taken before
 * @throws ChatError if the body isn't a transport's, or the chat can't be written
 */
export async function takeChatRequest<Message extends UIMessage = UIMessage>(
  backend: ChatBackend,
  channel: string,
  body: unknown,
): Promise<TakenRequest<Message> | undefined> {
  const request = parseChatRequest(body);
  const chat = new ChatCommands(backend, channel);
  const { answerId, message, goesOn } = request;
  if (goesOn !== undefined) return continued<Message>(chat, answerId, goesOn);
  if (message === undefined) {
    await endAnswer(chat, answerId);
    return undefined;
  }
  const values = new Map(await chat.readAll());
  if (values.has(messageKey(answerId))) return undefined;
  const place = nextPlace(values);
  await remove(chat, request, values);
  // At the same time, since the user waits: their places say their order.
  const [said, begun] = await Promise.allSettled([
    say(chat, message, request.messageId === message.id, values, place),
    beginAnswer(chat, answerId, place + 1),
  ]);
  if (begun.status === "rejected") throw begun.reason;
  if (said.status === "rejected") {
    if (begun.value) await chat.remove(messageKey(answerId));
    throw said.reason;
  }
  return begun.value ? { answerId, messages: await messagesOf<Message>(values) } : undefined;
}

/** Lets an answer go on with what a page says about its tool calls. */
async function continued<Message extends UIMessage>(
  chat: ChatCommands,
  answerId: string,
  { after, toolAnswers }: PageAnswers,
): Promise<TakenRequest<Message> | undefined> {
  const values = await chat.readAll();
  const entry = answerEntry(values, answerId);
  if (entry === undefined) throw new ChatError(`the chat has no answer ${answerId}`);
  // Another page was faster, or the request has come before.
  if (entry.attempt !== after || isRunning(entry)) return undefined;
  const chunks = withToolAnswers(chunksOf(values, answerId, entry), toolAnswers);
  if (chunks === undefined) throw new ChatError(`the answer ${answerId} doesn't wait for that`);
  if (!(await goOn(chat, answerId, after, chunks))) return undefined;
  const upTo = new Map(values);
  for (const [id, { place }] of entriesOf(values))
    if (place > entry.place) upTo.delete(messageKey(id));
  upTo.set(messageKey(answerId), { ...entry, chunks });
  return { answerId, messages: await messagesOf<Message>(upTo) };
}

/** Removes what is replaced. An answer that is being written stops. */
async function remove(
  chat: ChatCommands,
  { removes }: ChatRequest,
  values: Map<string, unknown>,
): Promise<void> {
  const running = removes.filter((id) => isRunning(answerEntry(values, id)));
  for (const id of running) await endAnswer(chat, id);
  // The logs of what was being written have grown.
  const now = running.length > 0 ? await chat.readAll() : values;
  for (const id of removes) {
    const key = messageKey(id);
    if (!values.delete(key)) continue;
    await chat.remove(key);
    for (const log of logKeysOf(now, id)) await chat.remove(log);
  }
}

/** Puts a user's message into the chat, unless it is there. */
async function say(
  chat: ChatCommands,
  message: UIMessage,
  isEdited: boolean,
  values: Map<string, unknown>,
  place: number,
): Promise<void> {
  const key = messageKey(message.id);
  const before = parseEntry(values.get(key));
  if (before !== undefined && "answer" in before)
    throw new ChatError(`the message ${message.id} is an answer`);
  if (before !== undefined && !isEdited) return;
  const data = { place: before?.place ?? place, message };
  values.set(key, data);
  await chat.publish({ key, data, ...(before === undefined && { key_mode: "if_new" }) });
}
