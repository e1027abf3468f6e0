import { queueLimits } from "../../../src/features/queues/limits.ts";
import type { QueueTarget } from "../../../src/config/config.ts";
import type { JsonValue } from "../../../src/protocol/wire-value.ts";
import { inTime, parseCallFailure } from "../../platform/object-call.ts";
import { queueOf } from "../../platform/services.ts";

/** A message that can't be carried out, with the reason, as it is sent to the queue `dead_letter` (rule M5). */
export interface DeadLetter {
  /** The reason in words, which quote nothing of the message. */
  readonly reason: string;
  readonly error: { readonly code: number; readonly message: string };
  /** The message as it was sent: a text, or a value. */
  readonly message: JsonValue;
  /** The name of the queue from which it came, its ID there, and when it was sent to it, in ms since 1970. */
  readonly queue: string;
  readonly id: string;
  readonly sent_at: number;
}

/**
 * Sends a refused message to a queue, once.
 *
 * @param env has the binding that the target names
 * @returns whether the queue has taken it; if not, or if that isn't known, the message must not be given up
 */
export async function sendDeadLetter(
  env: object,
  { binding }: QueueTarget,
  letter: DeadLetter,
): Promise<boolean> {
  try {
    const sent = queueOf(env, binding)?.send(letter, { contentType: "json" });
    if (sent === undefined) return false;
    return await inTime(
      sent.then(() => true),
      queueLimits.deadLetterAnswerMs,
      false,
    );
  } catch (error) {
    console.error(`a dead letter was not taken: ${parseCallFailure(error).summary}`);
    return false;
  }
}
