import {
  fittingCommands,
  type MessageBody,
  messageOutcome,
  type MessageOutcome,
  type ParsedMessage,
  parseMessageBody,
  parseQueueMessage,
  retrySeconds,
} from "../../../src/features/queues/queue-message.ts";
import { type ApiCommand, entriesOf, methodOf, type Refused } from "../../../src/api/command.ts";
import type { ConsumerConfig } from "../../../src/features/queues/config.ts";
import { errorCodes } from "../../../src/protocol/codes.ts";
import { type Configured, configurationOf } from "../../platform/configuration.ts";
import type { Env } from "../../platform/env.ts";
import { placeObjects } from "../../platform/placed-env.ts";
import { noteRefusal } from "../../platform/refusal-log.ts";
import { callObjects } from "../../http/api.ts";
import { queueLimits } from "../../../src/features/queues/limits.ts";
import type { QueueTarget } from "../../../src/config/config.ts";
import type { JsonValue } from "../../../src/protocol/wire-value.ts";
import { inTime, parseCallFailure } from "../../platform/object-call.ts";
import { queueOf } from "../../platform/services.ts";

/**
 * Carries out a batch of a queue's messages (the rules M), as one request of the HTTP API: one call to each
 * channel's object, with its commands in the batch's order. Each message is then acknowledged, sent to the queue for
 * refused messages, or left to the queue, which delivers it again.
 */
export async function takeMessages(batch: MessageBatch, env: Env): Promise<void> {
  const configuration = configurationOf(env);
  if (configuration.outcome === "unconfigured")
    return leave(batch, "the Worker isn't configured, and answers GET /health with the reasons");
  const { config } = configuration;
  const consumer = config.consumers.find(({ queue }) => queue === batch.queue);
  if (consumer === undefined)
    return leave(batch, "none of the enabled consumers of the configuration names it");
  const nowMs = Date.now();
  const taken = batch.messages.map((message): Taken => {
    const body = parseMessageBody(message.body);
    const parsed = parseQueueMessage(body, message.id, consumer, config.channel, nowMs);
    return { message, body, parsed };
  });
  const placed = await placeObjects(env, config);
  if (placed.outcome !== "placed")
    return leave(
      batch,
      placed.outcome === "unknown"
        ? "the record of jurisdictions doesn't answer"
        : "jurisdictions differ from those on record; GET /health is answered with the reasons",
    );
  const outcomes = await carryOut(taken, placed.env, configuration);
  await Promise.all(
    taken.map((one, index) => {
      const outcome = outcomes[index] ?? notTried;
      note(one, outcome, consumer);
      return settle(one, outcome, batch.queue, consumer, env);
    }),
  );
}

/** A message of a batch, with what was read of it. */
interface Taken {
  readonly message: Message;
  readonly body: MessageBody | undefined;
  readonly parsed: ParsedMessage;
}

/** Has the queue deliver the whole batch again, and says why. Nothing of the messages reaches the log. */
function leave({ queue, messages }: MessageBatch, reason: string): void {
  console.error(`the messages of the queue ${queue} are left to it: ${reason}`);
  for (const message of messages) again(message);
}

function again(message: Message): void {
  message.retry({ delaySeconds: retrySeconds(message.attempts) });
}

/**
 * Calls the objects for as many of the first messages as one request may have.
 *
 * @returns what becomes of each message, in order
 */
async function carryOut(
  taken: readonly Taken[],
  env: Env,
  configured: Configured,
): Promise<readonly MessageOutcome[]> {
  const commands = taken.flatMap(({ parsed }) =>
    parsed.outcome === "command" ? [parsed.command] : [],
  );
  const fitting = commands.slice(0, fittingCommands(commands));
  const called = await callObjects(
    { env, config: configured.config },
    fitting.flatMap(entriesOf),
    "queue",
  );
  const answers = called.outcome === "called" ? called.collected.inOrder() : [];
  const outcomes = new Map<ApiCommand, MessageOutcome>();
  let begin = 0;
  for (const command of fitting) {
    const end = begin + entriesOf(command).length;
    outcomes.set(command, messageOutcome(command, answers.slice(begin, end)));
    begin = end;
  }
  return taken.map(({ parsed }) =>
    parsed.outcome === "refused" ? parsed : (outcomes.get(parsed.command) ?? notTried),
  );
}

const notTried: MessageOutcome = {
  outcome: "again",
  detail: "the batch has more commands than one request may have: lower max_batch_size",
};

/** Leaves a line in the log for a message that wasn't carried out (rule A13). */
function note({ parsed }: Taken, outcome: MessageOutcome, { name }: ConsumerConfig): void {
  const method = parsed.outcome === "command" ? methodOf(parsed.command) : "message";
  const refused = `queue ${method}`;
  switch (outcome.outcome) {
    case "done":
      return;
    case "again":
      return noteRefusal(
        { refused, rule: "M3", reason: `delivered again: ${outcome.detail}`, key: name },
        undefined,
      );
    case "refused": {
      const { error, detail: reason, channel } = outcome;
      const rule = error.code === errorCodes.permissionDenied.code ? "M1" : "M5";
      const named = channel === undefined ? {} : { channel };
      return noteRefusal(
        { refused, rule, reason, code: error.code, key: name, ...named },
        undefined,
      );
    }
  }
}

/** Acknowledges a message, or leaves it to the queue. */
async function settle(
  taken: Taken,
  outcome: MessageOutcome,
  queue: string,
  consumer: ConsumerConfig,
  env: Env,
): Promise<void> {
  const { message } = taken;
  switch (outcome.outcome) {
    case "done":
      return message.ack();
    case "again":
      return again(message);
    case "refused":
      // An acknowledged message is gone, so another queue has to have it before.
      if (await isSentOn(taken, outcome, queue, consumer, env)) message.ack();
      else again(message);
  }
}

/** Sends a refused message to the consumer's queue for them; false if it has none, or if that queue didn't take it. */
async function isSentOn(
  { message: { id, timestamp }, body }: Taken,
  { error: { code, message }, detail }: Refused,
  queue: string,
  { deadLetter }: ConsumerConfig,
  env: Env,
): Promise<boolean> {
  if (deadLetter === undefined || body === undefined) return false;
  return sendDeadLetter(env, deadLetter, {
    reason: detail,
    error: { code, message },
    message: body.value,
    queue,
    id,
    sent_at: timestamp.getTime(),
  });
}

/** A message that can't be carried out, with the reason, as it is sent to the queue `dead_letter` (rule M5). */
interface DeadLetter {
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
async function sendDeadLetter(
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
