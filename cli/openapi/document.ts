/** The description of the HTTP API in the format OpenAPI 3.1, which `cli/openapi/openapi.ts` writes. */
import type { OperationName } from "../../src/access/operations.ts";
import { operationNames } from "../../src/api/operations.ts";
import { limits } from "../../src/limits.ts";
import { version } from "../../src/version.ts";
import { batchOperation, batchSchemas, legacyOperation } from "./batches.ts";
import { channelMethods } from "./channel-methods.ts";
import { changeMethods } from "./change-methods.ts";
import { cursorMessages, cursorMethods } from "./cursor-methods.ts";
import { inspectionMessages } from "./inspection-messages.ts";
import { inspectionMethods } from "./inspection-methods.ts";
import { mapMethods } from "./map-methods.ts";
import { messages } from "./messages.ts";
import { type MethodNote, type MethodNotes, tags } from "./method.ts";
import { type OpenApiDocument, type Operation, schemaName } from "./operation.ts";
import { procedureMethods } from "./procedure-methods.ts";
import { questionMethods } from "./question-methods.ts";
import type * as v from "valibot";
import { requestOf, shapes } from "./request.ts";
import { responseComponents, responsesOf } from "./responses.ts";
import { reference, type Schema } from "./schema.ts";
import { userMethods } from "./user-methods.ts";

/** Each method of the API but `batch`; the compiler sees to it that none is missing, and no field of one. */
export const methodNotes: MethodNotes = {
  ...channelMethods,
  ...userMethods,
  ...questionMethods,
  ...inspectionMethods,
  ...mapMethods,
  ...changeMethods,
  ...cursorMethods,
  ...procedureMethods,
};

const introduction = `A backend publishes to channels, reads them, and controls connections by these requests, which are
those of Centrifugo's HTTP API. A request is a JSON object, or the same in MessagePack with the header
\`Content-Type: application/msgpack\`; the response is JSON.

Unknown fields of a request are ignored, and \`null\` means the same as an absent field. A field of a wrong type refuses the
whole request. A body has at most ${limits.requestBytesMax} bytes. A later release may add fields to answers.

An answer with status 200 has a \`result\` or an \`error\`. After error 111 nothing was done; after error 100 the outcome may be
unknown, so repeat a publish with the same \`idempotency_key\`.`;

/** Makes the document. It is the same for every deployment, and tells nothing of its configuration. */
export function openApiDocument(): OpenApiDocument {
  const operations = operationNames().map((method) => [
    `/api/${method}`,
    { post: operationOf(method, methodNotes[method]) },
  ]);
  const schemas = operationNames().flatMap((method) => schemasOf(method, methodNotes[method]));
  return {
    openapi: "3.1.1",
    info: {
      title: "Dormouse HTTP API",
      version: version.split(" ")[0] ?? version,
      description: introduction,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/", description: "The server that this document comes from." }],
    security: [{ key: [] }, { authorization: [] }, { query: [] }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths: {
      ...Object.fromEntries(operations),
      "/api/batch": { post: batchOperation },
      "/api": { post: legacyOperation },
    },
    components: {
      schemas: {
        ...Object.fromEntries(schemas),
        ...answerSchema("Empty"),
        ...batchSchemas(methodNotes),
        ...messages,
        ...inspectionMessages,
        ...cursorMessages,
      },
      responses: responseComponents,
      parameters: { ErrorMode: errorMode },
      securitySchemes,
    },
  };
}

function operationOf(method: string, note: MethodNote): Operation {
  const name = schemaName(method);
  const { example } = note;
  const answer = `${note.result === undefined ? "Empty" : name}Answer`;
  return {
    operationId: method,
    tags: [note.tag],
    summary: note.summary,
    description: note.description,
    parameters: [{ $ref: "#/components/parameters/ErrorMode" }],
    requestBody: {
      required: true,
      content: {
        "application/json": { schema: reference(`${name}Request`), example: example.request },
      },
    },
    responses: {
      "200": {
        description: "The command was carried out, or an application error.",
        content: {
          "application/json": {
            schema: { oneOf: [reference(answer), reference("ErrorAnswer")] },
            example: { result: example.result ?? {} },
          },
        },
      },
      ...responsesOf(note.statuses ?? ["403", "404", "429"]),
    },
  };
}

function schemasOf(
  method: OperationName,
  { fields, texts, condition, result }: Omit<MethodNote, "fields"> & { readonly fields: object },
) {
  const name = schemaName(method);
  const request = requestOf<() => v.GenericSchema>(shapes[method].shape, fields, texts);
  return Object.entries({
    [`${name}Request`]: { ...request, ...condition },
    ...(result !== undefined && { [`${name}Result`]: result, ...answerSchema(name) }),
  });
}

function answerSchema(name: string): Readonly<Record<string, Schema>> {
  return {
    [`${name}Answer`]: {
      type: "object",
      description: "The answer to a command that was carried out.",
      properties: { result: reference(`${name}Result`) },
      required: ["result"],
    },
  };
}

const errorMode = {
  name: "X-Centrifugo-Error-Mode",
  in: "header",
  description:
    "With `transport`, an application error becomes a status, and the body is the error alone. `http_api.error_mode` does the " +
    "same for all requests.",
  schema: { type: "string", enum: ["transport"] },
};

const securitySchemes = {
  key: { type: "apiKey", in: "header", name: "X-API-Key", description: "The API key." },
  authorization: {
    type: "apiKey",
    in: "header",
    name: "Authorization",
    description: "`apikey` and a space before the API key.",
  },
  query: {
    type: "apiKey",
    in: "query",
    name: "api_key",
    description: "The API key. Addresses may end up in logs, so prefer a header.",
  },
};
