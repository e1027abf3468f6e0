import { type ChatTransport, DefaultChatTransport, type UIMessage } from "ai";
import { Centrifuge } from "centrifuge";
import { DormouseChatTransport } from "../../package/ai/index.ts";

/** A page with a chat. */
export interface Page {
  readonly chatId: string;
  readonly transport: ChatTransport<UIMessage>;
  readonly close: () => void;
}

/** What a page needs to know of the application and the server. */
export interface Addresses {
  /** Of the application. */
  readonly origin: string;
  readonly websocketUrl: string;
  readonly tokenOf: (user: string) => string;
}

/** Opens a page with the SDK's own transport. */
export async function openDefault({ origin }: Addresses, chatId: string): Promise<Page> {
  const transport = new DefaultChatTransport({ api: `${origin}/default` });
  return { chatId, transport, close: () => undefined };
}

/** Opens a page that has subscribed to its chat, as one that is shown has. */
export async function openDormouse(addresses: Addresses, chatId: string): Promise<Page> {
  const { origin, websocketUrl, tokenOf } = addresses;
  const client = new Centrifuge(websocketUrl, { token: tokenOf(`user-${chatId}`) });
  // However slow the machine is, the page waits.
  const silentMs = 600_000;
  const transport = new DormouseChatTransport({ client, api: `${origin}/dormouse`, silentMs });
  const close = () => {
    transport.close();
    client.disconnect();
  };
  await transport.reconnectToStream({ chatId });
  transport.follow(chatId, () => ({
    status: "streaming",
    messages: [],
    resumeStream: async () => undefined,
  }));
  return { chatId, transport, close };
}

/** Asks. @returns how long the first chunk took, and all of them, in ms, and the text of the answer */
export async function ask({ chatId, transport }: Page) {
  const begunMs = performance.now();
  const message: UIMessage = {
    id: crypto.randomUUID(),
    role: "user",
    parts: [{ type: "text", text: "Hello?" }],
  };
  const stream = await transport.sendMessages({
    chatId,
    trigger: "submit-message",
    messageId: undefined,
    messages: [message],
    abortSignal: undefined,
  });
  let firstMs: number | undefined;
  let said = "";
  for await (const chunk of stream) {
    if (chunk.type !== "text-delta") continue;
    firstMs ??= performance.now() - begunMs;
    said += chunk.delta;
  }
  return { firstMs: firstMs ?? Number.NaN, wholeMs: performance.now() - begunMs, said };
}
