import type { ConsumerConfig } from "../../src/config/config.ts";
import { limits } from "../../src/limits.ts";
import type { JsonValue } from "../../src/protocol/wire-value.ts";
import { inTime, parseCallFailure } from "./object-call.ts";

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
 * Sends a refused message to the queue of a binding, once.
 *
 * @param env has the binding
 * @returns whether the queue has taken it; if not, or if that isn't known, the message must not be given up
 */
export async function sendDeadLetter(
  env: object,
  binding: string,
  letter: DeadLetter,
): Promise<boolean> {
  try {
    const sent = queueOf(env, binding)?.send(letter, { contentType: "json" });
    if (sent === undefined) return false;
    return await inTime(
      sent.then(() => true),
      limits.deadLetterAnswerMs,
      false,
    );
  } catch (error) {
    console.error(`a dead letter was not taken: ${parseCallFailure(error).summary}`);
    return false;
  }
}

/**
 * The problems of bindings of queues that consumers need for refused messages and that aren't there (rule A8).
 *
 * @returns a sentence for each; none if the Worker has all of them
 */
export function missingDeadLetters(
  consumers: readonly ConsumerConfig[],
  env: object,
): readonly string[] {
  return consumers.flatMap(({ name, deadLetter }) =>
    deadLetter === undefined || queueOf(env, deadLetter) !== undefined
      ? []
      : [
          `binding ${deadLetter} to the queue that consumer ${name} names in dead_letter is missing: add it to [[queues.producers]] in wrangler.toml`,
        ],
  );
}

/** The operator chooses the names of bindings, so the type of the environment has none. */
function queueOf(env: object, binding: string): Producer | undefined {
  const queue: unknown = Reflect.get(env, binding);
  return isProducer(queue) ? queue : undefined;
}

/** The part of a queue's binding that is used. */
interface Producer {
  send(body: DeadLetter, options: { readonly contentType: "json" }): Promise<unknown>;
}

function isProducer(value: unknown): value is Producer {
  if (typeof value !== "object" || value === null) return false;
  return typeof Reflect.get(value, "send") === "function";
}
