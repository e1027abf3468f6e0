/**
 * The bounds that the operators, backends and clients of an application meet, with what is seen there and what one does about
 * it. The values come from the files of bounds, and the codes from the protocol's; this file has neither.
 */
import { disconnectCodes, errorCodes } from "../../src/protocol/codes.ts";

/** What is seen at a bound: a code that the server gives, or a sentence where it gives none. */
export type Seen =
  | { readonly kind: "error"; readonly code: number; readonly text: string }
  | { readonly kind: "close"; readonly code: number; readonly text: string }
  | { readonly kind: "status"; readonly code: number }
  | { readonly kind: "result"; readonly text: string };

/** A bound that is met, or some that are met together. */
export interface MetBound {
  readonly subject: string;
  /** Its value in words; `{name}` stands for the value of a bound. */
  readonly value: string;
  readonly seen: readonly (Seen | readonly [Seen, when: string])[];
  readonly remedy: string;
}

function error(name: keyof typeof errorCodes): Seen {
  const { code, message } = errorCodes[name];
  return { kind: "error", code, text: message };
}

function close(name: keyof typeof disconnectCodes): Seen {
  const { code, reason } = disconnectCodes[name];
  return { kind: "close", code, text: reason };
}

const status = (code: number): Seen => ({ kind: "status", code });
const result = (text: string): Seen => ({ kind: "result", text });

const rateSeen: MetBound["seen"] = [error("tooManyRequests"), [close("tooManyRequests"), "then"]];
const tokenSeen: MetBound["seen"] = [close("invalidToken"), [status(401), "at the upgrade"]];

/** By who meets them, in the order of the page. */
export const metBounds: Readonly<Record<string, readonly MetBound[]>> = {
  "Clients and connections": [
    {
      subject: "A frame of a client, or an HTTP request with one",
      value: "{frameBytesMax}",
      seen: [close("messageSizeLimit"), [status(413), "over HTTP"]],
      remedy: "Upload large data to your backend, and publish its address",
    },
    {
      subject: "A token",
      value:
        "{tokenBytesMax}; in `caps` {capabilityChannelsMax} names and patterns, {capabilitiesLengthMax} characters",
      seen: tokenSeen,
      remedy: "Name channels by patterns, and sign a token for each page instead of one for all",
    },
    {
      subject: "The user's ID and `info` of a token, which are kept with the connection",
      value: "{sessionClaimsBytesMax}",
      seen: [error("limitExceeded"), [status(413), "at the upgrade"]],
      remedy: "Put a name and an ID into `info`, and let pages load the rest",
    },
    {
      subject: "Subscriptions of a connection",
      value: "`client.channel_limit`: {channelLimitDefault}, at most {channelLimitMax}",
      seen: [error("limitExceeded"), [close("channelLimit"), "if its token names more"]],
      remedy:
        "Raise the option, or use one channel with a [tags filter](protocol.md#32-tags-filter), or a [map](maps.md)",
    },
    {
      subject: "Connections to one object",
      value: "`client.connection_limit`: {connectionsDefault}, at most {connectionsMax}",
      seen: [result("the next object takes them"), [status(503), "if no object has room"]],
      remedy: "Nothing: clients come back by themselves. On one machine, raise the option",
    },
    {
      subject:
        "Connections to one object that brought no token with the upgrade, and haven't connected",
      value: "{unconnectedMax}; of one client address {unconnectedPerAddressMax}",
      seen: [result("the next object takes them"), [status(503), "of one address"]],
      remedy: "Bring the token with the upgrade, or send the connect at once, also in load tests",
    },
    {
      subject: "Upgrades without a token from one client address",
      value: "{addressUpgradesPerSecond} a second, {addressUpgradesBurst} at once",
      seen: [status(503)],
      remedy:
        "Bring the token with the upgrade. Behind a proxy of your own, set `CLIENT_ADDRESS_HEADER`",
    },
    {
      subject: "Channels that one client address names anew, at the channels' own addresses",
      value: "{addressChannelsPerSecond} a second, {addressChannelsBurst} at once",
      seen: [status(503)],
      remedy: "Use one connection with many subscriptions",
    },
    {
      subject: "Commands of a connection",
      value:
        "{commandsPerSecond} a second, {commandsBurst} at once (`client.rate_limit` sets less)",
      seen: rateSeen,
      remedy: "Send less often, such as the newest position of a pointer ten times a second",
    },
    {
      subject: "Subscribes of a connection",
      value: "{subscribesPerSecond} a second, {subscribesBurst} at once",
      seen: rateSeen,
      remedy: "Subscribe to what is on the page. SDKs try again by themselves",
    },
    {
      subject: "Channels that a user names for the first time",
      value: "{newChannelsPerSecond} a second, {newChannelsBurst} at once",
      seen: rateSeen,
      remedy: "Subscribe to what is on the page, and don't put random parts into names",
    },
    {
      subject: "Bytes by which one client is behind",
      value: "`client.queue_max_size`: 1 MiB",
      seen: [close("slow")],
      remedy: "Nothing: the client comes back, and recovers. Publish less to it, or use deltas",
    },
    {
      subject: "Missed publications that a client recovers",
      value: "300 (`client.recovery_max_publication_limit`) and 1 MiB (`client.queue_max_size`)",
      seen: [result("`recovered: false`"), error("unrecoverablePosition")],
      remedy:
        "Load the state from your backend, as a page does when it opens; or raise the options",
    },
    {
      subject: "A tags filter",
      value: "{filterNodesMax} conditions, {filterDepthMax} levels",
      seen: [close("badRequest")],
      remedy: "Put what the filter says into one tag",
    },
    {
      subject: "Duration of a long poll",
      value: "{pollSecondsMax} s",
      seen: [status(400)],
      remedy: "Poll again when it has ended",
    },
  ],
  Backends: [
    {
      subject: "Data of one publication",
      value: "{publicationBytesMax}",
      seen: [error("badRequest")],
      remedy: "Publish an address, or several publications",
    },
    {
      subject: "Tags of one publication",
      value: "{tagsBytesMax}",
      seen: [error("badRequest")],
      remedy: "Put what no filter asks for into the data",
    },
    {
      subject: "An idempotency key",
      value: "{idempotencyKeyBytesMax}, kept for {idempotencyMs}",
      seen: [error("badRequest")],
      remedy:
        "Use an ID or a hash. After the time a repeated publish is a new one: use `version` there",
    },
    {
      subject: "Idempotency keys of one channel that outlive their publications",
      value: "{idempotencyKeysMax}",
      seen: [error("tooManyRequests")],
      remedy: "Raise `history_size`, or use more channels",
    },
    {
      subject: "History of a channel",
      value: "{historySizeMax} publications",
      seen: [result("the configuration is refused")],
      remedy: "Keep what is older in your database",
    },
    {
      subject: "Body of a request",
      value: "{requestBytesMax}",
      seen: [status(413)],
      remedy: "Send several requests",
    },
    {
      subject: "One broadcast or batch",
      value: "{requestChannelsMax} channels, {requestCommandsMax} commands",
      seen: [error("badRequest")],
      remedy: "Send several requests, or one to a channel that all of them subscribe to",
    },
    {
      subject: "Channels and users of one batch of a [queue](queue.md)",
      value: "{requestChannelsMax}",
      seen: [result("the other messages are delivered again")],
      remedy: "Nothing, or a smaller `max_batch_size`",
    },
    {
      subject: "Payload of a row of an [outbox](outbox.md)",
      value: "{rowBytesMax}",
      seen: [result("the row is set aside with the reason")],
      remedy: "Publish an address, or several rows",
    },
    {
      subject: "One answer with publications",
      value: "{answerBytesMax}",
      seen: [error("limitExceeded")],
      remedy: "Read pages, by `limit` and `since`",
    },
    {
      subject: "Wait for a channel that doesn't answer",
      value: "{objectAnswerMs}",
      seen: [status(503), [error("internal"), "for this channel if others answer"]],
      remedy: "Repeat the request after `Retry-After`, with the same `idempotency_key`",
    },
    {
      subject: "A request to many channels",
      value: "{requestAnswerMs}, {callsInFlightMax} channels at a time",
      seen: [
        [error("tooManyRequests"), "for channels not asked by then"],
        [status(503), "if none answered"],
      ],
      remedy: "Repeat it for those channels, or send smaller requests",
    },
    {
      subject: "Bytes by which all clients of an object are behind",
      value: "{backlogBytesMax}",
      seen: [status(503), [error("tooManyRequests"), "to a client"]],
      remedy: "Repeat after `Retry-After`; publish less, or lower `client.connection_limit`",
    },
    {
      subject: "Calls and publishes that wait for an object",
      value: "{waitingBytesMax}",
      seen: [status(503), error("tooManyRequests")],
      remedy: "Repeat after `Retry-After`; divide a channel that so much is published to",
    },
    {
      subject: "Gateways that follow one channel",
      value: "{relayGatewaysMax}",
      seen: [error("tooManyRequests")],
      remedy: "Raise `client.connection_limit`, or publish to several channels",
    },
    {
      subject: "Commands that a user's home keeps because objects don't answer",
      value: "{ordersKeptMax}",
      seen: [error("tooManyRequests")],
      remedy: "Repeat later",
    },
  ],
  "Hooks, maps and shared polls": [
    {
      subject: "Questions of an object to one backend ([hooks](hooks.md))",
      value:
        "{hooksInFlightMax} in flight; {hooksWaitingMax} or {hooksWaitingBytesMax} waiting, for {hookWaitMs}",
      seen: [error("tooManyRequests")],
      remedy: "Answer sooner, or decide by tokens and namespaces what needs no question",
    },
    {
      subject: "A backend's answer",
      value:
        "{hookAnswerBytesMax}, within the hook's `timeout`, which is at most {hookTimeoutMsMax}",
      seen: [error("internal")],
      remedy: "Answer less, and sooner: SDKs give up after 5 s",
    },
    {
      subject: "Headers of a connection that hooks get",
      value: "{hookHeadersLengthMax} characters",
      seen: [error("limitExceeded"), [status(413), "at the upgrade"]],
      remedy: "Name fewer in `http_headers`, without the whole `Cookie`",
    },
    {
      subject: "What a backend gives at the upgrade, for the connect",
      value:
        "{hookHandoverLengthMax} characters, encoded as a header: some 15 KiB, with `subs` 30 KiB",
      seen: [error("limitExceeded"), [status(413), "over HTTP"]],
      remedy: "Answer with a channel's name, and publish there what is large",
    },
    {
      subject: "Keys of one map, and the length of a key",
      value: "{mapKeysMax}; {mapKeyBytesMax}",
      seen: [error("limitExceeded"), [error("badRequest"), "for a longer key"]],
      remedy: "Set a `key_ttl`, or use several maps",
    },
    {
      subject: "A value that grows (`map_append`)",
      value: "{grownValueBytesMax}; {keyAppendsPerSecond} pieces a second",
      seen: [error("limitExceeded"), [error("tooManyRequests"), "for more pieces"]],
      remedy: "Begin another key; send several pieces in one",
    },
    {
      subject: "Keys of one channel that are polled",
      value: "{polledKeysMax}",
      seen: [error("limitExceeded")],
      remedy: "Use several channels",
    },
  ],
};

/** The names of the bounds whose values a row has. */
export function boundsIn({ value }: MetBound): readonly string[] {
  return Array.from(value.matchAll(/\{(\w+)\}/g), ([, name = ""]) => name);
}
