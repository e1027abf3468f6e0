import type { UIMessage } from "ai";
import { type ChatBackend, ChatCommands, ChatError } from "./backend.ts";
import { messagesOf } from "./messages.ts";
import { beginAnswer, endAnswer, nextPlace } from "./stored-answer.ts";
import { answerEntry, isMessageId, isRunning, logKeysOf, messageKey, parseEntry } from "./wire.ts";

/** What a page's transport posts to the application's route. */
export interface ChatRequest {
  /** The chat's ID: what the channel's name is made of. */
  readonly id: string;
  readonly trigger: "submit-message" | "regenerate-message" | "stop-message";
  /** The message that is edited, generated again, or stopped. */
  readonly messageId: string | undefined;
  /** The ID of the answer, which the page has chosen: a request that comes twice has one answer. */
  readonly answerId: string;
  /** The user's newest message. */
  readonly message: UIMessage | undefined;
  /** Messages that an edit or a new answer replaces. */
  readonly removes: readonly string[];
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
  const { id, trigger, messageId, answerId, messages, removes = [] } = Object(body);
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
  return {
    id,
    trigger,
    messageId: typeof messageId === "string" ? messageId : undefined,
    answerId: String(stops ? messageId : answerId),
    message: stops ? undefined : parseUserMessage(messages),
    removes: ids.slice(1),
  };
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
  const { answerId, message } = request;
  if (message === undefined) {
    await endAnswer(chat, answerId);
    return undefined;
  }
  const values = new Map(await chat.readAll());
  if (values.has(messageKey(answerId))) return undefined;
  const place = nextPlace(values);
  await remove(chat, request, values);
  await say(chat, message, request.messageId === message.id, values, place);
  if (!(await beginAnswer(chat, answerId, place + 1))) return undefined;
  return { answerId, messages: await messagesOf<Message>(values) };
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
