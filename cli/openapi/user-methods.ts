/** The methods that give commands for the connections of a user, or for tokens (docs/protocol.md 6.2). */
import { limits } from "../../src/limits.ts";
import {
  channelNote,
  endNote,
  positionNotes,
  rawNotes,
  targetNotes,
  userNote,
} from "./shared-notes.ts";
import type { MethodNotes } from "./method.ts";
import type { FieldNote } from "./request.ts";

const untilDone =
  "The answer comes when all objects that hold connections of the user have carried it out. If they can't within 8 s, the " +
  "answer is error 100 with status 503, and the command is kept and repeated.";

const info = rawNotes("info", "What others are shown of the client: any JSON value.");
const data = rawNotes("data", "What the client gets with the subscription: any JSON value.");

/** An option of the namespace that a subscription has otherwise. */
function overrideNote(description: string): FieldNote {
  return { description, fields: { value: { description: "On or off." } } };
}

/** By name. */
export const userMethods = {
  disconnect: {
    tag: "connections",
    summary: "Close connections of a user",
    description: `Closes connections. Their clients may connect again, unless the code is terminal. ${untilDone}`,
    fields: {
      ...targetNotes,
      whitelist: {
        description: "The IDs of connections that are left alone.",
        maxItems: limits.orderWhitelistMax,
      },
      disconnect: {
        description: "How the connections are closed; 3503 `force disconnect` if it is absent.",
        fields: {
          code: {
            description: "A close code from 3000 to 4999; 0, or none, for 3503.",
            maximum: 4999,
          },
          reason: {
            description: `The reason, which isn't valid JSON. At most ${limits.disconnectReasonBytesMax} bytes.`,
            maxLength: limits.disconnectReasonBytesMax,
          },
        },
      },
    },
    example: { request: { user: "ada" } },
  },
  unsubscribe: {
    tag: "connections",
    summary: "Unsubscribe connections of a user",
    description: `Ends the subscriptions of connections to a channel. ${untilDone}`,
    fields: { channel: channelNote, ...targetNotes },
    example: { request: { channel: "news", user: "ada" } },
  },
  subscribe: {
    tag: "connections",
    summary: "Subscribe connections of a user",
    description: `Makes a server-side subscription on each connection that isn't subscribed yet. ${untilDone}`,
    fields: {
      channel: channelNote,
      ...targetNotes,
      expire_at: {
        description: "When the subscription ends, in seconds since 1970; 0, or none, for never.",
      },
      b64info: info.encoded,
      b64data: data.encoded,
      recover_since: {
        description: "Deliver what comes after this position, if the channel still has it.",
        fields: positionNotes,
      },
      override: {
        description: "Options of the namespace that the subscription has otherwise.",
        fields: {
          presence: overrideNote("The client is present on the channel."),
          join_leave: overrideNote("The client's joins and leaves are told."),
          force_push_join_leave: overrideNote("The client is told joins and leaves."),
          force_positioning: overrideNote("The server checks that the client misses nothing."),
          force_recovery: overrideNote("The client may recover what it missed."),
        },
      },
    },
    texts: {
      info: info.plain,
      data: data.plain,
      server_tags_filter: {
        description: "The client gets only publications whose tags this filter lets through.",
        $ref: "#/components/schemas/TagsFilter",
      },
    },
    example: { request: { channel: "news", user: "ada" } },
  },
  refresh: {
    tag: "connections",
    summary: "Prolong or end connections of a user",
    description: `Gives connections a new end, and shows others new info of them. ${untilDone}`,
    fields: {
      ...targetNotes,
      expired: { description: "Close the connections with 3005." },
      expire_at: {
        description:
          "When the connections end, in seconds since 1970; 0, or none, for never. A time in the past closes them with " +
          "3005.",
      },
      b64info: info.encoded,
    },
    texts: { info: info.plain },
    example: { request: { user: "ada", expire_at: 1_924_992_000 } },
  },
  block_user: {
    tag: "users",
    summary: "Keep a user out",
    description: `Closes all connections of the user with 3507, and refuses new ones. ${untilDone}`,
    fields: { user: userNote, expire_at: endNote },
    example: { request: { user: "ada", expire_at: 1_924_992_000 } },
  },
  unblock_user: {
    tag: "users",
    summary: "Let a user in again",
    description: "Ends what `block_user` began.",
    fields: { user: userNote, expire_at: "not shown" },
    example: { request: { user: "ada" } },
  },
  revoke_token: {
    tag: "tokens",
    summary: "Take one token back",
    description:
      "Ends the connections (3500) and subscriptions (2000) that were made with the token, and refuses it from then on.",
    fields: {
      uid: {
        description: "The claim `jti` of the token.",
        minLength: 1,
        maxLength: limits.tokenUidCharactersMax,
        isRequired: true,
      },
      expire_at: endNote,
    },
    example: { request: { uid: "5a1f1b4e", expire_at: 1_924_992_000 } },
  },
  invalidate_user_tokens: {
    tag: "tokens",
    summary: "Take older tokens of a user back",
    description:
      "Does what `revoke_token` does with the user's tokens that were issued before a time, and with those that don't say " +
      "when they were issued.",
    fields: {
      user: userNote,
      issued_before: {
        description:
          "Tokens whose claim `iat` is less than this are meant, in seconds since 1970; 0, or none, for now.",
      },
      expire_at: endNote,
      channel: {
        description: "Only subscription tokens for this channel are meant; absent for all tokens.",
      },
    },
    example: { request: { user: "ada", issued_before: 1_767_225_600 } },
  },
} as const satisfies Partial<MethodNotes>;
