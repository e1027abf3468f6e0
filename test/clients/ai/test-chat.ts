import { AbstractChat, type ChatInit, type ChatState, type ChatStatus, type UIMessage } from "ai";
import { Centrifuge } from "centrifuge";
import { vi } from "vitest";
import { DormouseChatTransport } from "../../../package/ai/index.ts";

/** The state of a chat without a framework. */
class PlainState implements ChatState<UIMessage> {
  status: ChatStatus = "ready";
  error: Error | undefined;
  messages: UIMessage[] = [];
  pushMessage = (message: UIMessage) => void (this.messages = [...this.messages, message]);
  popMessage = () => void (this.messages = this.messages.slice(0, -1));
  replaceMessage = (index: number, message: UIMessage) =>
    void (this.messages = this.messages.with(index, this.snapshot(message)));
  snapshot = <Value>(value: Value): Value => structuredClone(value);
}

class PlainChat extends AbstractChat<UIMessage> {}

/** How a tab is opened. */
export interface TabOptions {
  readonly chatId: string;
  readonly websocketUrl: string;
  /** The application's route. */
  readonly route: typeof fetch;
  readonly token: string;
  readonly follows?: boolean;
  readonly silentMs?: number;
  /** Further options of the chat, given the tab. */
  readonly init?: (tab: Tab) => Pick<ChatInit<UIMessage>, "onToolCall" | "sendAutomaticallyWhen">;
}

/** A tab with a chat of the AI SDK, without a browser. */
export class Tab {
  readonly chat: PlainChat;
  readonly transport: DormouseChatTransport;
  readonly client: Centrifuge;
  readonly #unfollow: () => void;

  constructor(options: TabOptions) {
    const { chatId, websocketUrl, route, token, follows = true, silentMs } = options;
    this.client = new Centrifuge(websocketUrl, {
      token,
      minReconnectDelay: 50,
      maxReconnectDelay: 300,
    });
    this.transport = new DormouseChatTransport({
      client: this.client,
      fetch: route,
      ...(silentMs !== undefined && { silentMs }),
    });
    const state = new PlainState();
    const init = options.init?.(this);
    const chat = new PlainChat({ id: chatId, transport: this.transport, state, ...init });
    this.chat = chat;
    this.#unfollow = follows ? this.transport.follow(chatId, () => chat) : () => undefined;
  }

  /** All texts that the chat shows, without reasoning. */
  texts(): string {
    const parts = this.chat.messages.flatMap((message) => message.parts);
    return parts.map((part) => (part.type === "text" ? part.text : "")).join("|");
  }

  /** Waits until the chat shows something. */
  async sees(text: string): Promise<void> {
    const shown = () => JSON.stringify(this.chat.messages);
    await waitFor(
      () => shown().includes(text),
      () => `${shown()} has no ${text}`,
    );
  }

  /** Waits until nothing runs any more. */
  async rests(messages: number): Promise<void> {
    const { chat } = this;
    await waitFor(
      () => chat.status === "ready" && chat.messages.length === messages,
      () => `${chat.status}: ${JSON.stringify(chat.messages)}`,
    );
  }

  /** The tab is reloaded or closed: nothing is told to anybody. */
  close(): void {
    this.#unfollow();
    this.transport.close();
    this.client.disconnect();
  }
}

async function waitFor(isSo: () => boolean, problem: () => string): Promise<void> {
  const look = () => {
    if (!isSo()) throw new Error(problem());
  };
  await vi.waitFor(look, { timeout: 30_000, interval: 20 });
}
