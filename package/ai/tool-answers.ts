import type { Chunk } from "./chunks.ts";

/** A page's answer to a tool call: its result, its error, or whether it may be made. */
export type ToolAnswer = Extract<
  Chunk,
  { readonly type: "tool-output-available" | "tool-output-error" | "tool-approval-response" }
>;

/** The page's answers to the tool calls of a message. @param parts of the message as the page has it */
export function parseToolAnswers(parts: unknown): readonly ToolAnswer[] {
  const answers: ToolAnswer[] = [];
  for (const part of Array.isArray(parts) ? parts : []) {
    const { toolCallId, state, output, errorText, approval } = Object(part);
    const { id: approvalId, approved, reason } = Object(approval);
    if (typeof approvalId === "string" && typeof approved === "boolean")
      answers.push({
        type: "tool-approval-response",
        approvalId,
        approved,
        ...(typeof reason === "string" && { reason }),
      });
    if (typeof toolCallId !== "string") continue;
    if (state === "output-available")
      answers.push({ type: "tool-output-available", toolCallId, output });
    else if (state === "output-error")
      answers.push({ type: "tool-output-error", toolCallId, errorText: String(errorText) });
  }
  return answers;
}

/** The results of the page's tools, and the approvals, that an answer waits for. */
export class Waiting {
  readonly #calls = new Set<string>();
  /** The calls that wait for an approval, by its ID. */
  readonly #approvals = new Map<string, string>();
  /** Whether the last step has called a tool. */
  #hasCalled = false;

  constructor(chunks: readonly Chunk[]) {
    for (const chunk of chunks) this.note(chunk);
  }

  /** Whether the last step of the answer was a tool's, and all of its calls are answered: the model is to go on. */
  get isOver(): boolean {
    return this.#hasCalled && this.#calls.size === 0 && this.#approvals.size === 0;
  }

  has(answer: ToolAnswer): boolean {
    return answer.type === "tool-approval-response"
      ? this.#approvals.has(answer.approvalId)
      : this.#calls.has(answer.toolCallId);
  }

  note(chunk: Chunk): void {
    if (chunk.type === "start-step") this.#hasCalled = false;
    else if (chunk.type === "tool-input-available") {
      if (chunk.providerExecuted === true) return;
      this.#hasCalled = true;
      this.#calls.add(chunk.toolCallId);
    } else if (chunk.type === "tool-approval-request") {
      this.#calls.delete(chunk.toolCallId);
      this.#approvals.set(chunk.approvalId, chunk.toolCallId);
    } else if (chunk.type === "tool-approval-response") {
      // The producer runs it: a page can't say what came of it.
      this.#approvals.delete(chunk.approvalId);
    } else if ("toolCallId" in chunk && isResult(chunk)) {
      this.#calls.delete(chunk.toolCallId);
      for (const [approval, call] of this.#approvals)
        if (call === chunk.toolCallId) this.#approvals.delete(approval);
    }
  }
}

/** Whether a chunk ends a tool call. */
export function isResult(chunk: Chunk): boolean {
  return (
    (chunk.type === "tool-output-available" && chunk.preliminary !== true) ||
    chunk.type === "tool-output-error" ||
    chunk.type === "tool-output-denied"
  );
}

/**
 * The chunks of an answer that goes on with a page's answers. A page may answer only the calls that wait for it.
 *
 * @returns undefined if it doesn't go on
 */
export function withToolAnswers(
  chunks: readonly Chunk[],
  answers: readonly ToolAnswer[],
): readonly Chunk[] | undefined {
  const waiting = new Waiting(chunks);
  const wasOver = waiting.isOver;
  const all = [...chunks];
  for (const answer of answers)
    if (waiting.has(answer)) {
      waiting.note(answer);
      all.push(answer);
    }
  return all.length > chunks.length || wasOver ? all : undefined;
}
