/** Notes on the fields that the requests of several methods share. */
import { limits } from "../../src/limits.ts";
import type { FieldNote } from "./request.ts";

/** The channel that a method acts on. */
export const channelNote: FieldNote = {
  description: "The channel's name.",
  minLength: 1,
  isRequired: true,
};

/** The fields that name connections: of a user, or one of them. */
export const targetNotes = {
  user: {
    description:
      "The user whose connections are meant, on all transports and in all objects. Without it, `client` or `session` must " +
      "name one anonymous connection.",
    maxLength: limits.userCharactersMax,
  },
  client: { description: "The ID of a connection: no other one is meant." },
  session: { description: "The session of a connection: no other one is meant." },
} as const satisfies Record<string, FieldNote>;

/** A user who must be named. */
export const userNote: FieldNote = {
  description: "The user's ID.",
  minLength: 1,
  maxLength: limits.userCharactersMax,
  isRequired: true,
};

/** Several users. */
export const usersNote: FieldNote = {
  description: "The IDs of the users.",
  minItems: 1,
  maxItems: limits.statusUsersMax,
  items: { type: "string", minLength: 1, maxLength: limits.userCharactersMax },
  isRequired: true,
};

/** The end of an order that may have none. */
export const endNote: FieldNote = {
  description: "Until when, in seconds since 1970; 0, or none, for ever.",
};

/** A position in a channel's stream. */
export const positionNotes = {
  offset: { description: "The number of a publication." },
  epoch: { description: "The epoch of the stream; empty for whichever it is." },
} as const satisfies Record<string, FieldNote>;

/** Where a page begins, and how long it is. */
export const pageNotes = {
  cursor: {
    description: "The `cursor` of the page before; absent for the first page. Dormouse's own.",
  },
  limit: {
    description: `The most entries of the page; 0, or none, for ${limits.pageSizeMax}. Dormouse's own.`,
    maximum: limits.pageSizeMax,
  },
} as const satisfies Record<string, FieldNote>;

/** A JSON value for clients that is passed on as it was written, and its form in base64, which wins. */
export function rawNotes(name: "info" | "data", meaning: string) {
  const bytes = `At most ${limits.sessionClaimsBytesMax} bytes.`;
  return {
    plain: { description: `${meaning} ${bytes}` },
    encoded: {
      description: `The same in base64 of JSON, which wins over \`${name}\`.`,
      contentEncoding: "base64",
    },
  } as const;
}
