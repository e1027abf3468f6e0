import type { UIMessage } from "ai";
import type { ChatChannel } from "./chat-channel.ts";
import { messageOf } from "./messages.ts";
import { withOwnAnswers } from "./own-answers.ts";
import { type ChatValues, type Entry, entriesOf, isRunning } from "./wire.ts";

/** A chat as a page has it: what `useChat` of React gives, or the `Chat` of Vue, Svelte and Angular. */
export type FollowedChat<Message extends UIMessage> = {
  readonly status: "submitted" | "streaming" | "ready" | "error";
  readonly resumeStream: () => Promise<void>;
} & (
  | { readonly setMessages: (change: (messages: Message[]) => Message[]) => void }
  | { messages: Message[] }
);

/** What the transport says of a chat. */
export interface Reading {
  /** The answer that the page reads. */
  readonly reading: () => string | undefined;
  /** An answer that is being written. */
  readonly running: () => string | undefined;
}

/** Keeps the messages of a page as the channel has them, and lets it read an answer that somebody else has asked for. */
export class ChatFollower<Message extends UIMessage> {
  readonly #channel: ChatChannel;
  readonly #chat: () => FollowedChat<Message>;
  readonly #reading: Reading;
  readonly #stopListening: () => void;
  /** Messages that were built, by what they were built from. */
  readonly #built = new WeakMap<Entry, Promise<Message>>();
  /** The messages that the channel has had: one that it has no more was removed. */
  readonly #seen = new Set<string>();
  /** What the chat's messages were made of. */
  #shown: readonly Entry[] | undefined;
  #wasReading = false;
  #isLooking = false;
  #mustLook = false;
  #hasEnded = false;
  #isResuming = false;
  /** How often each answer was read. */
  readonly #resumed = new Map<string, number>();

  constructor(channel: ChatChannel, chat: () => FollowedChat<Message>, reading: Reading) {
    this.#channel = channel;
    this.#chat = chat;
    this.#reading = reading;
    this.#stopListening = channel.listen(() => this.look());
    this.look();
  }

  end(): void {
    this.#hasEnded = true;
    this.#stopListening();
  }

  /** Something may have changed. */
  look(): void {
    this.#mustLook = true;
    if (this.#isLooking || this.#hasEnded) return;
    this.#isLooking = true;
    void this.#lookOn();
  }

  async #lookOn(): Promise<void> {
    while (this.#mustLook && !this.#hasEnded) {
      this.#mustLook = false;
      if (this.#channel.isSynced) await this.#lookOnce();
    }
    this.#isLooking = false;
  }

  async #lookOnce(): Promise<void> {
    const { values } = this.#channel;
    const entries = entriesOf(values).filter(([, entry]) => !isRunning(entry));
    const isReading = this.#reading.reading() !== undefined;
    if (isReading) this.#wasReading = true;
    else if (this.#isBusy()) {
      // The chat still takes what it has read. It tells nobody when it is done.
      setTimeout(() => this.look(), busyMs);
      return;
    }
    const isSame =
      entries.length === this.#shown?.length &&
      entries.every(([, entry], nth) => entry === this.#shown?.[nth]);
    if (!isSame || (this.#wasReading && !isReading)) await this.#show(entries, values);
    this.#wasReading = isReading;
    if (isReading || this.#hasEnded || this.#reading.reading() !== undefined) return;
    const running = this.#reading.running();
    if (running !== undefined && this.#channel.problem === undefined) this.#resume(running);
  }

  /** Lets the chat read an answer: again if it has begun anew. */
  #resume(id: string): void {
    const times = this.#resumed.get(id) ?? 0;
    if (this.#isResuming || times >= resumesMax) return;
    this.#isResuming = true;
    this.#resumed.set(id, times + 1);
    void this.#chat()
      .resumeStream()
      .finally(() => {
        this.#isResuming = false;
        this.look();
      });
  }

  #isBusy(): boolean {
    const { status } = this.#chat();
    return status === "submitted" || status === "streaming";
  }

  async #show(
    entries: readonly (readonly [id: string, entry: Entry])[],
    values: ChatValues,
  ): Promise<void> {
    const built = new Map<string, Message>();
    // What is on the channel while messages are built is looked at afterwards.
    for (const [id, entry] of entries) built.set(id, await this.#message(id, entry, values));
    if (this.#hasEnded) return;
    const order = entriesOf(values).map(([id]) => id);
    for (const id of order) this.#seen.add(id);
    const reading = this.#reading.reading();
    this.#shown = entries.map(([, entry]) => entry);
    this.#change((messages) => {
      const own = new Map(messages.map((message) => [message.id, message]));
      const all = order.map((id) => {
        const message = id === reading ? undefined : built.get(id);
        if (message === undefined) return id === reading ? own.get(id) : undefined;
        return withOwnAnswers(message, own.get(id));
      });
      // What the user has just written isn't on the channel yet, or couldn't be sent.
      const unsent = messages.filter(({ id, role }) => role === "user" && !this.#seen.has(id));
      const known = all.filter((message) => message !== undefined);
      const isLast = reading !== undefined && known.at(-1)?.id === reading;
      return isLast
        ? [...known.slice(0, -1), ...unsent, ...known.slice(-1)]
        : [...known, ...unsent];
    });
  }

  #change(change: (messages: Message[]) => Message[]): void {
    const chat = this.#chat();
    if ("setMessages" in chat) chat.setMessages(change);
    else chat.messages = change(chat.messages);
  }

  #message(id: string, entry: Entry, values: ChatValues): Promise<Message> {
    const known = this.#built.get(entry);
    if (known !== undefined) return known;
    const message = messageOf<Message>(id, entry, values);
    this.#built.set(entry, message);
    return message;
  }
}

const busyMs = 50;

/** An answer that no chat can read isn't tried for ever. */
const resumesMax = 20;
