import type { Config } from "../../src/config/config.ts";
import type { wranglerConfigOf } from "./wrangler-config.ts";

/** The queues in wrangler's configuration. */
type Queues = Pick<ReturnType<typeof wranglerConfigOf>, "queues">["queues"];

/**
 * Compares the consumers of the configuration with the queues of wrangler.toml, so that no message is lost or waits
 * without end (rules M1 and M5).
 *
 * @returns a sentence for each problem
 */
export function queueProblems(
  consumers: Config["consumers"],
  { consumers: consumed = [], producers = [] }: Queues,
): readonly string[] {
  const problems = consumers.flatMap(({ name, queue, deadLetter }) => {
    const own = consumed.find((one: ConsumedQueue) => one.queue === queue);
    if (own === undefined)
      return [
        `consumer ${name}: [[queues.consumers]] of wrangler.toml doesn't have queue = "${queue}"`,
      ];
    return [
      ...lossProblems(name, own),
      ...(deadLetter === undefined
        ? []
        : deadLetterProblems(name, deadLetter.binding, producers, consumed)),
    ];
  });
  const names = new Set(consumers.map(({ queue }) => queue));
  for (const { queue } of consumed)
    if (!names.has(queue))
      problems.push(`[[queues.consumers]] has queue = "${queue}", which no enabled consumer names`);
  return problems;
}

function lossProblems(name: string, { queue, dead_letter_queue: lost }: ConsumedQueue) {
  if (lost === undefined)
    return [
      `consumer ${name}: queue = "${queue}" of [[queues.consumers]] has no dead_letter_queue, without which Cloudflare deletes a message after max_retries`,
    ];
  return lost === queue
    ? [`consumer ${name}: queue = "${queue}" of [[queues.consumers]] is its own dead_letter_queue`]
    : [];
}

function deadLetterProblems(
  name: string,
  binding: string,
  producers: readonly ProducedQueue[],
  consumed: readonly ConsumedQueue[],
): readonly string[] {
  // Whether the binding is there is checked for all targets together.
  const bound = producers.find((one) => one.binding === binding);
  return consumed.some(({ queue }) => queue === bound?.queue)
    ? [
        `consumer ${name}: the Worker itself is the consumer of the queue of dead_letter, ${binding}`,
      ]
    : [];
}

/** An entry of `[[queues.consumers]]`. */
interface ConsumedQueue {
  readonly queue: string;
  readonly dead_letter_queue?: string | undefined;
}

/** An entry of `[[queues.producers]]`. */
interface ProducedQueue {
  readonly binding: string;
  readonly queue?: string | undefined;
}
