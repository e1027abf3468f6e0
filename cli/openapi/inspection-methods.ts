/** The methods that ask what became of a publication and how objects are, and which events objects keep (docs/protocol.md 6.2). */
import { eventLimits } from "../../src/features/events/limits.ts";
import { trailLimits } from "../../src/features/why/limits.ts";
import { limits } from "../../src/limits.ts";
import { channelNote } from "./shared-notes.ts";
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

const shortened = flag(
  "Something may be missing: an object or the user's home didn't answer, or there were too many.",
);

/** Without `user`, `client` is required. Generators of clients don't look at this. */
const namesConnections: Schema = {
  if: { required: ["user"] },
  else: { required: ["client"] },
};

/** Without `object`, `channel` is required. That both name the same object is said in words only. */
const namesObject: Schema = {
  if: { required: ["object"], properties: { object: { minLength: 1 } } },
  else: { required: ["channel"], properties: { channel: { minLength: 1 } } },
};

/** By name. */
export const inspectionMethods = {
  why: {
    tag: "inspection",
    summary: "Why a publication didn't arrive",
    description:
      "Tells the way of one publication to the connections of one user: when it was committed, which objects were told of " +
      "it, and for each connection what became of it. Objects remember this in memory, and the answer says since when. " +
      "No payload is told. A channel without history has no offsets: error 108.",
    fields: {
      channel: channelNote,
      offset: {
        description: "The offset of the publication, which the answer to `publish` has.",
        minimum: 1,
        isRequired: true,
      },
      user: {
        description: "The user whose connections are told of. `user` or `client` is required.",
        maxLength: limits.userCharactersMax,
      },
      client: {
        description:
          "The ID of the connection that is told of. Without `user`, only objects that follow the channel are asked, and " +
          "the one that the ID of an anonymous connection names.",
        maxLength: trailLimits.trailClientCharactersMax,
      },
    },
    condition: namesConnections,
    result: object(
      "The way of the publication.",
      {
        channel: text("The channel."),
        offset: large("The offset of the publication."),
        summary: text("The answer in a sentence."),
        publication: reference("TracedPublication"),
        objects: listOf(
          reference("AskedObject"),
          "The objects that were asked, the channel's own first.",
        ),
        connections: listOf(
          reference("TracedConnection"),
          "The connections, and what became of it.",
        ),
      },
      {
        user: text("The asked user; absent if the request has none."),
        client: text("The asked connection; absent if the request has none."),
        incomplete: shortened,
      },
    ),
    example: {
      request: { channel: "news", offset: 1, user: "7" },
      result: {
        channel: "news",
        offset: 1,
        user: "7",
        summary: "The publication didn't get to the only known connection of the user.",
        publication: {
          state: "remembered",
          epoch: "ToyqpRcw",
          top: 1,
          published_at_ms: 1_795_368_031_131,
          committed_at_ms: 1_795_368_031_162,
          by: { key: "API_KEY" },
        },
        objects: [
          {
            object: "channel:news",
            memory: { since_ms: 1_795_368_026_744 },
            subscribers: 0,
            offset: 1,
          },
        ],
        connections: [
          {
            client: "c1",
            user: "7",
            object: "gateway:any/0",
            outcome: "closed_before",
            summary: "wasn't connected: client c1 left with code 1005, 4 s before the publication",
            state: "closed",
            opened_at_ms: 1_795_368_026_765,
            closed_at_ms: 1_795_368_027_013,
            code: 1005,
            by: "client",
            events: [{ event: "subscribed", at_ms: 1_795_368_026_798, offset: 0 }],
          },
        ],
      },
    },
  },
  inspect: {
    tag: "inspection",
    summary: "How a channel or an object is",
    description:
      "Tells the live state of a channel with the gateways that follow it, or of one object: its connections and " +
      "subscribers, what waits to be sent, what it woke for, and its last refusals. An object that hibernated wakes for " +
      "it. An API key has to admit all channels if the object isn't a channel's.",
    fields: {
      channel: {
        description:
          "The channel. Either `channel` or `object` is required; both have to name the same.",
      },
      object: {
        description:
          "An object, as the log and `connections` name it: `gateway:eu/0` or `channel:news`. `edge` for what the " +
          "Worker itself has refused; it is remembered with `console.enabled` or `prometheus.enabled`.",
      },
      refusals: {
        description: "How many of the object's last refusals are told; 0, or none, for none.",
        maximum: limits.trailRefusalsMax,
      },
    },
    condition: namesObject,
    result: object(
      "The live state of an object. Of the edge, only what was refused there is told.",
      {
        object: text("The object, or `edge`."),
        version: text("The release that it runs."),
      },
      {
        awake_since_ms: large(
          "When it last woke, in ms since 1970: it remembers nothing from before.",
        ),
        placement: reference("Placement"),
        woken_by: text("The kind of event that woke it."),
        events: mapOf(reference("EventCount"), "How often events came, by their kind."),
        stored_bytes: count("The size of its storage."),
        connections: reference("ConnectionCounts"),
        backlog_bytes: count("What its clients were sent and haven't taken, in bytes."),
        behind: listOf(
          reference("BehindConnection"),
          "The connections furthest behind, the furthest first.",
        ),
        closes: listOf(
          reference("ClosedConnection"),
          "The last connections that ended, newest first.",
        ),
        alarm_at_ms: large("When its alarm rings next, in ms since 1970; absent if none is set."),
        subscribers: reference(
          "SubscriberCounts",
          "The channel's subscribers on the object's own sockets.",
        ),
        gateway: reference("GatewayState"),
        channel: reference("ChannelState"),
        refusals: listOf(
          reference("KeptRefusal"),
          "The last refusals, newest first; absent if there are none.",
        ),
        incomplete: shortened,
      },
    ),
    example: {
      request: { channel: "news" },
      result: {
        object: "channel:news",
        version: "0.1.0 Dormouse",
        awake_since_ms: 1_795_368_026_744,
        woken_by: "gateway",
        events: { gateway: { since_wake: 1, last_hour: 1 } },
        stored_bytes: 20_480,
        connections: { connected: 0, connecting: 0, by_transport: {}, by_protocol: {} },
        backlog_bytes: 0,
        behind: [],
        closes: [],
        channel: {
          name: "news",
          namespace_configured: true,
          epoch: "ToyqpRcw",
          offset: 1,
          history: { publications: 1, size: 100 },
          sequence: 1,
          committing: false,
          waiting_bytes: 0,
          gateways: [{ object: "gateway:any/0", lag: 0, failures: 0 }],
        },
      },
    },
  },
  // It isn't a command, and so isn't in a batch.
  events: {
    tag: "inspection",
    summary: "List the events that an object keeps",
    description:
      "Lists events that an object keeps for the target of `events`, also those that the target has taken, the oldest first. " +
      "Without `events.target` the answer is error 108. An API key has to admit the channel of a channel's object, and all " +
      "channels for any other object.",
    fields: {
      object: {
        description:
          "The object, as its events name it: `channel/news`, `gateway/eu/0` or `home/7`.",
        pattern: String.raw`^(channel|gateway|home)/[\s\S]`,
        isRequired: true,
      },
      since: {
        description:
          "List what comes after the event of this number; absent for the oldest that is kept.",
      },
      limit: {
        description: `The most events; 0, or none, for ${eventLimits.eventsAnswerDefault}.`,
        maximum: eventLimits.eventsAnswerMax,
      },
    },
    result: object("The events of the object.", {
      events: listOf(reference("Event"), "The events, the oldest first."),
    }),
    example: {
      request: { object: "channel/news", since: 1_795_300_000_122 },
      result: {
        events: [
          {
            object: "channel/news",
            number: 1_795_300_000_123,
            time: 1_795_300_000_123,
            first: true,
            type: "publication",
            channel: "news",
            offset: 1,
            epoch: "AbCdEfGh",
            published_at: 1_795_300_000_120,
            data: { text: "hello" },
          },
        ],
      },
    },
  },
} as const satisfies Partial<MethodNotes>;
