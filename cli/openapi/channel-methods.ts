/** The methods that act on one channel each, and `broadcast` (docs/protocol.md 6.2). */
import { limits } from "../../src/limits.ts";
import { channelNote, positionNotes } from "./shared-notes.ts";
import type { MethodNotes } from "./method.ts";
import type { FieldNote } from "./request.ts";
import {
  count,
  flag,
  large,
  listOf,
  mapOf,
  object,
  reference,
  type Schema,
  text,
} from "./schema.ts";

/** The fields of a publication that its shape has. */
export const publicationNotes = {
  b64data: {
    description: "The payload in base64, for bytes that aren't JSON; it wins over `data`.",
    contentEncoding: "base64",
  },
  tags: {
    description: `The tags of the publication. At most ${limits.tagsBytesMax} bytes of JSON.`,
    additionalProperties: { type: "string" },
  },
  skip_history: { description: "Publish to subscribers only: the channel doesn't keep it." },
  idempotency_key: {
    description:
      "A second publication with the same key within 5 minutes publishes nothing, and returns the first result. Keys " +
      "belong to a channel.",
    maxLength: limits.idempotencyKeyBytesMax,
  },
  delta: { description: "Send the publication as a delta to subscribers that take deltas." },
  version_epoch: {
    description: "The numbering that `version` belongs to.",
    maxLength: limits.versionEpochBytesMax,
  },
} as const satisfies Record<string, FieldNote>;

/** The fields of a publication that are read from the text of the request. */
export const publicationTexts = {
  data: {
    description:
      "The payload: any JSON value, `null` included, which is published as it was written. Either `data` or `b64data` is " +
      `required. At most ${limits.publicationBytesMax} bytes.`,
  },
  version: {
    type: "integer",
    format: "uint64",
    minimum: 0,
    description:
      "Publish only if this is greater than the version of the channel's newest publication of the same `version_epoch`. " +
      "It needs history.",
  },
} as const satisfies Record<string, FieldNote>;

/** Without `b64data`, `data` is required. Generators of clients don't look at this. */
export const hasPayload: Schema = {
  if: { required: ["b64data"] },
  else: { required: ["data"] },
};

const position = {
  offset: large("The number of the publication; absent without history."),
  epoch: text("The epoch of the stream; absent without history."),
};

const incomplete = flag("An object didn't answer in time, so something is missing.");

/** By name. */
export const channelMethods = {
  publish: {
    tag: "publications",
    summary: "Publish to a channel",
    description:
      "Publishes one publication. The answer comes when it is durable, if the channel has history.",
    fields: {
      channel: channelNote,
      ...publicationNotes,
      if_offset: {
        description:
          "Publish only if this is the offset of the channel's newest publication; 0: only the first one. It needs " +
          "history, and excludes `skip_history`. Dormouse's own.",
      },
    },
    texts: publicationTexts,
    condition: hasPayload,
    result: object(
      "Where the publication is; or the newest one, if `if_offset` wasn't its offset.",
      {},
      {
        ...position,
        suppressed: flag("Nothing was published, because of `if_offset`. Dormouse's own."),
        suppress_reason: text("`position_mismatch`. Dormouse's own."),
      },
    ),
    example: {
      request: { channel: "news", data: { text: "hello" } },
      result: { offset: 1, epoch: "AbCdEfGh" },
    },
  },
  broadcast: {
    tag: "publications",
    summary: "Publish to many channels",
    description:
      "Publishes the same to each of the channels. A fault of the publication refuses the whole request, and a fault of " +
      "one channel only its response.",
    fields: {
      channels: {
        description: "The names of the channels.",
        items: { type: "string", minLength: 1 },
        minItems: 1,
        maxItems: limits.requestChannelsMax,
        isRequired: true,
      },
      ...publicationNotes,
    },
    texts: publicationTexts,
    condition: hasPayload,
    result: object("What happened in each channel.", {
      responses: listOf(
        { oneOf: [reference("PublishAnswer"), reference("ErrorAnswer")] },
        "One for each channel, in the order of the request.",
      ),
    }),
    example: {
      request: { channels: ["news", "sport"], data: { text: "hello" } },
      result: {
        responses: [
          { result: { offset: 2, epoch: "AbCdEfGh" } },
          { error: { code: 102, message: "unknown channel" } },
        ],
      },
    },
    statuses: ["403"],
  },
  history: {
    tag: "publications",
    summary: "Read the history of a channel",
    description: "Reads publications that the channel keeps, and the position of its stream.",
    fields: {
      channel: channelNote,
      limit: {
        description: "The most publications; 0, or none, for the position alone, and -1 for all.",
        minimum: -1,
      },
      since: {
        description:
          "Read what comes after this position, or with `reverse` before it. A position of another stream is error 112.",
        fields: positionNotes,
      },
      reverse: { description: "The newest publication comes first." },
    },
    result: object("The publications, and the top of the stream.", {
      publications: listOf(reference("Publication"), "The publications, in their order."),
      offset: large("The offset of the newest publication; 0 if there is none."),
      epoch: text("The epoch of the stream."),
    }),
    example: {
      request: { channel: "news", limit: 10 },
      result: {
        publications: [{ data: { text: "hello" }, offset: 1 }],
        epoch: "AbCdEfGh",
        offset: 1,
      },
    },
    statuses: ["403", "404", "416", "429"],
  },
  history_remove: {
    tag: "publications",
    summary: "Remove the history of a channel",
    description: "Removes what the channel keeps. Its offsets go on.",
    fields: { channel: channelNote },
    example: { request: { channel: "news" } },
  },
  presence: {
    tag: "channels",
    summary: "Who is subscribed to a channel",
    description: "Lists the clients that are subscribed to a channel whose namespace has presence.",
    fields: { channel: channelNote },
    result: object(
      "The clients that are present.",
      { presence: mapOf(reference("ClientInfo"), "The clients by the ID of their connection.") },
      { incomplete },
    ),
    example: {
      request: { channel: "news" },
      result: { presence: { c1: { user: "ada", client: "c1" } } },
    },
  },
  presence_stats: {
    tag: "channels",
    summary: "How many are subscribed to a channel",
    description: "Counts the clients and users that `presence` would list.",
    fields: { channel: channelNote },
    result: object(
      "The numbers of those who are present.",
      { num_clients: count("The clients."), num_users: count("The different users among them.") },
      { incomplete },
    ),
    example: { request: { channel: "news" }, result: { num_clients: 2, num_users: 1 } },
  },
} as const satisfies Partial<MethodNotes>;
