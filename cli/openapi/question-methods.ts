/** The methods that ask who is connected and where, and those for users' status (docs/protocol.md 6.2). */
import { limits } from "../../src/limits.ts";
import { pageNotes, userNote, usersNote } from "./shared-notes.ts";
import type { MethodNotes } from "./method.ts";
import { flag, listOf, mapOf, object, reference, text } from "./schema.ts";

const pageEnd = {
  cursor: text(
    "Another page follows: ask with this `cursor`. Absent on the last page. Dormouse's own.",
  ),
  incomplete: flag("An object didn't answer in time, so something is missing. Dormouse's own."),
};

const ofStatus = "It needs `client.users.status.enabled`; without it the answer is error 108.";

/** By name. */
export const questionMethods = {
  connections: {
    tag: "connections",
    summary: "List the connections of a user",
    description: "Lists the connections of a user in whatever objects they are.",
    fields: { user: userNote, expression: "not shown" },
    result: object(
      "The connections.",
      { connections: mapOf(reference("Connection"), "The connections by their IDs.") },
      {
        incomplete: flag(
          `Connections may be missing: an object didn't answer in time, or there are more than ${limits.connectionsListedMax}. Dormouse's own.`,
        ),
      },
    ),
    example: {
      request: { user: "ada" },
      result: {
        connections: {
          c1: {
            user: "ada",
            transport: "websocket",
            protocol: "json",
            connected_at_ms: 1_767_225_600_000,
            ping_pong_latency_ms: -1,
            node: "gateway:eu/0",
            region: "eu",
            labels: {},
            state: { channels: { news: { source: 6 } } },
          },
        },
      },
    },
  },
  info: {
    tag: "channels",
    summary: "List the gateways",
    description: "Lists the gateways with what they hold, page by page.",
    fields: { pattern: "not shown", ...pageNotes },
    result: object(
      "A page of gateways.",
      { nodes: listOf(reference("Node"), "The gateways, in the order of their names.") },
      {
        placement: mapOf(
          reference("Placement"),
          "Where the objects are, by what they are; absent if the configuration doesn't say.",
        ),
        ...pageEnd,
      },
    ),
    example: {
      request: {},
      result: {
        nodes: [
          {
            uid: "gateway:eu/0",
            name: "eu/0",
            version: "0.1.0 Dormouse",
            num_clients: 2,
            num_users: 1,
            num_channels: 1,
            num_subs: 2,
            uptime: 60,
            region: "eu",
          },
        ],
      },
    },
  },
  channels: {
    tag: "channels",
    summary: "List the channels that have subscribers",
    description: "Lists channels with the number of their subscribers, page by page.",
    fields: {
      pattern: {
        description:
          "Only channels whose names match this glob: `*` stands for any characters, `?` for one, `[a-z]` for one of a " +
          "class, `{a,b}` for one of several globs. Absent for all channels.",
        maxLength: limits.channelPatternCharactersMax,
      },
      ...pageNotes,
    },
    result: object(
      "A page of channels.",
      { channels: mapOf(reference("ChannelInfo"), "The channels by name.") },
      pageEnd,
    ),
    example: {
      request: { pattern: "news*" },
      result: { channels: { news: { num_clients: 2 } } },
    },
  },
  update_user_status: {
    tag: "users",
    summary: "Say that users are active",
    description: `Notes that users are active now, and their state. ${ofStatus}`,
    fields: {
      users: usersNote,
      state: {
        description: `A state of your own, such as "busy". At most ${limits.statusBytesMax} bytes.`,
        maxLength: limits.statusBytesMax,
      },
    },
    example: { request: { users: ["ada"], state: "busy" } },
  },
  get_user_status: {
    tag: "users",
    summary: "When users were active and online",
    description: `Tells the status of users, in the order of the request and each user once. ${ofStatus}`,
    fields: { users: usersNote, state: "not shown" },
    result: object(
      "The statuses.",
      { statuses: listOf(reference("UserStatus"), "The statuses of the users.") },
      { incomplete: pageEnd.incomplete },
    ),
    example: {
      request: { users: ["ada"] },
      result: {
        statuses: [{ user: "ada", active: 1_767_225_600, online: 1_767_225_660, state: "busy" }],
      },
    },
  },
  delete_user_status: {
    tag: "users",
    summary: "Forget the status of users",
    description: `Deletes what is known of users' status. ${ofStatus}`,
    fields: { users: usersNote, state: "not shown" },
    example: { request: { users: ["ada"] } },
  },
} as const satisfies Partial<MethodNotes>;
