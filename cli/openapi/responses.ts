/** The responses that several methods have: everything but status 200. */
import type { Content, Response } from "./operation.ts";
import type { TransportStatus } from "./method.ts";
import { reference, type Schema } from "./schema.ts";

/**
 * The responses of a method besides 200, by status.
 *
 * @param inTransportMode the statuses that only its application errors in transport mode have
 */
export function responsesOf(
  inTransportMode: readonly TransportStatus[],
): Readonly<Record<string, Response>> {
  const statuses = [...always, ...inTransportMode].toSorted();
  return Object.fromEntries(
    statuses.map((status) => [status, { $ref: `#/components/responses/${status}` }]),
  );
}

/** 400 is also the status of a body that can't be read, and 500 and 503 are those of faults. */
const always = ["400", "401", "413", "500", "503"] as const;

const detail = {
  "X-Dormouse-Error-Detail": {
    description:
      "What is wrong, for people: one line of at most 200 ASCII characters, which quotes nothing of the request.",
    schema: { type: "string", maxLength: 200 },
  },
};

const retryAfter = {
  "Retry-After": {
    description: "After how many seconds the request should be repeated.",
    required: true,
    schema: { type: "integer", minimum: 1 },
  },
};

const plainText = { "text/plain": { schema: { type: "string" } } } as const satisfies Content;

function json(schema: Schema): Content {
  return { "application/json": { schema } };
}

function inMode(errors: string): Response {
  return {
    description: `In transport mode: ${errors}.`,
    headers: detail,
    content: json(reference("Error")),
  };
}

/** The responses, by their names among the components, which are their statuses. */
export const responseComponents: Readonly<Record<string, Response>> = {
  "400": {
    description:
      "The request can't be read, and nothing was done: the text `Bad Request`. In transport mode also error 106, 107 or 108.",
    headers: detail,
    // JSON first: generators take the first one, and their clients send nothing that can't be read.
    content: { ...json(reference("Error")), ...plainText },
  },
  "401": { description: "There is no API key, or a wrong one. The body is empty." },
  "403": inMode("error 103"),
  "404": inMode("error 102"),
  "413": { description: "The body is too large.", content: plainText },
  "416": inMode("error 112"),
  "429": inMode("error 111"),
  "500": {
    description:
      "A fault of the server; the outcome may be unknown. In transport mode also error 100.",
    content: { ...plainText, ...json(reference("Error")) },
  },
  "503": {
    description:
      "All channels of the request were overloaded (error 111) or didn't answer in time (error 100), or the server takes no " +
      "requests: it lacks a setting or file descriptors, and the body is a text.",
    headers: { ...retryAfter, ...detail },
    content: {
      ...plainText,
      ...json({
        oneOf: [
          reference("ErrorAnswer"),
          reference("Error"),
          reference("BroadcastAnswer"),
          reference("BatchAnswer"),
          reference("LegacyReply"),
        ],
      }),
    },
  },
};
