/** The two forms of requests that hold several commands: `/api/batch` and the legacy form `/api` (docs/protocol.md 6.1). */
import { isCommandName, operationNames } from "../../src/api/operations.ts";
import { batchShape } from "../../src/api/batch.ts";
import { lineShape } from "../../src/api/legacy.ts";
import { limits } from "../../src/limits.ts";
import type { MethodNotes } from "./method.ts";
import { type Operation, schemaName } from "./operation.ts";
import { requestOf } from "./request.ts";
import { responsesOf } from "./responses.ts";
import { count, listOf, object, reference, type Schema } from "./schema.ts";

const bound = `At most ${limits.requestCommandsMax} commands, and ${limits.requestChannelsMax} different channels.`;

/** `POST /api/batch`. */
export const batchOperation: Operation = {
  operationId: "batch",
  tags: ["batches"],
  summary: "Several commands in one request",
  description:
    "Carries out several commands. Those for one channel are carried out in their order; channels don't wait for each " +
    `other. A command that can't be read refuses the whole batch. ${bound}`,
  parameters: [{ $ref: "#/components/parameters/ErrorMode" }],
  requestBody: {
    required: true,
    content: {
      "application/json": {
        schema: reference("BatchRequest"),
        example: {
          commands: [
            { publish: { channel: "news", data: { text: "hello" } } },
            { presence_stats: { channel: "news" } },
          ],
        },
      },
    },
  },
  responses: {
    "200": {
      description: "The replies to the commands, or why none of them was carried out.",
      content: {
        "application/json": {
          schema: { oneOf: [reference("BatchAnswer"), reference("ErrorAnswer")] },
          example: {
            replies: [
              { publish: { offset: 3, epoch: "AbCdEfGh" } },
              { error: { code: 108, message: "not available" } },
            ],
          },
        },
      },
    },
    ...responsesOf([]),
  },
};

/** `POST /api`. */
export const legacyOperation: Operation = {
  operationId: "legacy",
  tags: ["batches"],
  summary: "Commands as lines of JSON",
  description:
    "Takes a command on each line, and answers with a line for each. The schemas are those of one line. Prefer the other " +
    `addresses. ${bound}`,
  requestBody: {
    required: true,
    content: {
      "application/json": {
        schema: reference("LegacyCommand"),
        example: { id: 1, method: "publish", params: { channel: "news", data: { text: "hello" } } },
      },
    },
  },
  responses: {
    "200": {
      description: "A line for each command, or why none of them was carried out.",
      content: {
        "application/json": {
          schema: { oneOf: [reference("LegacyReply"), reference("ErrorAnswer")] },
          example: { id: 1, result: { offset: 4, epoch: "AbCdEfGh" } },
        },
      },
    },
    ...responsesOf([]),
  },
};

/** The schemas of both forms. */
export function batchSchemas(methods: MethodNotes): Readonly<Record<string, Schema>> {
  const names = operationNames().filter(isCommandName);
  const results = names.map((method) => {
    const result = methods[method].result === undefined ? "Empty" : schemaName(method);
    return [method, reference(`${result}Result`)] as const;
  });
  return {
    BatchRequest: requestOf(batchShape, {
      commands: {
        description: "The commands.",
        items: reference("Command"),
        maxItems: limits.requestCommandsMax,
      },
      parallel: { description: "Without effect: channels never wait for each other." },
    }),
    Command: {
      type: "object",
      description: "One command: exactly one method, with its request.",
      minProperties: 1,
      properties: Object.fromEntries(
        names.map((method) => [method, reference(`${schemaName(method)}Request`)]),
      ),
    },
    BatchAnswer: object("What became of the commands.", {
      replies: listOf(reference("Reply"), "One for each command, in their order."),
    }),
    Reply: {
      type: "object",
      description: "What became of one command: its result by the method's name, or an error.",
      minProperties: 1,
      properties: { ...Object.fromEntries(results), error: reference("Error") },
    },
    LegacyCommand: requestOf(lineShape, {
      id: { description: "The reply has the same." },
      method: { description: "The name of a method.", enum: names, isRequired: true },
      params: { description: "The request of the method." },
    }),
    LegacyReply: object(
      "The reply to one line: a `result` or an `error`.",
      { id: count("The `id` of the command.") },
      {
        result: { type: "object", description: "The result of the method." },
        error: reference("Error"),
      },
    ),
  };
}
