import { readUIMessageStream, type UIMessage } from "ai";
import { type ChatBackend, ChatCommands } from "./backend.ts";
import type { Chunk } from "./chunks.ts";
import { type ChatValues, chunksOf, type Entry, entriesOf, isRunning } from "./wire.ts";

/**
 * The messages of a chat that are whole, the oldest first: for the first render, and for the model. An answer that is being
 * written isn't among them; the transport gets it from its first chunk.
 */
export async function loadMessages<Message extends UIMessage = UIMessage>(
  backend: ChatBackend,
  channel: string,
): Promise<Message[]> {
  return messagesOf<Message>(await new ChatCommands(backend, channel).readAll());
}

/** The messages that are whole among the values of a chat's channel. The application knows their type. */
export async function messagesOf<Message extends UIMessage>(
  values: ChatValues,
): Promise<Message[]> {
  const messages: Message[] = [];
  for (const [id, entry] of entriesOf(values))
    if (!isRunning(entry)) messages.push(await messageOf<Message>(id, entry, values));
  return messages;
}

/** The message of an entry that is whole. */
export async function messageOf<Message extends UIMessage>(
  id: string,
  entry: Entry,
  values: ChatValues,
): Promise<Message> {
  if ("message" in entry) return Object(entry.message);
  return builtMessage(id, chunksOf(values, id, entry));
}

/** The message that an answer's chunks make, as the SDK itself puts it together. */
async function builtMessage<Message extends UIMessage>(
  id: string,
  chunks: readonly Chunk[],
): Promise<Message> {
  const stream = new ReadableStream<Chunk>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  const empty: UIMessage = { id, role: "assistant", parts: [] };
  let message: Message = Object(empty);
  // An answer that has failed has its error at the end, which is no part of the message.
  const read = readUIMessageStream<Message>({ stream, onError: () => undefined });
  for await (const state of read) message = state;
  return message;
}
