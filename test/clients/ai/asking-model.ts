import {
  convertToModelMessages,
  isStepCount,
  jsonSchema,
  streamText,
  tool,
  type UIMessage,
} from "ai";
import { MockLanguageModelV4 } from "ai/test";
import type { Chunk } from "../../../package/ai/index.ts";

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};

/** A model that asks the page where the user is, or orders something if the user approves, and says what came of it. */
export class AskingModel {
  /** How often the model was asked. */
  calls = 0;
  /** What was ordered. */
  readonly orders: string[] = [];
  /** What the model says before it says what came of its calls. */
  opening = "So: ";
  /** Where the model waits in the middle of a tool's input, of an order or of its text, until the test lets it go on. */
  readonly waits = {
    input: Promise.resolve(),
    order: Promise.resolve(),
    text: Promise.resolve(),
  };

  async answer(messages: UIMessage[], abortSignal: AbortSignal): Promise<ReadableStream<Chunk>> {
    const model = new MockLanguageModelV4({
      doStream: async ({ prompt }) => {
        this.calls++;
        const last = prompt.at(-1);
        const parts =
          last?.role === "tool"
            ? this.#says(JSON.stringify(last.content))
            : this.#calls(JSON.stringify(last?.content));
        return { stream: streamOf(parts) };
      },
    });
    const inputSchema = jsonSchema<{ what: string }>({ type: "object" });
    const order = tool({
      inputSchema,
      execute: async ({ what }) => {
        this.orders.push(what);
        await this.waits.order;
        return { ordered: what };
      },
    });
    const result = streamText({
      model,
      messages: await convertToModelMessages(messages, { ignoreIncompleteToolCalls: true }),
      tools: { place: tool({ inputSchema }), order },
      toolApproval: { order: "user-approval" },
      stopWhen: isStepCount(3),
      abortSignal,
    });
    return result.toUIMessageStream();
  }

  /** Calls the tools that the question names, each as often as it does. */
  async *#calls(question: string): AsyncGenerator<Part> {
    yield { type: "stream-start", warnings: [] };
    for (const [nth, [toolName]] of [...question.matchAll(/place|order/g)].entries()) {
      const toolCallId = `${toolName}-${nth}`;
      yield { type: "tool-input-start", id: toolCallId, toolName };
      yield { type: "tool-input-delta", id: toolCallId, delta: '{"what":' };
      await this.waits.input;
      yield { type: "tool-input-delta", id: toolCallId, delta: '"ice"}' };
      yield { type: "tool-input-end", id: toolCallId };
      yield { type: "tool-call", toolCallId, toolName, input: '{"what":"ice"}' };
    }
    yield { type: "finish", finishReason: { unified: "tool-calls", raw: undefined }, usage };
  }

  async *#says(what: string): AsyncGenerator<Part> {
    yield { type: "stream-start", warnings: [] };
    yield { type: "text-start", id: "t" };
    yield { type: "text-delta", id: "t", delta: this.opening };
    await this.waits.text;
    yield { type: "text-delta", id: "t", delta: what };
    yield { type: "text-end", id: "t" };
    yield { type: "finish", finishReason: { unified: "stop", raw: undefined }, usage };
  }
}

function streamOf(parts: AsyncGenerator<Part>): ReadableStream<Part> {
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await parts.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
  });
}

type Part =
  Awaited<ReturnType<MockLanguageModelV4["doStream"]>>["stream"] extends ReadableStream<
    infer Streamed
  >
    ? Streamed
    : never;
