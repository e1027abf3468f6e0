/** The methods of maps, and `shared_poll_publish` (docs/protocol.md 6.2). */
import { limits } from "../../src/limits.ts";
import { hasPayload, publicationNotes, publicationTexts } from "./channel-methods.ts";
import { channelNote, positionNotes } from "./shared-notes.ts";
import type { MethodNotes } from "./method.ts";
import type { FieldNote } from "./request.ts";
import { count, flag, large, listOf, object, reference, type Schema, text } from "./schema.ts";

const { b64data, tags, idempotency_key, delta, version_epoch } = publicationNotes;
const { data, version } = publicationTexts;

const keyNote: FieldNote = {
  description: "The key.",
  minLength: 1,
  maxLength: limits.mapKeyBytesMax,
  isRequired: true,
};

const ifOffset: FieldNote = {
  description:
    "Make the change only if this is the offset of the key's last change; 0: only if the map hasn't the key. Dormouse's own.",
};

const limitNote: FieldNote = {
  description: "The most entries; 0, or none, for the position alone, and -1 for all.",
  minimum: -1,
};

const top = {
  offset: large("The number of the newest change of the map; 0 if there is none."),
  epoch: text("The epoch of the map."),
};

/** An append without a text only asks for the length, or ends the text. */
const appendsSomething: Schema = {
  if: { required: ["text"] },
  else: { if: { required: ["at"] }, else: { required: ["final"] } },
};

const changed = object(
  "Where the change is; or the position of the map, if there is no change.",
  {
    offset: large("The number of the change, or of the newest one if the change wasn't made."),
    epoch: top.epoch,
  },
  {
    suppressed: flag("The change was not made."),
    suppress_reason: text(
      "Why it wasn't: `idempotency`, `version`, `key_exists`, `key_not_found` or `position_mismatch`.",
    ),
    current_offset: large(
      "With `position_mismatch`: the offset of the key's last change; 0 if the map hasn't the key. Dormouse's own.",
    ),
  },
);

/** By name. */
export const mapMethods = {
  map_publish: {
    tag: "maps",
    summary: "Set the value of a key",
    description: "Sets the value of a key of a map, and tells the subscribers.",
    fields: {
      channel: channelNote,
      key: keyNote,
      b64data,
      b64stream_data: {
        description: "The same in base64, which wins over `stream_data`.",
        contentEncoding: "base64",
      },
      tags,
      key_mode: {
        description:
          "`if_new`: only if the map hasn't the key. `if_exists`: only if it has. Otherwise in any case.",
        enum: ["", "if_new", "if_exists"],
      },
      score: { description: "A number that is kept with the value." },
      if_offset: ifOffset,
      idempotency_key,
      delta,
      version_epoch,
    },
    texts: {
      data,
      stream_data: {
        description:
          "What subscribers get in place of `data`, which those get who synchronise later. Any JSON value, of at most " +
          `${limits.publicationBytesMax} bytes.`,
      },
      version: {
        ...version,
        description:
          "Publish only if this is greater than the version of the key's value of the same `version_epoch`.",
      },
    },
    condition: hasPayload,
    result: changed,
    example: {
      request: { channel: "scores:today", key: "ada", data: { points: 3 } },
      result: { offset: 1, epoch: "AbCdEfGh" },
    },
  },
  map_remove: {
    tag: "maps",
    summary: "Remove a key",
    description: "Removes a key of a map, and tells the subscribers.",
    fields: {
      channel: channelNote,
      key: keyNote,
      if_offset: ifOffset,
      idempotency_key,
    },
    result: changed,
    example: {
      request: { channel: "scores:today", key: "ada" },
      result: { offset: 2, epoch: "AbCdEfGh" },
    },
  },
  map_append: {
    tag: "maps",
    summary: "Append text to the value of a key",
    description:
      "Appends text to the value of a key of a map, which is a JSON string or a string in an object. Subscribers with deltas " +
      "get the text alone. With `at` a request can be repeated, and goes on where a crash has cut it short.",
    fields: {
      channel: channelNote,
      key: keyNote,
      text: { description: "The text. It is required without `at` and without `final`." },
      at: {
        description:
          "The length that the text has before, in UTF-16 units, as JavaScript counts. If it has another one, nothing is " +
          "appended, and the answer has the true length. A text that is there already at this place is a success.",
      },
      field: {
        description: "The member of the value that grows, if the value is an object.",
        maxLength: limits.mapKeyBytesMax,
      },
      final: { description: "This is the end of the text: nothing can be appended after it." },
      idempotency_key: {
        ...idempotency_key,
        description:
          "Append once, however often this is repeated within 5 minutes. Such an append ends its window; `at` costs less.",
      },
    },
    result: object(
      "How long the text is.",
      { length: count("The length of the text, in UTF-16 units.") },
      {
        offset: large(
          "The number of the newest change of the map; absent if nothing was appended.",
        ),
        epoch: text("The epoch of the map; absent if nothing was appended."),
        suppressed: flag("Nothing was appended."),
        suppress_reason: text(
          "Why nothing was: `idempotency`, `length_mismatch`, `final`, or `not_text` if the value isn't a text that can grow.",
        ),
      },
    ),
    condition: appendsSomething,
    example: {
      request: { channel: "scores:today", key: "story", text: "Once", at: 0 },
      result: { length: 4, offset: 1, epoch: "AbCdEfGh" },
    },
  },
  map_read_state: {
    tag: "maps",
    summary: "Read the keys of a map",
    description: "Reads the values of a map in the order of their keys, in pages.",
    fields: {
      channel: channelNote,
      cursor: {
        description: "The `cursor` of the page before; absent for the first page.",
        maxLength: limits.mapCursorBytesMax,
      },
      limit: limitNote,
      key: { description: "Read this key alone.", maxLength: limits.mapKeyBytesMax },
      asc: "not shown",
      revision_offset: {
        description:
          "The `offset` of the first page: later pages leave out what was changed since.",
      },
      revision_epoch: { description: "The `epoch` of the first page, likewise." },
    },
    result: object(
      "The entries, and the position of the map.",
      {
        entries: listOf(reference("MapEntry"), "The entries, in the order of their keys."),
        ...top,
      },
      { cursor: text("For the next page; absent if this is the last one.") },
    ),
    example: {
      request: { channel: "scores:today", limit: 10 },
      result: {
        entries: [{ key: "ada", data: { points: 3 }, offset: 1 }],
        offset: 1,
        epoch: "AbCdEfGh",
      },
    },
    statuses: ["403", "404", "416", "429"],
  },
  map_read_stream: {
    tag: "maps",
    summary: "Read the changes of a map",
    description: "Reads the newest changes of a map that isn't ephemeral, and its position.",
    fields: {
      channel: channelNote,
      since_offset: {
        description:
          "Read what comes after this offset, or with `reverse` before it. A position of another epoch is error 112.",
      },
      since_epoch: positionNotes.epoch,
      limit: limitNote,
      reverse: { description: "The newest change comes first." },
    },
    result: object("The changes, and the position of the map.", {
      entries: listOf(reference("MapEntry"), "The changes, in their order."),
      ...top,
    }),
    example: {
      request: { channel: "scores:today", limit: -1 },
      result: { entries: [{ key: "ada", removed: true, offset: 2 }], offset: 2, epoch: "AbCdEfGh" },
    },
    statuses: ["403", "404", "416", "429"],
  },
  map_stats: {
    tag: "maps",
    summary: "How many keys a map has",
    description: "Counts the keys of a map.",
    fields: { channel: channelNote },
    result: object("The number of keys.", { num_keys: count("The keys.") }),
    example: { request: { channel: "scores:today" }, result: { num_keys: 1 } },
  },
  map_clear: {
    tag: "maps",
    summary: "Remove all keys of a map",
    description: "Removes all keys of a map and its stream. Its subscribers synchronise again.",
    fields: { channel: channelNote },
    example: { request: { channel: "scores:today" } },
  },
  shared_poll_publish: {
    tag: "maps",
    summary: "Publish the value of a key of a shared poll",
    description:
      "Tells a value to those who track the key, before the backend is asked for it. The namespace has " +
      "`shared_poll.publish_enabled`.",
    fields: {
      channel: channelNote,
      key: keyNote,
      b64data,
      epoch: {
        description:
          "The numbering that `version` belongs to. With another one all clients begin anew.",
        maxLength: limits.versionEpochBytesMax,
      },
    },
    texts: {
      data,
      version: {
        ...version,
        minimum: 1,
        isRequired: true,
        description: "Values with no greater version than the one that is known are dropped.",
      },
    },
    condition: hasPayload,
    example: { request: { channel: "votes:poll", key: "ada", data: { votes: 3 }, version: 7 } },
  },
} as const satisfies Partial<MethodNotes>;
