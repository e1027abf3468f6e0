/** The schemas in the answers to `why`, `inspect` and `events`, by their names among the document's components. */
import { procedureLimits } from "../../src/features/procedures/limits.ts";
import { trailLimits } from "../../src/features/why/limits.ts";
import {
  anything,
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

/** True or false. */
function either(description: string): Schema {
  return { type: "boolean", description };
}

/** A number of connections by a word of their kind. */
function countsBy(kind: string): Schema {
  return mapOf(count("How many."), `How many there are by ${kind}.`);
}

/** The schemas of the answer to `why`. */
const traced: Readonly<Record<string, Schema>> = {
  TracedPublication: object(
    "What the channel's object knows of the publication.",
    { state: text("`remembered`, `in_history`, `forgotten` or `not_published`.") },
    {
      epoch: text("The epoch of the stream; absent without a stream."),
      top: large("The newest offset of the stream; absent without a stream."),
      published_at_ms: large("When it came, in ms since 1970."),
      committed_at_ms: large("When it was known to be durable, in ms since 1970."),
      by: reference("Publisher"),
      change: reference("PublicationChange"),
      appended: flag(
        "It stores text that was appended to a value of a map. Subscribers with deltas got the pieces before, without an offset.",
      ),
    },
  ),
  PublicationChange: object("The last change of a publication.", {
    kind: text("`edited`, `deleted` or `erased`."),
    offset: large("The offset of the change."),
  }),
  Publisher: object(
    "Who published; empty if that isn't known.",
    {},
    {
      client: text("The ID of the client's connection."),
      user: text("The client's user."),
      key: text("The name of the API key or of the consumer."),
    },
  ),
  AskedObject: object(
    "What an object knows of the publication's way.",
    { object: text("The object: `channel:` or `gateway:` and its name.") },
    {
      state: text("`unknown` if the object didn't answer; it has no other field then."),
      memory: reference("ObjectMemory"),
      subscribers: count("How many subscribers the channel has on it."),
      offset: large("Up to where they have been sent everything; absent while it isn't known."),
      told: reference("CallsToGateway"),
      taken_at_ms: large("When a gateway took the publication, in ms since 1970."),
      was_read: flag("The gateway had missed it, and read it from the history."),
      frame: reference("SentFrame"),
      note: text(
        "A sentence about an object that is registered with the user's home and knows no connection of the user.",
      ),
    },
  ),
  ObjectMemory: object(
    "Since when an object remembers, in ms since 1970.",
    { since_ms: large("When it last woke.") },
    {
      frames_since_ms: large("The same for frames, if it had to forget some."),
      subscriptions_since_ms: large("The same for subscriptions."),
      closes_since_ms: large("The same for connections that ended."),
    },
  ),
  CallsToGateway: object(
    "The calls with which the channel's object told a gateway of the publication.",
    {
      begun_at_ms: large("When the first one began, in ms since 1970."),
      attempts: count("How many there were."),
    },
    {
      ended_at_ms: large(
        "When the last one ended, in ms since 1970; absent while it is under way.",
      ),
      outcome: text("`taken`, `left` (it had no subscriber), `busy` or `failed`."),
    },
  ),
  SentFrame: object(
    "The WebSocket message with the publication.",
    {
      publications: count("How many publications share it."),
      begun_at_ms: large("When sending began, in ms since 1970."),
      subscribers: count("To how many subscribers without a filter it went."),
      filtered: count("To how many with a filter it went."),
      left_out: count("How many had a filter that left nothing of it."),
      slow: count("How many were closed instead, because they were too far behind."),
    },
    { sent_at_ms: large("When sending ended, in ms since 1970; absent while it is under way.") },
  ),
  TracedConnection: object(
    "What became of the publication for one connection.",
    {
      client: text("The ID of the connection."),
      user: text("Its user."),
      object: text("The object that holds or held it."),
      outcome: text(
        "`sent`, `recovered`, `had_it`, `sending`, `not_taken`, `filtered`, `not_recovered`, `subscribed_later`, " +
          "`not_subscribed`, `unsubscribed`, `subscribing`, `connecting`, `connected_later`, `closed_before`, `slow` or " +
          "`unknown`.",
      ),
      summary: text("The same in a sentence."),
      state: text("`connecting`, `connected` or `closed`."),
      opened_at_ms: large("When it was opened, in ms since 1970."),
      events: listOf(
        reference("SubscriptionEvent"),
        "Its subscriptions to the channel, oldest first.",
      ),
    },
    {
      transport: text("Of an open connection: as `connections` tells it."),
      protocol: text("Of an open connection: `json`, `protobuf` or `messagepack`."),
      subscription: text("Of an open connection: `none`, `pending` or `begun`."),
      filter: text(
        "What the subscription's tags filter does with the publication: `passes`, `holds_back` or `unknown`; absent " +
          "without a filter.",
      ),
      backlog_bytes: count(
        "What the client of an open connection was sent and hasn't taken, in bytes.",
      ),
      closed_at_ms: large("When the connection ended, in ms since 1970; absent if it is open."),
      code: count("The code of the close."),
      by: text("Who closed: `client` or `server`."),
    },
  ),
  SubscriptionEvent: object(
    "A subscription to the channel that began or ended.",
    {
      event: text("`subscribed` or `unsubscribed`."),
      at_ms: large("When, in ms since 1970."),
    },
    {
      offset: large("The offset after which the subscription gets publications."),
      since_offset: large("The offset after which the client asked to recover."),
      recovered: either("Whether it recovered; absent if it didn't ask."),
      publications: count("How many publications were in the reply; absent if it didn't ask."),
      code: count("The code of the end; 0 if the client ended it."),
    },
  ),
};

/** The schemas of the answer to `inspect`. */
const inspected: Readonly<Record<string, Schema>> = {
  EventCount: object("How often events of a kind came.", {
    since_wake: count("Since the object woke."),
    last_hour: count("In the last hour of that."),
  }),
  ConnectionCounts: object("The open connections of an object.", {
    connected: count("Those whose connect has been answered."),
    connecting: count("Those whose connect hasn't been answered."),
    by_transport: countsBy("transport"),
    by_protocol: countsBy("protocol"),
  }),
  BehindConnection: object("A connection that hasn't taken all that it was sent.", {
    client: text("The ID of the connection."),
    user: text("Its user."),
    bytes: count("What it hasn't taken, in bytes."),
  }),
  ClosedConnection: object("A connection that has ended.", {
    client: text("The ID of the connection."),
    user: text("Its user."),
    opened_at_ms: large("When it was opened, in ms since 1970."),
    closed_at_ms: large("When it ended, in ms since 1970."),
    code: count("The code of the close; 1006 if the connection was lost."),
    by: text("Who closed: `client` or `server`."),
    had_connected: either("Whether its connect had been answered."),
  }),
  KeptRefusal: object(
    "A refusal, or several equal ones in a row.",
    {
      at_ms: large("When it last happened, in ms since 1970."),
      count: count("How often in a row."),
      refused: text("What was refused, as the log has it."),
      rule: text("The rule by which it was refused."),
      reason: text("Why, in words."),
    },
    {
      code: count("The code of the error or of the close."),
      user: text("The user."),
      channel: text("The channel."),
      key: text("The name of the backend's API key, for a refusal of the edge."),
    },
  ),
  GatewayState: object("What a gateway follows.", {
    channels: count("The channels that it follows."),
    held_bytes: count("The memory that they take, estimated, in bytes."),
  }),
  SubscriberCounts: object(
    "The subscribers to a channel on the sockets of one object.",
    {
      count: count("All of them."),
      by_transport: countsBy("transport"),
      by_protocol: countsBy("protocol"),
      filtered: count("Those with a tags filter."),
      delta: count("Those that get deltas."),
      pending: count("Subscribes that haven't been answered; they aren't in `count`."),
      sending: either("Whether a frame is on its way."),
      collecting: either("Whether something is collected for the next frame."),
    },
    {
      offset: large("Up to where they have been sent everything; absent while it isn't known."),
      epoch: text("The epoch that the offset belongs to."),
      sequence: count(
        "Of a gateway: the number of the last entry that it took; absent if unknown.",
      ),
    },
  ),
  ChannelState: object(
    "A channel, as its own object knows it.",
    {
      name: text("The channel."),
      namespace_configured: either("Whether the configuration has its namespace."),
      history: reference("HistorySize"),
      sequence: count("The number of the last entry that gateways are told."),
      committing: either("Whether a commit is under way."),
      waiting_bytes: count("What waits for the next commit, in bytes."),
      gateways: listOf(reference("FollowingGateway"), "The gateways that follow the channel."),
    },
    {
      offset: large("The newest offset; absent without a stream."),
      epoch: text("The epoch of the stream; absent without a stream."),
      code: reference("CodeState"),
      newest_ms: large(
        "When the newest publication came, or the stream was made or emptied, in ms since 1970.",
      ),
    },
  ),
  CodeState: object(
    "The code of a channel: its stored keys and timers, and its last calls.",
    {
      keys: count("How many keys there are."),
      first_keys: listOf(
        reference("CodeKey"),
        `The first keys; at most ${trailLimits.inspectedKeysMax}, and none of a map.`,
      ),
      timers: listOf(reference("CodeTimer"), "The timers, in the order of their times."),
      procedures: mapOf(
        reference("CallOutcomes"),
        "The calls since the object woke, by procedure.",
      ),
      last_calls: listOf(
        reference("LastProcedureCall"),
        `The last calls, newest first; at most ${trailLimits.inspectedCallsMax}.`,
      ),
    },
    {
      bytes: count("The bytes of the keys and their values; absent for a map."),
      version: count("The version of what the keys hold; absent if none is stored."),
    },
  ),
  CodeKey: object(
    "A key of the code.",
    { key: text("The key.") },
    { value: anything("The value; absent if it is long.") },
  ),
  CodeTimer: object("A timer of the code.", {
    name: text("The name."),
    at_ms: large("When it calls, in ms since 1970."),
    procedure: text("The procedure that it calls."),
    tries: count("How often the procedure has thrown."),
  }),
  CallOutcomes: object("How many calls ended in which way.", {
    done: count("Those that were carried out."),
    repeated: count("Those that were answered again, by their idempotency key."),
    rejected: count("Those that the code rejected."),
    refused: count("Those that passed a bound, or that there was no room for."),
    threw: count("Those in which the code threw."),
    slow: count(`Those that held the thread for more than ${procedureLimits.slowMs} ms.`),
  }),
  LastProcedureCall: object(
    "A call that has ended.",
    {
      procedure: text("The procedure, `onPublish` or `migrate`."),
      by: text("Who called: `client`, `backend` or `timer`."),
      outcome: text("`done`, `repeated`, `rejected`, `over-limit`, `refused` or `threw`."),
      at_ms: large("When, in ms since 1970."),
    },
    {
      code: count("The code of the error."),
      message: text("The error."),
    },
  ),
  HistorySize: object("How much a channel keeps.", {
    publications: count("The publications that can be read."),
    size: count("How many may be kept; 0 without history."),
  }),
  FollowingGateway: object(
    "A gateway that follows a channel.",
    {
      object: text("The gateway."),
      lag: count("How many entries it isn't known to have taken."),
      failures: count("How many calls to it have failed in a row."),
    },
    {
      waits_until_ms: large("Until when it isn't called because of that, in ms since 1970."),
      last_call: reference("LastCall"),
      state: text(
        "`unknown` if it didn't answer, `not asked` if there are too many; otherwise absent.",
      ),
      subscribers: reference("SubscriberCounts"),
      follows_this_instance: either(
        "False until it has taken something of the channel's present instance.",
      ),
      awake_since_ms: large("When the gateway last woke, in ms since 1970."),
      backlog_bytes: count("What its clients were sent and haven't taken, in bytes."),
    },
  ),
  LastCall: object(
    "The last call to a gateway.",
    { begun_at_ms: large("When it began, in ms since 1970.") },
    { ended_at_ms: large("When it ended, in ms since 1970; absent while it is under way.") },
  ),
};

/** The schema of the answer to `events`. */
const kept: Readonly<Record<string, Schema>> = {
  Event: object(
    "Something that happened in an object.",
    {
      object: text("The object: `channel/`, `gateway/` or `home/` and its name."),
      number: large("One more than that of the object's event before."),
      time: large("When it happened, in ms since 1970."),
      type: text(
        "`publication`, `connected`, `disconnected`, `subscribed`, `unsubscribed`, `user_online`, `user_offline`, " +
          "`channel_occupied` or `channel_vacated`; or `gap`: events are gone.",
      ),
    },
    {
      first: flag("It is the object's first event."),
      channel: text("The channel that it is about."),
      user: text("The user whom it is about; empty for an anonymous one."),
      client: text("The ID of the connection that it is about."),
      transport: text("The transport of a connection."),
      code: count("Why a connection or a subscription ended."),
      reason: text("The same in words."),
      offset: large("The offset of a publication; absent without history."),
      epoch: text("The epoch of the stream; absent without history."),
      data: anything("The payload of a publication, as it was written."),
      b64data: {
        ...text("The payload in base64, if it isn't JSON."),
        contentEncoding: "base64",
      },
      data_bytes: count("In place of a payload that is too large for a queue: its size in bytes."),
      tags: mapOf({ type: "string" }, "The tags of the publication."),
      info: anything("The info of the connection's token."),
      chan_info: anything("The info of the subscription's token."),
      published_at: large("When the channel's object got the publication, in ms since 1970."),
      traceparent: text("The trace that it belongs to."),
      from: large("Of a `gap`: the number of the first event that is gone."),
      to: large("Of a `gap`: the number of the last one."),
    },
  ),
};

/** The schemas of all three. */
export const inspectionMessages: Readonly<Record<string, Schema>> = {
  ...traced,
  ...inspected,
  ...kept,
};
