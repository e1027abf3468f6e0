import type { OperationName } from "../../src/access/operations.ts";
import type { FieldNote, FieldNotes, ShapeOf } from "./request.ts";
import type { Schema } from "./schema.ts";

/** The description of one method of the API. */
export interface MethodNote<Name extends OperationName = OperationName> {
  readonly tag: Tag;
  /** In a few words, without a full stop. */
  readonly summary: string;
  /** Paragraphs of plain text, in which backticks stand around names. */
  readonly description: string;
  /** On the fields of the request's shape, in the order in which they are shown. */
  readonly fields: FieldNotes<ShapeOf<Name>>;
  /** On the fields that the parser reads from the text of the request, because JSON.parse would change them. */
  readonly texts?: Readonly<Record<string, FieldNote>>;
  /** Which of the fields are required together. */
  readonly condition?: Schema;
  /** Absent for methods whose result is always `{}`. */
  readonly result?: Schema;
  readonly example: {
    readonly request: object;
    readonly result?: object;
  };
  /** The statuses of its application errors in transport mode, besides 400 and 500; by default 403, 404 and 429. */
  readonly statuses?: readonly TransportStatus[];
}

/** The descriptions of all methods of the API but `batch`. */
export type MethodNotes = { readonly [Name in OperationName]: MethodNote<Name> };

/** A status that only application errors in transport mode have. */
export type TransportStatus = "403" | "404" | "416" | "429";

/** The groups of methods. */
export type Tag = keyof typeof tags;

/** The groups of methods with what they are about, in the order in which they are shown. */
export const tags = {
  publications: "Publishing to channels, and what channels keep.",
  channels: "Who is subscribed to channels, and which channels and gateways there are.",
  connections: "The connections of users: where they are, ending them, and subscribing them.",
  users: "Keeping users out, and when users were last active and online.",
  tokens: "Taking tokens back.",
  maps: "Maps, which keep the newest value of each key, and shared polls.",
  cursors: "How far users have read.",
  procedures: "The code that channels have.",
  inspection:
    "What became of a publication, how channels and objects are, and the events that they keep.",
  batches: "Many commands in one request.",
} as const;
