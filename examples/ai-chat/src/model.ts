import { jsonSchema, tool, type UIMessage } from "ai";
import { MockLanguageModelV4 } from "ai/test";

/** A tool that takes a while, as one that asks another service does. */
export const tools = {
  weather: tool({
    description: "The weather of a city",
    inputSchema: jsonSchema<{ city: string }>({
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
    }),
    execute: async ({ city }) => {
      await wait(500);
      return { city, sky: "clear", degrees: 21 };
    },
  }),
};

type Model = MockLanguageModelV4;
type Streamed = Awaited<ReturnType<Model["doStream"]>>["stream"];
type Part = Streamed extends ReadableStream<infer One> ? One : never;

/**
 * The AI SDK's mock of a model, in place of a provider's: it thinks, asks for the weather, and answers, word by word. It says the
 * same to the same messages, as no real model does.
 */
export function model(messages: readonly UIMessage[]): Model {
  const question = textOf(messages.at(-1));
  return new MockLanguageModelV4({
    doStream: async ({ prompt }) => {
      const hasAsked = prompt.at(-1)?.role === "tool";
      const parts = hasAsked ? answer(question) : thoughts(question);
      return { stream: slowly(parts) };
    },
  });
}

function* thoughts(question: string): Generator<Part> {
  yield { type: "stream-start", warnings: [] };
  yield { type: "reasoning-start", id: "thoughts" };
  const thought = `Somebody asks: ${question} To answer that I should know how the weather is just now.`;
  for (const delta of wordsOf(thought)) yield { type: "reasoning-delta", id: "thoughts", delta };
  yield { type: "reasoning-end", id: "thoughts" };
  const call = { toolCallId: "call", toolName: "weather", input: '{ "city": "Lisbon, Portugal" }' };
  yield { type: "tool-input-start", id: call.toolCallId, toolName: call.toolName };
  for (let at = 0; at < call.input.length; at += 3)
    yield { type: "tool-input-delta", id: call.toolCallId, delta: call.input.slice(at, at + 3) };
  yield { type: "tool-input-end", id: call.toolCallId };
  yield { type: "tool-call", ...call };
  yield finish("tool-calls");
}

function* answer(question: string): Generator<Part> {
  yield { type: "stream-start", warnings: [] };
  yield { type: "text-start", id: "text" };
  const text = `You asked: ${question} In Lisbon the sky is clear, and it has 21 degrees. That is a good day for a walk along the river, and for an ice cream in the shade of a tree. Take a hat with you, because the sun is stronger than it looks.`;
  for (const delta of wordsOf(text)) yield { type: "text-delta", id: "text", delta };
  yield { type: "text-end", id: "text" };
  yield finish("stop");
}

function finish(unified: "stop" | "tool-calls"): Part {
  const inputTokens = { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined };
  const outputTokens = { total: 1, text: 1, reasoning: undefined };
  const finishReason = { unified, raw: unified };
  return { type: "finish", finishReason, usage: { inputTokens, outputTokens } };
}

function slowly(parts: Generator<Part>): ReadableStream<Part> {
  return new ReadableStream({
    async pull(controller) {
      await wait(60);
      const { value, done } = parts.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
  });
}

function wordsOf(text: string): readonly string[] {
  return text.match(/\S+\s*/g) ?? [];
}

function textOf(message: UIMessage | undefined): string {
  const parts = message?.parts ?? [];
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
