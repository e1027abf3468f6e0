/** The methods that ask why a publication didn't arrive, and how a channel or an object is (docs/why.md). */
import { whyShape } from "../../src/api/why.ts";
import { limits } from "../../src/limits.ts";
import { channelNote } from "./fields.ts";
import type { MethodNote } from "./method.ts";
import { requestOf } from "./request.ts";
import { count, flag, large, listOf, object, type Schema, text } from "./schema.ts";

const incomplete = flag("An object didn't answer in time, or there are too many of them.");

/** An object whose fields docs/why.md tells. */
function told(description: string): Schema {
  return { type: "object", description: `${description} docs/why.md tells its fields.` };
}

const sinceMs = 1_767_225_600_000;

/** By name. */
export const whyMethods = {
  why: {
    tag: "operation",
    summary: "Why a publication didn't reach a client",
    description:
      "Tells the way of a publication to the connections of a user, or to one connection, and what became of it there. No " +
      "payload is told. Dormouse's own.",
    request: requestOf(whyShape, {
      channel: channelNote,
      offset: {
        description: "The offset of the publication, as `publish` answered.",
        minimum: 1,
        isRequired: true,
      },
      user: {
        description: "The user whose connections are meant. It is required without `client`.",
        maxLength: limits.userCharactersMax,
      },
      client: {
        description: "The ID of the connection that is meant.",
        maxLength: limits.trailClientCharactersMax,
      },
      object: "not shown",
      refusals: "not shown",
    }),
    result: object(
      "The way of the publication.",
      {
        channel: text("The channel."),
        offset: large("The offset of the publication."),
        summary: text("What is known, in a sentence."),
        publication: told("When it came, and who published it."),
        objects: listOf(told("An object on its way."), "The objects that were asked."),
        connections: listOf(
          told("A connection, with the outcome in a word and in a sentence."),
          "The connections that are meant, those that have ended included.",
        ),
      },
      { user: text("The user."), client: text("The connection."), incomplete },
    ),
    example: {
      request: { channel: "news", offset: 1, user: "ada" },
      result: {
        channel: "news",
        offset: 1,
        user: "ada",
        summary:
          "the channel's object remembers the publication; none of the 1 objects that were asked knows a connection of the user",
        publication: { state: "remembered", epoch: "AbCdEfGh", top: 1, published_at_ms: sinceMs },
        objects: [{ object: "channel:news", memory: { since_ms: sinceMs }, subscribers: 0 }],
        connections: [],
      },
    },
  },
  inspect: {
    tag: "operation",
    summary: "How a channel or an object is",
    description:
      "Tells the live state of a channel with its gateways, or of an object. It names a channel, or an object. Dormouse's own.",
    request: requestOf(whyShape, {
      channel: { description: "The channel's name." },
      object: { description: "An object by its name, such as `gateway:eu/0`." },
      refusals: {
        description: "How many of the object's last refusals are told.",
        maximum: limits.trailRefusalsMax,
      },
      offset: "not shown",
      user: "not shown",
      client: "not shown",
    }),
    result: object(
      "The state of an object.",
      {
        object: text("The object."),
        version: text("The release that it runs."),
        awake_since_ms: large("When the object last woke, in ms since 1970."),
        woken_by: text("The kind of event that woke it."),
        events: told("How often each kind of event came."),
        stored_bytes: count("The size of its storage."),
        connections: told("Its open connections, counted."),
        backlog_bytes: count("What its clients were sent and haven't taken."),
        behind: listOf(told("A connection that hasn't taken all."), "The furthest behind first."),
        closes: listOf(told("A connection that ended."), "The last ones, newest first."),
      },
      {
        alarm_at_ms: large("When its alarm rings, in ms since 1970; absent if none is set."),
        gateway: told("What a gateway holds."),
        subscribers: told("The subscribers to the channel here."),
        channel: told("The channel, with the gateways that follow it."),
        refusals: listOf(told("A refusal."), "The last ones, newest first."),
        incomplete,
      },
    ),
    example: {
      request: { channel: "news" },
      result: {
        object: "channel:news",
        version: "0.1.0 Dormouse",
        awake_since_ms: sinceMs,
        woken_by: "api",
        events: { api: { since_wake: 1, last_hour: 1 } },
        stored_bytes: 20_480,
        connections: { connected: 0, connecting: 0, by_transport: {}, by_protocol: {} },
        backlog_bytes: 0,
        behind: [],
        closes: [],
      },
    },
  },
} as const satisfies Record<string, MethodNote>;
