import type { UIMessage } from "ai";
import { type ChatBackend, ChatCommands, ChatError } from "./backend.ts";
import { messagesOf } from "./messages.ts";
import {
  type BegunAnswer,
  beginAnswer,
  endAnswer,
  goOn,
  moveAnswer,
  newAnswer,
  readAnswer,
  type StoredAnswer,
} from "./stored-answer.ts";
import { parseToolAnswers, type ToolAnswer, withToolAnswers } from "./tool-answers.ts";
import {
  answerEntry,
  type ChatValues,
  chunksOf,
  entriesOf,
  isMessageId,
  isRunning,
  logKeysOf,
  messageKey,
  nextPlace,
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
  /** The place of a new message, as far as the page knows: nothing is to be read before the message is put there. */
  readonly place: number | undefined;
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
  /** What the channel has of the answer, for the first who writes it: he needn't read it. */
  readonly begun: BegunAnswer;
}

/** Reads the body of a request. @throws ChatError if it isn't one of a page's transport */
export function parseChatRequest(body: unknown): ChatRequest {
  const { id, trigger, messageId, answerId, messages, removes = [], after, place } = Object(body);
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
    place: Number.isInteger(place) && place > 0 && place <= placeMax ? place : undefined,
  };
}

/** A page that names a higher place is asked for none. */
const placeMax = 1_000_000_000;

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
  const { place, removes, trigger, messageId } = request;
  const isNew = trigger === "submit-message" && messageId !== message.id && removes.length === 0;
  const put =
    isNew && place !== undefined
      ? await putAtOnce(chat, message, answerId, place)
      : await putBehindAll(chat, message, request);
  if (put === undefined) return undefined;
  return { answerId, messages: await messagesOf<Message>(put.values), begun: put.begun };
}

/** What the chat has with the user's message, and the answer that has begun. */
interface Put {
  readonly values: ChatValues;
  readonly begun: StoredAnswer;
}

/** Reads the chat, removes what is replaced, and puts the message and its answer behind all others. */
async function putBehindAll(
  chat: ChatCommands,
  message: UIMessage,
  request: ChatRequest,
): Promise<Put | undefined> {
  const { answerId, messageId } = request;
  const values = new Map(await chat.readAll());
  if (values.has(messageKey(answerId))) return undefined;
  const place = nextPlace(values);
  await remove(chat, request, values);
  // At the same time, since the user waits: their places say their order.
  const [said, begun] = await Promise.allSettled([
    say(chat, message, messageId === message.id, values, place),
    beginAnswer(chat, answerId, place + 1),
  ]);
  if (begun.status === "rejected") throw begun.reason;
  if (said.status === "rejected") {
    if (begun.value !== undefined) await chat.remove(messageKey(answerId));
    throw said.reason;
  }
  return begun.value === undefined ? undefined : { values, begun: begun.value };
}

/**
 * Puts a new message and its answer where the page believes that they belong, and reads the chat by the same call, since the user
 * waits. If others have written meanwhile, both are moved behind them.
 */
async function putAtOnce(
  chat: ChatCommands,
  message: UIMessage,
  answerId: string,
  place: number,
): Promise<Put | undefined> {
  const [key, answerKey] = [messageKey(message.id), messageKey(answerId)];
  const [data, entry] = [{ place, message }, newAnswer(place + 1)];
  const { read, put } = await chat.readAndPut({ key, data }, { key: answerKey, data: entry });
  const [said, begun] = put;
  if (said === undefined || begun === undefined) throw new ChatError("a batch has no answers");
  if (begun instanceof ChatError) throw begun;
  if (!begun.isPut) return undefined;
  const problem = said instanceof ChatError ? said : answerProblem(message.id, read.get(key));
  if (problem !== undefined || said instanceof ChatError) {
    await chat.remove(answerKey);
    throw problem;
  }
  const stored: StoredAnswer = { entry, offset: begun.offset };
  const values = new Map(read);
  for (const own of [key, answerKey]) values.delete(own);
  const behindAll = nextPlace(values);
  values.set(key, said.isPut ? { ...data, place: behindAll } : read.get(key));
  if (behindAll === place) return { values, begun: stored };
  const [moved] = await Promise.all([
    moveAnswer(chat, answerId, stored, behindAll + 1),
    said.isPut && chat.publish({ key, data: values.get(key), if_offset: said.offset }),
  ]);
  return moved === undefined ? undefined : { values, begun: moved };
}

/** What is wrong if the ID of a user's message is that of an answer. */
function answerProblem(id: string, value: unknown): ChatError | undefined {
  const entry = parseEntry(value);
  if (entry === undefined || !("answer" in entry)) return undefined;
  return new ChatError(`the message ${id} is an answer`);
}

/** Lets an answer go on with what a page says about its tool calls. */
async function continued<Message extends UIMessage>(
  chat: ChatCommands,
  answerId: string,
  { after, toolAnswers }: PageAnswers,
): Promise<TakenRequest<Message> | undefined> {
  const [values, stored] = await Promise.all([chat.readAll(), readAnswer(chat, answerId)]);
  const { entry } = stored ?? {};
  if (stored === undefined || entry === undefined)
    throw new ChatError(`the chat has no answer ${answerId}`);
  // Another page was faster, or the request has come before.
  if (entry.attempt !== after || isRunning(entry)) return undefined;
  const chunks = withToolAnswers(chunksOf(values, answerId, entry), toolAnswers);
  if (chunks === undefined) throw new ChatError(`the answer ${answerId} doesn't wait for that`);
  const begun = await goOn(chat, answerId, stored, chunks);
  if (begun === undefined) return undefined;
  const upTo = new Map(values);
  for (const [id, { place }] of entriesOf(values))
    if (place > entry.place) upTo.delete(messageKey(id));
  upTo.set(messageKey(answerId), { ...entry, chunks });
  return { answerId, messages: await messagesOf<Message>(upTo), begun };
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
  const problem = answerProblem(message.id, before);
  if (problem !== undefined) throw problem;
  if (before !== undefined && !isEdited) return;
  const data = { place: before?.place ?? place, message };
  values.set(key, data);
  await chat.publish({ key, data, ...(before === undefined && { key_mode: "if_new" }) });
}
