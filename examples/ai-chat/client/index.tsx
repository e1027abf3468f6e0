import { useChat } from "@ai-sdk/react";
import {
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses as isApproved,
  lastAssistantMessageIsCompleteWithToolCalls as isComplete,
  type ChatAddToolApproveResponseFunction,
  type UIMessage,
} from "ai";
import { Centrifuge } from "centrifuge";
import { DormouseChatTransport } from "dormouse-realtime/ai";
import { type SubmitEvent, StrictMode, useEffect, useRef, useState } from "react";
import { createRoot } from "react-dom/client";

const { protocol, host } = location;
const address = `${protocol.replace("http", "ws")}//${host}/realtime/connection/websocket`;
const client = new Centrifuge(address);
const transport = new DormouseChatTransport({ client, api: "/api/chat" });

// The chat is what the link says: whoever has it sees the same.
location.hash ||= `#${crypto.randomUUID()}`;
const chatId = location.hash.slice(1);

function Chat() {
  const chat = useChat({ id: chatId, transport, sendAutomaticallyWhen });
  const newest = useRef(chat);
  useEffect(() => void (newest.current = chat));
  useEffect(() => transport.follow(chatId, () => newest.current), []);
  const { messages, status, error, sendMessage, regenerate, stop } = chat;
  const { addToolOutput, addToolApprovalResponse } = chat;
  // What a tool of the page has to do, also after a reload: onToolCall hears only of calls that are streamed.
  useEffect(() => {
    if (status !== "ready") return;
    const output = Intl.DateTimeFormat().resolvedOptions().timeZone;
    for (const part of messages.at(-1)?.parts ?? [])
      if (part.type === "tool-timeZone" && part.state === "input-available")
        void addToolOutput({ tool: "timeZone", toolCallId: part.toolCallId, output });
  }, [messages, status, addToolOutput]);
  const isBusy = status === "submitted" || status === "streaming";
  return (
    <main>
      <ol>
        {messages.map((message) => (
          <li key={message.id} className={message.role}>
            {message.parts.map((part, index) => (
              <Part key={index} part={part} decide={addToolApprovalResponse} />
            ))}
          </li>
        ))}
      </ol>
      <p role="status">{error?.message ?? status}</p>
      <Question ask={(text) => void sendMessage({ text })} />
      {isBusy && (
        <button type="button" onClick={() => void stop()}>
          Stop
        </button>
      )}
      {!isBusy && messages.at(-1)?.role === "assistant" && (
        <button type="button" onClick={() => void regenerate()}>
          Again
        </button>
      )}
    </main>
  );
}

/** The answer goes on when the page has answered what its tools ask. */
function sendAutomaticallyWhen(options: { messages: UIMessage[] }): boolean {
  return isComplete(options) || isApproved(options);
}

interface PartProps {
  readonly part: UIMessage["parts"][number];
  readonly decide: ChatAddToolApproveResponseFunction;
}

function Part({ part, decide }: PartProps) {
  if (part.type === "text") return <p>{part.text}</p>;
  if (part.type === "reasoning") return <em>{part.text}</em>;
  if (!isToolUIPart(part)) return null;
  return (
    <code>
      {part.type} {JSON.stringify(part.input)} {part.state} {JSON.stringify(part.output)}
      {part.state === "approval-requested" && (
        <span>
          <button
            type="button"
            onClick={() => void decide({ id: part.approval.id, approved: true })}
          >
            Allow
          </button>
          <button
            type="button"
            onClick={() => void decide({ id: part.approval.id, approved: false })}
          >
            Deny
          </button>
        </span>
      )}
    </code>
  );
}

function Question({ ask }: { readonly ask: (text: string) => void }) {
  const [text, setText] = useState("");
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (text !== "") ask(text);
    setText("");
  };
  return (
    <form onSubmit={submit}>
      <input
        value={text}
        onChange={(event) => setText(event.target.value)}
        aria-label="Your question"
        placeholder="How is the weather?"
      />
      <button type="submit">Ask</button>
    </form>
  );
}

createRoot(document.body).render(
  <StrictMode>
    <Chat />
  </StrictMode>,
);
