import { isToolUIPart, type UIMessage } from "ai";

/** A message as the channel has it, with what the page has said of its tool calls and hasn't sent yet. */
export function withOwnAnswers<Message extends UIMessage>(
  message: Message,
  own: Message | undefined,
): Message {
  if (own === undefined || !message.parts.some(waits)) return message;
  const said = own.parts.filter((part) => isToolUIPart(part) && !waits(part));
  const parts = message.parts.map((part) =>
    waits(part) ? (said.find(isCall(part)) ?? part) : part,
  );
  return { ...message, parts };
}

type Part = UIMessage["parts"][number];

function waits(part: Part): boolean {
  return (
    isToolUIPart(part) && (part.state === "input-available" || part.state === "approval-requested")
  );
}

function isCall(part: Part): (other: Part) => boolean {
  return (other) =>
    isToolUIPart(part) && isToolUIPart(other) && part.toolCallId === other.toolCallId;
}
