import { isToolUIPart, readUIMessageStream, type UIMessage } from "ai";
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

/** The message that an answer's chunks make. */
async function builtMessage<Message extends UIMessage>(
  id: string,
  chunks: readonly Chunk[],
): Promise<Message> {
  const empty: UIMessage = { id, role: "assistant", parts: [] };
  let message: Message = Object(empty);
  let from = 0;
  for (const [nth, chunk] of chunks.entries()) {
    if (chunk.type !== "tool-approval-response") continue;
    message = withApproval(await readOn(message, chunks.slice(from, nth)), chunk);
    from = nth + 1;
  }
  return readOn(message, chunks.slice(from));
}

/** Puts an approval into a message: version 6 of the SDK has no chunk that does. */
function withApproval<Message extends UIMessage>(
  message: Message,
  { approvalId, approved, reason }: Extract<Chunk, { readonly type: "tool-approval-response" }>,
): Message {
  const parts = message.parts.map((part) =>
    isToolUIPart(part) && part.approval?.id === approvalId
      ? {
          ...part,
          state: "approval-responded",
          approval: { ...part.approval, approved, ...(reason !== undefined && { reason }) },
        }
      : part,
  );
  return Object({ ...message, parts });
}

/** The message that further chunks make, as the SDK itself puts it together. */
async function readOn<Message extends UIMessage>(
  message: Message,
  chunks: readonly Chunk[],
): Promise<Message> {
  const stream = new ReadableStream<Chunk>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  let read = message;
  // An answer that has failed has its error at the end, which is no part of the message.
  const states = readUIMessageStream<Message>({ message, stream, onError: () => undefined });
  for await (const state of states) read = state;
  return read;
}
