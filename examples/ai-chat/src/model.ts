import { jsonSchema, tool, type UIMessage } from "ai";
import { MockLanguageModelV4 } from "ai/test";

const inputSchema = jsonSchema<object>({ type: "object", properties: {} });

/** Of the tools one takes a while, one is the page's to carry out, and one asks the user first. */
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
  timeZone: tool({ description: "The time zone of the user", inputSchema }),
  order: tool({
    description: "Orders an ice cream, which costs money",
    inputSchema,
    execute: () => ({ ordered: "an ice cream" }),
  }),
};

/** Which tools ask the user first. */
export const toolApproval = { order: "user-approval" } as const;

type Model = MockLanguageModelV4;
type Streamed = Awaited<ReturnType<Model["doStream"]>>["stream"];
type Results = Extract<
  Parameters<Model["doStream"]>[0]["prompt"][number],
  { readonly role: "tool" }
>["content"];
type Part = Streamed extends ReadableStream<infer One> ? One : never;

/**
 * The AI SDK's mock of a model, in place of a provider's: it thinks, calls a tool, and answers, word by word. It says the same to
 * the same messages, as no real model does.
 */
export function model(messages: readonly UIMessage[]): Model {
  const question = textOf(messages.findLast(({ role }) => role === "user"));
  return new MockLanguageModelV4({
    doStream: async ({ prompt }) => {
      const last = prompt.at(-1);
      const parts = last?.role === "tool" ? answer(question, last.content) : thoughts(question);
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
  for (const [nth, toolName] of toolsFor(question).entries()) yield* call(`call-${nth}`, toolName);
  yield finish("tool-calls");
}

/** The tools whose names a question has, or the weather. */
function toolsFor(question: string): readonly string[] {
  const named = Object.keys(tools).filter((name) => question.includes(name));
  return named.length > 0 ? named : ["weather"];
}

function* call(toolCallId: string, toolName: string): Generator<Part> {
  const input = toolName === "weather" ? '{ "city": "Lisbon, Portugal" }' : "{}";
  yield { type: "tool-input-start", id: toolCallId, toolName };
  for (let at = 0; at < input.length; at += 3)
    yield { type: "tool-input-delta", id: toolCallId, delta: input.slice(at, at + 3) };
  yield { type: "tool-input-end", id: toolCallId };
  yield { type: "tool-call", toolCallId, toolName, input };
}

function* answer(question: string, results: Results): Generator<Part> {
  yield { type: "stream-start", warnings: [] };
  yield { type: "text-start", id: "text" };
  const others = results.filter((one) => one.type === "tool-result" && one.toolName !== "weather");
  const weather = `You asked: ${question} In Lisbon the sky is clear, and it has 21 degrees. That is a good day for a walk along the river, and for an ice cream in the shade of a tree. Take a hat with you, because the sun is stronger than it looks.`;
  const text = others.length > 0 ? `You asked: ${question} ${JSON.stringify(others)}` : weather;
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
      await wait(40);
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
