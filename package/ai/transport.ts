import type { ChatTransport, UIMessage } from "ai";
import type { Centrifuge } from "centrifuge";
import { AnswerReader, type KnownAnswer } from "./answer-reader.ts";
import { pause } from "./backend.ts";
import { ChatChannel, type ChatSubscriptionOptions } from "./chat-channel.ts";
import type { ChatRequest } from "./chat-request.ts";
import type { Chunk } from "./chunks.ts";
import { ChatFollower, type FollowedChat } from "./chat-follower.ts";
import { answerEntry, chunksOf, entriesOf, isRunning, nextPlace } from "./wire.ts";

/** A value, or what gives it for each request. */
type Given<Value> = Value | (() => Value | Promise<Value>);

export interface DormouseChatTransportOptions extends ChatSubscriptionOptions {
  /** The official client, which may have other subscriptions. */
  readonly client: Centrifuge;
  /** The application's route that takes messages; `/api/chat` by default. */
  readonly api?: string;
  /** The channel of a chat; `chat:` and its ID by default. */
  readonly channelOf?: (chatId: string) => string;
  readonly headers?: Given<Readonly<Record<string, string>>>;
  /** Further fields of the request's body. */
  readonly body?: Given<object>;
  readonly credentials?: "omit" | "same-origin" | "include";
  readonly fetch?: typeof fetch;
  /** Makes the IDs of answers: up to 200 letters, digits and `.:~-_`; a random UUID by default. */
  readonly generateId?: () => string;
  /** After so long without a sign of the producer the answer is stopped, in ms; 45,000 by default. */
  readonly silentMs?: number;
}

type Send<Message extends UIMessage> = Parameters<ChatTransport<Message>["sendMessages"]>[0];
type Reconnect<Message extends UIMessage> = Parameters<
  ChatTransport<Message>["reconnectToStream"]
>[0];

/** What the transport knows of one chat. */
interface Chat {
  /** There while somebody uses it. */
  channel?: ChatChannel | undefined;
  /** The answer that the page reads. */
  reader?: AnswerReader | undefined;
  /** Answers that this page has stopped, and reads no more. */
  readonly stopped: Set<string>;
  /** Answers of which the page doesn't know yet whether it has stopped them. */
  readonly left: Set<string>;
  readonly followers: Set<Pick<ChatFollower<UIMessage>, "look" | "end">>;
  /** How often a component has left or a stream was asked for: an abort at such a time stops no work. */
  moves: number;
}

/**
 * The transport of `useChat`, by a channel: messages go to the application's own route, and answers come from the chat's
 * channel, to each tab, over reloads and lost connections.
 */
export class DormouseChatTransport<
  Message extends UIMessage = UIMessage,
> implements ChatTransport<Message> {
  /** A stream that is asked for again begins with the answer's first chunk. */
  readonly resumeStreamIsReplay = true;
  readonly #options: DormouseChatTransportOptions;
  readonly #chats = new Map<string, Chat>();

  constructor(options: DormouseChatTransportOptions) {
    this.#options = options;
  }

  /** Sends the user's message, and gives the answer's chunks. */
  readonly sendMessages = async (options: Send<Message>): Promise<ReadableStream<Chunk>> => {
    const { chatId, trigger, messageId, messages, abortSignal, body } = options;
    const { generateId = () => crypto.randomUUID() } = this.#options;
    const known = await this.#goesOn(options);
    abortSignal?.throwIfAborted();
    const answerId = known?.id ?? generateId();
    const removes = known === undefined ? this.#replaced(options) : [];
    const after = known?.attempt;
    const reader = this.#read(chatId, answerId, known);
    const stop = () => this.#aborted(chatId, reader);
    abortSignal?.addEventListener("abort", stop);
    const { isSynced, values } = this.#open(chatId);
    const place = isSynced ? nextPlace(values) : undefined;
    const own = { id: chatId, messages, trigger, messageId, answerId, removes, after, place };
    const request = { ...body, ...own };
    const posted = this.#post(request, options.headers);
    try {
      // A route may answer when the model has, or at once.
      await Promise.race([posted, reader.begun]);
    } catch (error) {
      reader.close();
      throw error;
    }
    posted.catch((error: unknown) => reader.fail(asError(error)));
    return reader.stream;
  };

  /** Gives the chunks of the answer that is being written, from the first; null if none is. */
  readonly reconnectToStream = async (
    options: Reconnect<Message>,
  ): Promise<ReadableStream<Chunk> | null> => {
    const { chatId } = options;
    this.#chat(chatId).moves++;
    await this.#open(chatId).synced();
    const id = this.#running(chatId);
    const signal = "abortSignal" in options ? options.abortSignal : undefined;
    if (id === undefined || signal?.aborted === true) return null;
    const reader = this.#read(chatId, id);
    signal?.addEventListener("abort", () => this.#aborted(chatId, reader));
    return reader.stream;
  };

  /**
   * Shows a chat what others do: their messages, their answers, what they stop, remove and generate again. Call it while the
   * chat is shown.
   *
   * @param chat gives the chat as it is now
   * @returns what ends it
   */
  follow(chatId: string, chat: () => FollowedChat<Message>): () => void {
    const known = this.#chat(chatId);
    const follower = new ChatFollower<Message>(this.#open(chatId), chat, {
      reading: () => known.reader?.id,
      running: () => this.#running(chatId, known.left),
    });
    known.followers.add(follower);
    return () => {
      known.followers.delete(follower);
      known.moves++;
      follower.end();
    };
  }

  /** Stops an answer for everybody. Without an ID the one that is being written. */
  async stop(chatId: string, answerId = this.#running(chatId)): Promise<void> {
    if (answerId === undefined) return;
    this.#chat(chatId).stopped.add(answerId);
    await this.#stop(chatId, answerId);
  }

  /** Ends all that it hears. The client stays connected. */
  readonly close = (): void => {
    for (const { followers, channel } of this.#chats.values()) {
      for (const follower of followers) follower.end();
      channel?.end();
    }
  };

  /** The answer that is being written, unless this page has stopped it. */
  #running(chatId: string, left: ReadonlySet<string> = new Set()): string | undefined {
    const { stopped } = this.#chat(chatId);
    const found = entriesOf(this.#open(chatId).values).find(
      ([id, entry]) => isRunning(entry) && !stopped.has(id) && !left.has(id),
    );
    return found?.[0];
  }

  #chat(chatId: string): Chat {
    const known = this.#chats.get(chatId);
    if (known !== undefined) return known;
    const chat: Chat = { stopped: new Set(), left: new Set(), followers: new Set(), moves: 0 };
    this.#chats.set(chatId, chat);
    return chat;
  }

  #open(chatId: string): ChatChannel {
    const chat = this.#chat(chatId);
    const { client, channelOf = (id: string) => `chat:${id}` } = this.#options;
    const ended = () => (chat.channel = undefined);
    return (chat.channel ??= new ChatChannel(client, channelOf(chatId), this.#options, ended));
  }

  /** Reads an answer. A page reads one answer of a chat at a time. */
  #read(chatId: string, id: string, known?: KnownAnswer): AnswerReader {
    const chat = this.#chat(chatId);
    chat.reader?.close();
    const options = {
      silentMs: this.#options.silentMs ?? 45_000,
      // It is asked again when it stays silent.
      isSilent: () => void this.#stop(chatId, id).catch(() => undefined),
      isFollowed: () => chat.followers.size > 0,
      ...(known !== undefined && { known }),
    };
    const reader = new AnswerReader(this.#open(chatId), id, options, (ended) => {
      if (chat.reader === ended) chat.reader = undefined;
      for (const follower of chat.followers) follower.look();
    });
    if (reader.isOpen) chat.reader = reader;
    return reader;
  }

  /**
   * A signal has aborted. A chat aborts what it reads also when its component goes away, or when it begins to read anew: then
   * the work goes on.
   */
  #aborted(chatId: string, reader: AnswerReader): void {
    if (reader.hasAll) return;
    const chat = this.#chat(chatId);
    const { moves } = chat;
    chat.left.add(reader.id);
    reader.close();
    setTimeout(() => {
      chat.left.delete(reader.id);
      // What can't be posted goes on, and the page shows it again.
      if (moves === chat.moves)
        this.stop(chatId, reader.id).catch(() => chat.stopped.delete(reader.id));
      for (const follower of chat.followers) follower.look();
    });
  }

  /** The answer that is to go on with a tool's result or an approval, as far as the page knows it; undefined if none is. */
  async #goesOn({ chatId, trigger, messageId, messages }: Send<Message>) {
    const message = messages.find(({ id }) => id === messageId);
    if (trigger !== "submit-message" || message?.role !== "assistant") return undefined;
    const channel = this.#open(chatId);
    await channel.synced();
    const { id } = message;
    const entry = answerEntry(channel.values, id);
    if (entry === undefined) throw new Error(`the answer ${id} isn't on the chat's channel`);
    this.#chat(chatId).stopped.delete(id);
    // Another page was faster: this one reads along.
    if (isRunning(entry)) return { id, attempt: entry.attempt - 1, chunks: entry.chunks ?? [] };
    return { id, attempt: entry.attempt, chunks: chunksOf(channel.values, id, entry) };
  }

  /** The messages that a new answer or an edit replaces: those that the page has known, and doesn't show any more. */
  #replaced({ chatId, trigger, messageId, messages }: Send<Message>): readonly string[] {
    const last = messages.at(-1);
    const isEdited = trigger === "submit-message" && messageId === last?.id;
    if (trigger === "submit-message" && !isEdited) return [];
    const shown = new Set(messages.map(({ id }) => id));
    const ids = entriesOf(this.#open(chatId).values).map(([id]) => id);
    const from = ids.indexOf(last?.id ?? "") + 1;
    return ids.slice(from).filter((id) => !shown.has(id));
  }

  #stop(id: string, messageId: string): Promise<void> {
    return this.#post({ id, trigger: "stop-message", messageId });
  }

  async #post(
    request: Pick<ChatRequest, "id" | "trigger" | "messageId">,
    headers: Headers | Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const { api = "/api/chat", credentials, fetch: send = fetch } = this.#options;
    const own = await resolved(this.#options.headers);
    const body = JSON.stringify({ ...(await resolved(this.#options.body)), ...request });
    const init: RequestInit = {
      method: "POST",
      headers: { "Content-Type": "application/json", ...own, ...fields(headers) },
      body,
      ...(credentials !== undefined && { credentials }),
    };
    for (let tries = 1; ; tries++) {
      const response = await send(api, init).catch((error: unknown) => {
        // The same request again is taken once: the answer has its ID.
        if (tries >= postTriesMax) throw error;
      });
      if (response?.ok === true) return;
      if (response !== undefined)
        throw new Error((await response.text()) || `${api} answers ${response.status}`);
      await pause(250 * 2 ** tries);
    }
  }
}

/** A request that nobody answered, because the network is gone, is sent again for 15 seconds. */
const postTriesMax = 5;

async function resolved<Value extends object>(
  given: Given<Value> | undefined,
): Promise<Value | object> {
  return typeof given === "function" ? given() : (given ?? {});
}

function fields(
  headers: Headers | Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(new Headers(headers).entries());
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
