/** The methods that change publications (docs/protocol.md 6.2). */
import { changeLimits } from "../../src/features/changes/limits.ts";
import { hasPayload, publicationNotes, publicationTexts } from "./channel-methods.ts";
import type { MethodNotes } from "./method.ts";
import type { FieldNote } from "./request.ts";
import { count, flag, large, object, type Schema, text } from "./schema.ts";
import { channelNote } from "./shared-notes.ts";

const needs =
  "It needs `allow_change` of the channel's namespace; without it the answer is error 108. Dormouse's own.";

const { b64data, tags, delta, idempotency_key } = publicationNotes;

const changedFields: Record<
  "channel" | "offset" | "epoch" | "if_version" | "idempotency_key",
  FieldNote
> = {
  channel: channelNote,
  offset: {
    description: "The offset of the publication that is changed.",
    minimum: 1,
    isRequired: true,
  },
  epoch: { description: "The epoch of the offset; empty for the one of now." },
  if_version: {
    description:
      "Change only the publication that has this version: 1 if it was never changed, and one more after each change.",
  },
  idempotency_key,
};

const changed = object(
  "The publication that is the change; or why nothing was changed.",
  {},
  {
    offset: large("The offset of the change; the newest offset if nothing was changed."),
    epoch: text("The epoch of the stream."),
    version: large("The version that the publication has now; absent if there is none."),
    suppressed: flag("Nothing was changed."),
    suppress_reason: text(
      "Why nothing was: `not_found` if the publication isn't kept any more, `deleted` if it is deleted already, " +
        "`version_mismatch` because of `if_version`, `is_change` if it is a change itself, or `idempotency`.",
    ),
  },
);

const namesErased: Schema = {
  if: { required: ["offset"] },
  else: { required: ["user"], properties: { user: { minLength: 1 } } },
};

/** By name. */
export const changeMethods = {
  update_publication: {
    tag: "publications",
    summary: "Edit a publication",
    description: `Gives a publication other data, and publishes that as a change. From then on its old data is nowhere in the history. ${needs}`,
    fields: {
      ...changedFields,
      b64data,
      tags: { ...tags, description: `${tags.description} Absent: the publication keeps its tags.` },
      delta,
    },
    texts: { data: publicationTexts.data },
    condition: hasPayload,
    result: changed,
    example: {
      request: { channel: "room:7", offset: 1, data: { text: "hello" } },
      result: { offset: 2, epoch: "AbCdEfGh", version: 2 },
    },
  },
  delete_publication: {
    tag: "publications",
    summary: "Delete a publication",
    description: `Takes the data from a publication, and publishes that as a change. From then on its data is nowhere in the history. ${needs}`,
    fields: {
      ...changedFields,
      reason: {
        description: "Why, which everybody gets.",
        maxLength: changeLimits.reasonBytesMax,
      },
    },
    result: changed,
    example: {
      request: { channel: "room:7", offset: 1, reason: "spam" },
      result: { offset: 3, epoch: "AbCdEfGh", version: 3 },
    },
  },
  erase: {
    tag: "publications",
    summary: "Erase a publication, or those of a user",
    description:
      "Overwrites the data, the tags and the info of publications, whether edited or deleted before or not, and publishes " +
      `which of them are holes now. The answer comes when the channel's object and its gateways hold nothing of them. ${needs}`,
    fields: {
      channel: channelNote,
      offset: {
        description:
          "The offset of the publication, or of a change of it. `offset` or `user` is required.",
        minimum: 1,
      },
      epoch: { description: "The epoch of the offset; empty for the one of now." },
      user: {
        description:
          "The user whose clients have published what is erased. With `offset`: erase it only if it is of this user.",
      },
    },
    condition: namesErased,
    result: object(
      "The publications that were erased.",
      {},
      {
        offset: large("The newest offset."),
        epoch: text("The epoch of the stream."),
        erased: count(
          "How many publications this call has erased; 0 if they were erased before, or aren't kept.",
        ),
      },
    ),
    example: {
      request: { channel: "room:7", offset: 1 },
      result: { offset: 4, epoch: "AbCdEfGh", erased: 1 },
    },
  },
} as const satisfies Partial<MethodNotes>;
