/** The methods about what users have got and read (docs/protocol.md 6.2). */
import { cursorLimits } from "../../src/features/cursors/limits.ts";
import { limits } from "../../src/limits.ts";
import type { MethodNotes } from "./method.ts";
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
import { channelNote, pageNotes, userNote, usersNote } from "./shared-notes.ts";

const ofCursors =
  "It needs `cursors.enabled` of the channel's namespace; without it the answer is error 108. Dormouse's own.";

const read = large("Everything up to this offset is read.");
const epoch = text("The epoch of the stream.");

const ofAudience =
  "It needs `cursors.audience` of the channel's namespace; without it the answer is error 108. Dormouse's own.";
const membersNote = { ...usersNote, maxItems: cursorLimits.audienceUsersMax };
const members = count("How many members the audience has.");
const sized = object("The audience.", { members });

/** By name. */
export const cursorMethods = {
  mark_read: {
    tag: "cursors",
    summary: "Mark how far a user has read",
    description: `Notes that a user has read everything up to an offset. A mark that is not larger changes nothing, and the answer is the one that stands. ${ofCursors}`,
    fields: {
      user: userNote,
      channel: channelNote,
      offset: {
        description:
          "The offset of the last publication that is read. It can't be beyond the newest one.",
        isRequired: true,
      },
      epoch: { description: "The epoch of the offset; empty for the one of now." },
    },
    result: object("The user's mark.", { read, epoch }),
    example: {
      request: { user: "ada", channel: "room:7", offset: 1 },
      result: { read: 1, epoch: "AbCdEfGh" },
    },
  },
  unread: {
    tag: "cursors",
    summary: "Count what a user hasn't read",
    description: `Counts the publications after a user's mark, without those that the user's own clients published. ${ofCursors}`,
    fields: {
      user: userNote,
      channels: {
        description: "The channels.",
        minItems: 1,
        maxItems: cursorLimits.unreadChannelsMax,
        items: { type: "string", minLength: 1 },
        isRequired: true,
      },
    },
    result: object("Each channel has its answer: the count of unread publications, or an error.", {
      channels: mapOf(reference("UnreadChannel"), "By the channels' names."),
    }),
    example: {
      request: { user: "ada", channels: ["room:7"] },
      result: {
        channels: { "room:7": { unread: 3, read: 12, offset: 15, epoch: "AbCdEfGh" } },
      },
    },
  },
  delivered: {
    tag: "cursors",
    summary: "Say what a user is known to have got",
    description: `Says up to which offset the publications have certainly arrived at a client's program of the user. It never says more than is so, and often less. ${ofCursors}`,
    fields: { user: userNote, channel: channelNote },
    result: object(
      "What is known; offset 0 if nothing is.",
      {
        offset: large("Everything after `since` and up to this offset has arrived."),
        epoch,
      },
      {
        since: large("Nothing is claimed of the publications up to this offset; absent for 0."),
        by: {
          type: "string",
          enum: ["ping", "recovery", "command"],
          description:
            "How it is known: a client answered a later ping, recovered from there, or marked up to there. Absent if nothing is known.",
        },
        at_ms: large("When it was known at the latest, in milliseconds since 1970."),
      },
    ),
    example: {
      request: { user: "ada", channel: "room:7" },
      result: { offset: 15, epoch: "AbCdEfGh", by: "ping", at_ms: 1_795_000_000_000 },
    },
  },
  marks: {
    tag: "cursors",
    summary: "List what users have read",
    description: `Lists how far each user has read a channel, in pages. With \`offset\` it counts, too, who has read up to there. ${ofCursors}`,
    fields: {
      channel: channelNote,
      cursor: pageNotes.cursor,
      limit: {
        ...pageNotes.limit,
        description: `The most marks of the page; none for ${limits.pageSizeMax}, and so is 0, but with \`offset\`, where the answer has no marks then.`,
      },
      offset: { description: "The users are counted who have read up to this offset." },
    },
    result: object(
      "A page of marks. It may have fewer than `limit`, even none, and a `cursor`.",
      {
        marks: listOf(reference("UserMark"), "In the order of the bytes of the users' IDs."),
        epoch,
        offset: large("The newest offset of the channel; 0 if there is none."),
      },
      {
        count: count(
          `How many of the users after \`cursor\` have read up to \`offset\`; of at most ${cursorLimits.markRowsMax} users.`,
        ),
        capped: flag(
          "More users follow than were counted. With `limit` 0 a request with this `cursor` counts the next ones.",
        ),
        cursor: text("The cursor of the next page; absent on the last one."),
      },
    ),
    example: {
      request: { channel: "room:7", offset: 12 },
      result: {
        marks: [{ user: "ada", read: 12, at_ms: 1_795_000_000_000 }],
        epoch: "AbCdEfGh",
        offset: 15,
        count: 1,
      },
    },
  },
  forget_user: {
    tag: "cursors",
    summary: "Forget what channels keep of a user",
    description:
      "Has all channels delete how far the user has got and read, and the user's membership of audiences, and with `publications` erase what the user has published. The answer is error 100, with status 503, until all have; it goes on by itself then. What comes later is kept anew. Dormouse's own.",
    fields: {
      user: userNote,
      publications: {
        description:
          "Also [erase](erasure.md#forget-a-user) what the user's clients have published, in namespaces with `erasable_by_user`. Answered 108 if there are none.",
      },
    },
    result: object(
      "Empty without `publications`.",
      {},
      {
        unsearched: listOf(
          text('The name of a namespace; "" for channels without one.'),
          "Namespaces that keep publications or keys, but have no `erasable_by_user`: what the user has published there is still there. Absent if there are none.",
        ),
        incomplete: flag(
          `The user has published to more than ${cursorLimits.channelsPerUserMax} channels with \`erasable_by_user\`: in those beyond, nothing was erased.`,
        ),
      },
    ),
    example: {
      request: { user: "ada", publications: true },
      result: { unsearched: ["news"] },
    },
  },
  set_audience: {
    tag: "cursors",
    summary: "Set the audience of a channel",
    description: `Makes these users, and nobody else, those to whom the channel's publications are addressed. Who is a member already stays one since then. ${ofAudience}`,
    fields: { channel: channelNote, users: { ...membersNote, minItems: 0 } },
    result: sized,
    example: {
      request: { channel: "room:7", users: ["ada", "bob"] },
      result: { members: 2 },
    },
  },
  add_audience: {
    tag: "cursors",
    summary: "Add users to the audience of a channel",
    description: `Publications that come after this are addressed to these users, too. ${ofAudience}`,
    fields: { channel: channelNote, users: membersNote },
    result: sized,
    example: { request: { channel: "room:7", users: ["eve"] }, result: { members: 3 } },
  },
  remove_audience: {
    tag: "cursors",
    summary: "Remove users from the audience of a channel",
    description: `Publications aren't addressed to these users any more. ${ofAudience}`,
    fields: { channel: channelNote, users: membersNote },
    result: sized,
    example: { request: { channel: "room:7", users: ["eve"] }, result: { members: 2 } },
  },
  audience: {
    tag: "cursors",
    summary: "List the audience of a channel",
    description: `Lists the users to whom the channel's publications are addressed, in pages. ${ofAudience}`,
    fields: { channel: channelNote, ...pageNotes },
    result: object(
      "A page of the audience.",
      {
        users: listOf(text("The ID of a user."), "In the order of their bytes."),
        members,
      },
      { cursor: text("The cursor of the next page; absent on the last one.") },
    ),
    example: {
      request: { channel: "room:7" },
      result: { users: ["ada", "bob"], members: 2 },
    },
  },
} as const satisfies Partial<MethodNotes>;

/** The schemas of their answers, by their names among the document's components. */
export const cursorMessages: Readonly<Record<string, Schema>> = {
  UserMark: object("How far a user has read.", {
    user: text("The ID of the user."),
    read,
    at_ms: large("When the user marked that, in milliseconds since 1970."),
  }),
  UnreadChannel: object(
    "One channel's answer: how much the user hasn't read, or why that isn't known.",
    {},
    {
      unread: count("How many publications are unread; at most `cursors.unread_max`."),
      capped: flag("There are more."),
      read,
      reset: flag(
        "The history began anew after the user had marked something, so the mark is gone.",
      ),
      offset: large("The newest offset of the channel; 0 if there is none."),
      epoch,
      error: reference("Error"),
    },
  ),
};
