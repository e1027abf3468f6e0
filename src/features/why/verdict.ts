import { gatewayNode } from "../../contract/object-names.ts";
import { disconnectCodes, unsubscribeCodes } from "../../protocol/codes.ts";
import type {
  ChannelTrail,
  ClosedConnection,
  CallsToGateway,
  TrailAnswer,
  SubscriptionNote,
  TracedConnection,
} from "./trail.ts";

/** The outcome of a publication for one connection, in a word and in a sentence (rule Y3). */
export interface Verdict {
  readonly outcome: Outcome;
  readonly summary: string;
}

/** The words of a verdict; docs/why.md explains them. */
type Outcome =
  /** Handed to the socket. */
  | "sent"
  /** Part of the subscribe reply, or before the position that the client gave. */
  | "recovered"
  | "had_it"
  /** On its way. */
  | "sending"
  | "not_taken"
  /** Left out. */
  | "filtered"
  | "not_recovered"
  | "subscribed_later"
  | "not_subscribed"
  | "unsubscribed"
  | "subscribing"
  | "connecting"
  | "connected_later"
  | "closed_before"
  | "slow"
  | "unknown";

/** The publication on its way through one object. */
export interface Passage {
  readonly offset: number;
  /** When it came, ms since 1970; undefined if that isn't known. */
  readonly publishedAtMs: number | undefined;
  readonly object: TrailAnswer;
  /** The batch that brought it to a gateway; undefined for the channel's own object, and if it isn't remembered. */
  readonly calls: CallsToGateway | undefined;
}

/** Decides on the outcome of the publication for an open connection. */
export function verdictOn(connection: TracedConnection, passage: Passage): Verdict {
  const who = `client ${connection.client}`;
  const notes = passage.object.notes.filter(({ client }) => client === connection.client);
  const earlier = subscribedThen(notes, passage);
  if (earlier === undefined && connection.subscription !== "begun")
    return withoutSubscription(who, connection, notes, passage);
  const last = earlier ?? connection.subscribed;
  const began = beginning(who, last, passage);
  if (began !== undefined) return began;
  const verdict = passed(who, connection.filter, last, passage);
  const { backlogBytes } = connection;
  if (backlogBytes === 0 || verdict.outcome !== "sent") return verdict;
  const summary = `${verdict.summary}; the client hasn't taken ${backlogBytes} bytes of what it was sent yet`;
  return { ...verdict, summary };
}

/** Decides on the outcome of the publication for a connection that has ended. */
export function verdictOnClosed(closed: ClosedConnection, passage: Passage): Verdict {
  const { client, code, by, atMs, openedAtMs } = closed;
  const { publishedAtMs, object } = passage;
  const who = `client ${client}`;
  const ended = `${by === "server" ? "was closed" : "left"} with code ${code}${reasonOf(code)},`;
  const when = relative(atMs, publishedAtMs);
  const end = `${who} ${ended} ${when}`;
  if (publishedAtMs === undefined)
    return { outcome: "unknown", summary: `${end}; when the publication came isn't known` };
  if (atMs < publishedAtMs)
    return { outcome: "closed_before", summary: `wasn't connected: ${end}` };
  const notes = object.notes.filter((note) => note.client === client);
  const then = subscribedThen(notes, passage);
  if (then === undefined) {
    const last = notes.findLast(({ event }) => event === "subscribed");
    const began = beginning(who, last, passage);
    if (began !== undefined) return { ...began, summary: `${began.summary}; it ${ended} ${when}` };
    if (openedAtMs > publishedAtMs) {
      const opened = `${who} opened its connection ${relative(openedAtMs, publishedAtMs)}`;
      return { outcome: "connected_later", summary: `${opened}; it ${ended} ${when}` };
    }
    return isForgotten(notes, passage)
      ? { outcome: "unknown", summary: `${end}; its subscriptions aren't remembered` }
      : {
          outcome: "not_subscribed",
          summary: `${who} wasn't subscribed then; it ${ended} ${when}`,
        };
  }
  const { frame } = object;
  if (code === slowCode && (frame === undefined || frame.slow > 0))
    return { outcome: "slow", summary: `${end}, because it hadn't taken what it was sent before` };
  if (frame === undefined || frame.begunAtMs > atMs)
    return {
      outcome: "closed_before",
      summary: `${end}, and no frame with it is known to have begun before`,
    };
  const sent = relative(frame.begunAtMs, publishedAtMs);
  return {
    outcome: "sent",
    summary: `the publication was handed to the socket of ${who} ${sent}, unless a filter held it back; it ${ended} ${when}`,
  };
}

/**
 * What is known of a user of whom an object has had connections, and remembers none; undefined if it remembers some.
 * Connections survive the sleep of their object, and end without a trace when it crashes.
 */
export function noteOnNobody({ object, publishedAtMs }: Passage): string | undefined {
  const { node, connections, closes, awakeSinceMs, closesSinceMs = awakeSinceMs } = object;
  if (connections.length > 0 || closes.length > 0) return undefined;
  const since = `${node} has had connections of the user, and`;
  const when = relative(closesSinceMs, publishedAtMs);
  if (publishedAtMs !== undefined && closesSinceMs < publishedAtMs)
    return `${since} none since it began to remember, ${when}`;
  return awakeSinceMs === closesSinceMs
    ? `${since} none since it started anew, ${when}: those of before were lost with its last instance, when it crashed, or had ended before it slept`
    : `${since} has forgotten all that ended before a time that is ${when}`;
}

/** Why a connection without a subscription to the channel wasn't sent the publication. */
function withoutSubscription(
  who: string,
  { state, subscription, openedAtMs }: TracedConnection,
  notes: readonly SubscriptionNote[],
  passage: Passage,
): Verdict {
  const { publishedAtMs } = passage;
  if (state === "connecting")
    return { outcome: "connecting", summary: `the connect of ${who} hasn't been answered` };
  if (subscription === "pending")
    return { outcome: "subscribing", summary: `the subscribe of ${who} hasn't been answered` };
  if (publishedAtMs !== undefined && openedAtMs > publishedAtMs && notes.length === 0) {
    const opened = `${who} opened its connection ${relative(openedAtMs, publishedAtMs)}`;
    const summary = `${opened}, and isn't subscribed to the channel`;
    return { outcome: "connected_later", summary };
  }
  return notSubscribed(who, notes, passage);
}

/** A subscription that had begun before the publication, and had not ended when its frame began. */
function subscribedThen(
  notes: readonly SubscriptionNote[],
  { offset, object, publishedAtMs }: Passage,
): SubscriptionNote | undefined {
  const untilMs = object.frame?.begunAtMs ?? publishedAtMs ?? Number.POSITIVE_INFINITY;
  let current: SubscriptionNote | undefined;
  for (const note of notes) {
    const { event, position, atMs } = note;
    if (event === "unsubscribed") {
      if (atMs < untilMs) current = undefined;
    } else if (position === undefined ? atMs <= (publishedAtMs ?? 0) : position.offset < offset)
      current = note;
  }
  return current;
}

/** Whether the object may have known of a subscription then, and doesn't any more. */
function isForgotten(
  notes: readonly SubscriptionNote[],
  { object, publishedAtMs }: Passage,
): boolean {
  if (notes.length > 0) return false;
  const sinceMs = object.notesSinceMs ?? object.awakeSinceMs;
  return (
    publishedAtMs === undefined || sinceMs > publishedAtMs || object.notesSinceMs !== undefined
  );
}

function notSubscribed(who: string, notes: readonly SubscriptionNote[], passage: Passage): Verdict {
  const last = notes.at(-1);
  if (last?.event !== "unsubscribed") {
    return {
      outcome: "not_subscribed",
      summary: `${who} is connected and not subscribed to the channel`,
    };
  }
  const when = relative(last.atMs, passage.publishedAtMs);
  switch (last.code ?? 0) {
    case 0:
      return { outcome: "unsubscribed", summary: `${who} unsubscribed ${when}` };
    case insufficientStateCode:
      return {
        outcome: "unsubscribed",
        summary: `the subscription of ${who} was ended with code 2500, ${when}: publications that its object had missed couldn't be read; the client subscribes again and recovers`,
      };
    default:
      return {
        outcome: "unsubscribed",
        summary: `the subscription of ${who} was ended with code ${last.code}, ${when}`,
      };
  }
}

/** The verdict where the subscription began at or after the publication; undefined where it began before. */
function beginning(
  who: string,
  last: SubscriptionNote | undefined,
  { offset, publishedAtMs }: Passage,
): Verdict | undefined {
  if (last === undefined) return undefined;
  const { position, atMs, sinceOffset, recovered, recoveredPublications } = last;
  const when = relative(atMs, publishedAtMs);
  if (position === undefined)
    return publishedAtMs === undefined || atMs <= publishedAtMs
      ? undefined
      : { outcome: "subscribed_later", summary: `${who} subscribed ${when}` };
  if (position.offset < offset) return undefined;
  const from = `after offset ${position.offset}`;
  if (sinceOffset === undefined)
    return {
      outcome: "subscribed_later",
      summary: `${who} subscribed ${when}, ${from}, and asked for no recovery`,
    };
  const asked = `${who} subscribed ${when} and asked to recover after offset ${sinceOffset}`;
  if (recovered !== true)
    return {
      outcome: "not_recovered",
      summary: `${asked}: it was told "recovered": false, and began ${from}`,
    };
  return sinceOffset >= offset
    ? { outcome: "had_it", summary: `${asked}: it had this publication` }
    : {
        outcome: "recovered",
        summary: `${asked}: the publication was in the reply, one of ${recoveredPublications ?? 0}, unless a filter held it back`,
      };
}

/** The verdict where the subscription began before the publication. */
function passed(
  who: string,
  filter: TracedConnection["filter"],
  last: SubscriptionNote | undefined,
  passage: Passage,
): Verdict {
  const { object, offset, publishedAtMs, calls } = passage;
  const { frame, position } = object;
  const since =
    last === undefined
      ? `${who} is subscribed since before its object began to remember`
      : `${who} was subscribed ${relative(last.atMs, publishedAtMs)}`;
  if (filter === "holds-back")
    return { outcome: "filtered", summary: `${since}; its tags filter holds the publication back` };
  if (position !== undefined && position.offset < offset)
    return {
      outcome: "not_taken",
      summary: `${since}; ${object.node} is at offset ${position.offset} only${callsText(calls, publishedAtMs)}`,
    };
  const unlessFiltered =
    filter === "unknown"
      ? ", unless its tags filter held it back: the tags aren't known any more"
      : "";
  if (frame === undefined) {
    if (object.isSending)
      return {
        outcome: "sending",
        summary: `${since}; the publication waits to be sent${unlessFiltered}`,
      };
    const upTo =
      position === undefined
        ? ""
        : `, and everything up to offset ${position.offset} has been sent`;
    return {
      outcome: "unknown",
      summary: `${since}; ${object.node} doesn't remember the frame${upTo}${unlessFiltered}`,
    };
  }
  if (frame.sentAtMs === undefined)
    return {
      outcome: "sending",
      summary: `${since}; its frame began ${relative(frame.begunAtMs, publishedAtMs)} and is on its way${unlessFiltered}`,
    };
  // A subscription of which no note is left began before that.
  const isSure = last !== undefined || (object.notesSinceMs ?? 0) <= frame.begunAtMs;
  const when = relative(frame.begunAtMs, publishedAtMs);
  if (!isSure)
    return { outcome: "unknown", summary: `${since}; its object sent the frame ${when}` };
  const woke = wakingText(object, publishedAtMs);
  return {
    outcome: "sent",
    summary: `${since}${woke}; the publication was handed to its socket ${when}${unlessFiltered}`,
  };
}

/** That the object woke for the publication, if it did. */
function wakingText({ awakeSinceMs }: TrailAnswer, publishedAtMs: number | undefined): string {
  return publishedAtMs === undefined || awakeSinceMs <= publishedAtMs
    ? ""
    : `; its object woke ${relative(awakeSinceMs, publishedAtMs)}`;
}

function callsText(calls: CallsToGateway | undefined, publishedAtMs: number | undefined): string {
  if (calls === undefined) return "";
  const { attempts, begunAtMs, outcome } = calls;
  const number = attempts === 1 ? "a call" : `${attempts} calls, the first`;
  const end = outcome === undefined ? "hasn't been answered" : `ended: ${outcome}`;
  return `: ${number} began ${relative(begunAtMs, publishedAtMs)} and ${end}`;
}

/** The calls to a gateway with the publication, as the channel's object knows them. */
export function callsTo(
  node: string,
  channel: ChannelTrail | undefined,
): CallsToGateway | undefined {
  return channel?.gateways.find(({ name }) => gatewayNode(name) === node)?.told;
}

/** A time, as seen from the publication, where it is known when that came: "4 s before the publication". */
export function relative(timeMs: number, publishedAtMs: number | undefined): string {
  if (publishedAtMs === undefined) return "at some time";
  const ms = timeMs - publishedAtMs;
  if (ms === 0) return "in the millisecond of the publication";
  return `${duration(Math.abs(ms))} ${ms < 0 ? "before" : "after"} the publication`;
}

function duration(ms: number): string {
  if (ms < 2_000) return `${ms} ms`;
  if (ms < 120_000) return `${Math.round(ms / 1_000)} s`;
  return ms < 7_200_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 3_600_000)} h`;
}

const insufficientStateCode = unsubscribeCodes.insufficientState.code;
const slowCode = disconnectCodes.slow.code;

/** The reason of a close code as clients get it, in parentheses; "" for a code of the backend's own. */
function reasonOf(code: number): string {
  const known = Object.values(disconnectCodes).find((one) => one.code === code);
  return known === undefined ? "" : ` (${known.reason})`;
}
