import { jsonSchema, stepCountIs, streamText, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import type { Chunk } from "../../../package/ai/index.ts";

/** Where the model waits until the test lets it go on. */
export type Gate = "reasoning" | "tool input" | "tool" | "text";

/** What the model says: reasoning, a tool call, and a text. */
export const reasoning = ["The user ", "wants ", "the weather."];
const words = ["It ", "is ", "sunny ", "in ", "Lisbon, ", "🌞 ", "today."];
export const text = words.join("");

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};

/** The SDK's mock of a model with the real `streamText`, which waits in the middle of each of its parts. */
export class GatedModel {
  /** How often the model was asked, and how often its work was aborted. */
  calls = 0;
  aborts = 0;
  /** What the model says; a test may let it say something else. */
  words = words;
  readonly #gates = new Map<Gate, PromiseWithResolvers<undefined>>();
  readonly #reached = new Map<Gate, PromiseWithResolvers<undefined>>();

  /** Closes gates; the others are open. */
  hold(...gates: readonly Gate[]): void {
    for (const gate of gates) {
      this.#gates.set(gate, Promise.withResolvers());
      this.#reached.set(gate, Promise.withResolvers());
    }
  }

  open(gate: Gate): void {
    this.#gates.get(gate)?.resolve(undefined);
  }

  /** Resolves when the model waits. */
  async waitsAt(gate: Gate): Promise<void> {
    await this.#reached.get(gate)?.promise;
  }

  answer(signal: AbortSignal): ReadableStream<Chunk> {
    signal.addEventListener("abort", () => this.aborts++);
    const steps = [() => this.#firstStep(), () => this.#secondStep()];
    let nth = 0;
    const model = new MockLanguageModelV4({
      doStream: async () => {
        this.calls++;
        const parts = steps[nth++]?.() ?? [];
        const stream = new ReadableStream({
          pull: async (controller) => {
            const next = parts.shift();
            if (next === undefined) controller.close();
            else controller.enqueue(typeof next === "function" ? await next() : next);
          },
        });
        return { stream };
      },
    });
    const weather = tool({
      inputSchema: jsonSchema<{ city: string }>({ type: "object" }),
      execute: async ({ city }) => {
        await this.#wait("tool");
        return { city, sky: "clear" };
      },
    });
    const result = streamText({
      model,
      prompt: "The weather?",
      tools: { weather },
      stopWhen: stepCountIs(3),
      abortSignal: signal,
    });
    return result.toUIMessageStream({ generateMessageId: () => "of the model" });
  }

  async #wait(gate: Gate): Promise<void> {
    this.#reached.get(gate)?.resolve(undefined);
    await this.#gates.get(gate)?.promise;
  }

  #firstStep(): Parts {
    const [first = "", ...more] = reasoning;
    const finishReason = { unified: "tool-calls", raw: "tool-calls" } as const;
    return [
      { type: "stream-start", warnings: [] },
      { type: "reasoning-start", id: "r" },
      { type: "reasoning-delta", id: "r", delta: first },
      this.#after("reasoning", { type: "reasoning-delta", id: "r", delta: more.join("") }),
      { type: "reasoning-end", id: "r" },
      { type: "tool-input-start", id: "call", toolName: "weather" },
      { type: "tool-input-delta", id: "call", delta: '{"city":' },
      this.#after("tool input", { type: "tool-input-delta", id: "call", delta: '"Lisbon"}' }),
      { type: "tool-input-end", id: "call" },
      { type: "tool-call", toolCallId: "call", toolName: "weather", input: '{"city":"Lisbon"}' },
      { type: "finish", finishReason, usage },
    ];
  }

  #secondStep(): Parts {
    const [first = "", second = "", ...more] = this.words;
    return [
      { type: "stream-start", warnings: [] },
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta: first },
      { type: "text-delta", id: "t", delta: second },
      ...more.map((delta, nth) =>
        nth === 0
          ? this.#after("text", { type: "text-delta", id: "t", delta } as const)
          : ({ type: "text-delta", id: "t", delta } as const),
      ),
      { type: "text-end", id: "t" },
      { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage },
    ];
  }

  #after(gate: Gate, part: Part): () => Promise<Part> {
    return async () => {
      await this.#wait(gate);
      return part;
    };
  }
}

type Part =
  Awaited<ReturnType<MockLanguageModelV4["doStream"]>>["stream"] extends ReadableStream<
    infer Streamed
  >
    ? Streamed
    : never;
type Parts = (Part | (() => Promise<Part>))[];
