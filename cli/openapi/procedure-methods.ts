/** The method that calls a procedure of a channel's code (docs/procedures.md). */
import { procedureLimits } from "../../src/features/procedures/limits.ts";
import { publicationNotes } from "./channel-methods.ts";
import type { MethodNotes } from "./method.ts";
import { anything, object } from "./schema.ts";
import { channelNote } from "./shared-notes.ts";

/** By name. */
export const procedureMethods = {
  call: {
    tag: "procedures",
    summary: "Call a procedure of a channel",
    description:
      "Calls a procedure of the code that the channel's namespace has. Its changes, publications and timers are durable before " +
      "the answer, or nothing has happened. A code of an error from 1000 on is the procedure's own, and 104 means that there is " +
      "no such procedure. Dormouse's own.",
    fields: {
      channel: channelNote,
      procedure: {
        description: "The name of the procedure.",
        minLength: 1,
        isRequired: true,
      },
      idempotency_key: {
        ...publicationNotes.idempotency_key,
        description:
          "A second call with the same key within 5 minutes calls nothing, and has the first result. Keys belong to a channel.",
      },
    },
    texts: {
      args: {
        description: `The arguments of the procedure: any JSON value, of at most ${procedureLimits.argsBytesMax} bytes.`,
      },
    },
    result: object("The result of the procedure.", {
      data: anything("Any JSON value; null if the procedure returned nothing."),
    }),
    example: {
      request: { channel: "auction:7", procedure: "bid", args: { amount: 5 } },
      result: { data: { isBest: true } },
    },
  },
} as const satisfies Partial<MethodNotes>;
