import type {
  ClosedConnection,
  CallsToGateway,
  KnownPublication,
  TrailAnswer,
  SentFrame,
  SubscriptionNote,
  TracedConnection,
} from "./trail.ts";
import { type JsonText, trustedJsonText } from "../../protocol/json/text.ts";
import type { WhyQuestion } from "../../api/command.ts";
import {
  noteOnNobody,
  type Passage,
  callsTo,
  relative,
  type Verdict,
  verdictOn,
  verdictOnClosed,
} from "./verdict.ts";

/** The answers of the objects that were asked for the way of a publication. */
export interface AskedObjects {
  /** The channel's own object. */
  readonly own: TrailAnswer;
  /** The others, by their nodes; undefined for one that didn't answer in time. */
  readonly others: ReadonlyMap<string, TrailAnswer | undefined>;
  /** The nodes that the user's home has registered; undefined if it wasn't asked, because users have no homes. */
  readonly registered: ReadonlySet<string> | undefined;
  /** Whether some objects weren't asked, because there are too many, or the home didn't answer. */
  readonly isShort: boolean;
}

/** Writes the result of `why` (rule Y3). */
export function encodeWhy(question: WhyQuestion, asked: AskedObjects): JsonText {
  const { own, others } = asked;
  const publication = own.channel?.publication;
  const publishedAtMs = publication?.publishedAtMs;
  const answered = [own, ...others.values()].filter((one) => one !== undefined);
  const passages = answered.map((object) => ({
    offset: question.offset,
    publishedAtMs,
    object,
    calls: callsTo(object.node, own.channel),
  }));
  const connections = passages.flatMap((passage) => shownConnections(passage));
  // For a question about one client by its ID, the user's other connections prove nothing.
  const isRegistered = (node: string): boolean =>
    question.client === "" && asked.registered?.has(node) === true;
  const silent = [...others].filter(([, one]) => one === undefined).map(([node]) => node);
  const isIncomplete =
    asked.isShort || silent.length > 0 || answered.some(({ incomplete }) => incomplete === true);
  const { channel, offset, user, client } = question;
  return trustedJsonText(
    JSON.stringify({
      channel,
      offset,
      ...(user === "" ? {} : { user }),
      ...(client === "" ? {} : { client }),
      summary: summaryOf(question, asked, answered, connections),
      publication: shownPublication(question, own),
      objects: [
        ...passages.map((passage) => shownObject(passage, isRegistered(passage.object.node))),
        ...silent.map((object) => ({ object, state: "unknown" })),
      ],
      connections: connections.map(({ shown }) => shown),
      ...(isIncomplete ? { incomplete: true } : {}),
    }),
  );
}

/** The answer in sentences: whether the publication was sent, and what isn't known of it. */
function summaryOf(
  { offset, user }: WhyQuestion,
  { own, registered }: AskedObjects,
  answered: readonly TrailAnswer[],
  connections: readonly ShownConnection[],
): string {
  const { top, publication } = own.channel ?? {};
  const upTo = top?.offset ?? 0;
  if (offset > upTo)
    return `Nothing has been published at offset ${offset} yet: the newest offset is ${upTo}.`;
  const whose = user === "" ? "with this ID" : "of the user";
  const found =
    connections.length === 0
      ? nobodyFound(whose, answered, publication?.publishedAtMs)
      : `The publication ${reached(whose, connections)}.`;
  const gone = publication === undefined ? " The history doesn't have it any more." : "";
  const change = publication?.change;
  const since = change ? ` It was ${change.kind} since, by publication ${change.offset}.` : "";
  const home =
    registered === undefined && user !== ""
      ? " Only objects that follow the channel were asked: client.users.enabled is off."
      : "";
  return found + gone + since + home;
}

/** What became of the publication for the connections that are known. */
function reached(whose: string, connections: readonly ShownConnection[]): string {
  const { length } = connections;
  const parts = fates.flatMap((fate, index) => {
    const number = connections.filter(({ outcome }) => (fateOf[outcome] ?? 2) === index).length;
    return number === 0 ? [] : [{ fate, number }];
  });
  const texts = parts.map(({ fate, number }, index) => {
    if (index > 0) return `${fate} ${number}`;
    const all = fate.startsWith("was") ? `all ${length}` : `any of the ${length}`;
    const first = number < length ? `${number} of the ${length}` : length === 1 ? "the only" : all;
    return `${fate} ${first} known connection${length === 1 ? "" : "s"} ${whose}`;
  });
  return texts.join(", and ");
}

/** As sentences about the publication go on. */
const fates = ["was sent to", "is on its way to", "didn't get to", "may have been sent to"];
const fateOf: Partial<Readonly<Record<Verdict["outcome"], number>>> = {
  sent: 0,
  recovered: 0,
  had_it: 0,
  sending: 1,
  not_taken: 1,
  unknown: 3,
};

/** That no connection is known, and since when the objects remember those that ended. */
function nobodyFound(
  whose: string,
  answered: readonly TrailAnswer[],
  publishedAtMs: number | undefined,
): string {
  const nobody = `No connection ${whose} is known`;
  if (publishedAtMs === undefined) return `${nobody}.`;
  const sinceMs = Math.max(
    ...answered.map(({ closesSinceMs, awakeSinceMs }) => closesSinceMs ?? awakeSinceMs),
  );
  const since = relative(sinceMs, publishedAtMs);
  return `${nobody}: none is open, and those that ended are remembered since a time ${since}.`;
}

function shownPublication({ offset }: WhyQuestion, { channel }: TrailAnswer): object {
  const { top, publication } = channel ?? {};
  const isPublished = top !== undefined && offset <= top.offset;
  return {
    state: stateOf(isPublished, publication),
    ...(top === undefined ? {} : { epoch: top.epoch, top: top.offset }),
    ...(publication === undefined
      ? {}
      : {
          published_at_ms: publication.publishedAtMs,
          committed_at_ms: publication.committedAtMs,
          by: publication.by,
          ...(publication.isAppended === true ? { appended: true } : {}),
          ...(publication.change && { change: publication.change }),
        }),
  };
}

function stateOf(isPublished: boolean, publication: KnownPublication | undefined): string {
  if (!isPublished) return "not_published";
  if (publication === undefined) return "forgotten";
  return publication.stored === true ? "in_history" : "remembered";
}

function shownObject(passage: Passage, isRegistered: boolean): object {
  const { object, calls } = passage;
  const { position, frame, taken } = object;
  return {
    object: object.node,
    memory: {
      since_ms: object.awakeSinceMs,
      frames_since_ms: object.remembersSinceMs,
      subscriptions_since_ms: object.notesSinceMs,
      closes_since_ms: object.closesSinceMs,
    },
    subscribers: object.subscribers,
    offset: position?.offset,
    ...(calls === undefined ? {} : { told: shownCalls(calls) }),
    ...(taken === undefined
      ? {}
      : { taken_at_ms: taken.atMs, ...(taken.read === true ? { was_read: true } : {}) }),
    ...(frame === undefined ? {} : { frame: shownFrame(frame) }),
    ...(isRegistered ? { note: noteOnNobody(passage) } : {}),
  };
}

function shownCalls({ begunAtMs, attempts, endedAtMs, outcome }: CallsToGateway): object {
  return { begun_at_ms: begunAtMs, attempts, ended_at_ms: endedAtMs, outcome };
}

function shownFrame(frame: SentFrame): object {
  return {
    publications: frame.publications,
    begun_at_ms: frame.begunAtMs,
    sent_at_ms: frame.sentAtMs,
    subscribers: frame.subscribers,
    filtered: frame.filtered,
    left_out: frame.leftOut,
    slow: frame.slow,
  };
}

/** The connections on one object, first the open ones. */
function shownConnections(passage: Passage): readonly ShownConnection[] {
  const { connections, closes, node, notes } = passage.object;
  const eventsOf = (client: string) => notes.filter((note) => note.client === client);
  return [
    ...connections.map((one) =>
      shownConnection(one, node, eventsOf(one.client), verdictOn(one, passage)),
    ),
    ...closes.map((one) =>
      shownClosed(one, node, eventsOf(one.client), verdictOnClosed(one, passage)),
    ),
  ];
}

/** A connection as the answer has it, with what became of the publication there. */
interface ShownConnection {
  readonly outcome: Verdict["outcome"];
  readonly shown: object;
}

function shownConnection(
  connection: TracedConnection,
  object: string,
  notes: readonly SubscriptionNote[],
  { outcome, summary }: Verdict,
): ShownConnection {
  const { client, user, transport, protocol, openedAtMs, state, filter } = connection;
  const shown = {
    client,
    user,
    object,
    outcome,
    summary,
    state,
    transport,
    protocol,
    opened_at_ms: openedAtMs,
    subscription: connection.subscription,
    ...(filter === undefined ? {} : { filter: filter.replace("-", "_") }),
    backlog_bytes: connection.backlogBytes,
    events: notes.map(shownNote),
  };
  return { outcome, shown };
}

function shownClosed(
  closed: ClosedConnection,
  object: string,
  notes: readonly SubscriptionNote[],
  { outcome, summary }: Verdict,
): ShownConnection {
  const { client, user, openedAtMs, atMs, code, by } = closed;
  const shown = {
    client,
    user,
    object,
    outcome,
    summary,
    state: "closed",
    opened_at_ms: openedAtMs,
    closed_at_ms: atMs,
    code,
    by,
    events: notes.map(shownNote),
  };
  return { outcome, shown };
}

function shownNote(note: SubscriptionNote): object {
  return {
    event: note.event,
    at_ms: note.atMs,
    ...(note.event === "unsubscribed"
      ? { code: note.code }
      : {
          offset: note.position?.offset,
          since_offset: note.sinceOffset,
          recovered: note.recovered,
          publications: note.recoveredPublications,
        }),
  };
}
