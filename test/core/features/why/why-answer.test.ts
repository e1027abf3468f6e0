import { describe, expect, it } from "vitest";
import { type AskedObjects, encodeWhy } from "../../../../src/features/why/why-answer.ts";
import type {
  ClosedConnection,
  KnownPublication,
  SubscriptionNote,
  TracedConnection,
  TrailAnswer,
} from "../../../../src/features/why/trail.ts";
import type { Verdict } from "../../../../src/features/why/verdict.ts";
import { at, frame, publishedAtMs } from "./sent-frame.ts";

/** A connection, open or ended, with what its object remembers of its subscription. */
interface Client {
  readonly open?: Partial<TracedConnection>;
  readonly closed?: Partial<ClosedConnection>;
  readonly notes?: readonly Partial<SubscriptionNote>[];
  /** What else its object says, which may not remember the frame. */
  readonly object?: Partial<TrailAnswer>;
  readonly isFrameless?: true;
}

const began = { event: "subscribed", position: at(4), atMs: publishedAtMs - 4_000 } as const;
const later = { event: "subscribed", position: at(5), atMs: publishedAtMs + 100 } as const;

/** One client for each outcome that docs/why.md lists, by what becomes of the publication in the headline. */
const clients: Readonly<Record<Verdict["outcome"], Client>> = {
  sent: { notes: [began] },
  recovered: { notes: [{ ...later, sinceOffset: 4, recovered: true }] },
  had_it: { notes: [{ ...later, sinceOffset: 5, recovered: true }] },
  sending: { notes: [began], object: { isSending: true }, isFrameless: true },
  not_taken: { notes: [began], object: { position: at(4) }, isFrameless: true },
  filtered: { notes: [began], open: { filter: "holds-back" } },
  not_recovered: { notes: [{ ...later, sinceOffset: 4, recovered: false }] },
  subscribed_later: { notes: [later] },
  not_subscribed: { open: { subscription: "none" } },
  unsubscribed: {
    open: { subscription: "none" },
    notes: [began, { event: "unsubscribed", code: 2_000, atMs: publishedAtMs - 9 }],
  },
  subscribing: { open: { subscription: "pending" } },
  connecting: { open: { state: "connecting", subscription: "none" } },
  connected_later: { open: { subscription: "none", openedAtMs: publishedAtMs + 1 } },
  closed_before: { closed: { atMs: publishedAtMs - 4_000 } },
  slow: {
    notes: [began],
    closed: { code: 3_008, atMs: publishedAtMs + 20 },
    object: { frame: { ...frame, slow: 1 } },
  },
  unknown: { notes: [began], isFrameless: true },
};

type Outcome = Verdict["outcome"];

/** The headline's words for the outcomes that aren't those of most. */
const verbs: Partial<Readonly<Record<Outcome, string>>> = {
  sent: "was sent to",
  recovered: "was sent to",
  had_it: "was sent to",
  sending: "is on its way to",
  not_taken: "is on its way to",
  unknown: "may have been sent to",
};

function trailOf(node: string, client: Client | undefined): TrailAnswer {
  const own = { client: node, user: "ada" };
  const open: TracedConnection = {
    ...own,
    transport: "websocket",
    protocol: "json",
    openedAtMs: publishedAtMs - 60_000,
    state: "connected",
    subscription: "begun",
    backlogBytes: 0,
    ...client?.open,
  };
  const ended: ClosedConnection = {
    ...own,
    openedAtMs: publishedAtMs - 60_000,
    atMs: publishedAtMs,
    code: 1_005,
    by: "client",
    hadConnected: true,
    ...client?.closed,
  };
  const notes = (client?.notes ?? []).map((note): SubscriptionNote =>
    Object.assign({ ...own, event: "subscribed", atMs: 0 }, note),
  );
  const subscribed = notes.findLast(({ event }) => event === "subscribed");
  const known = { node, awakeSinceMs: publishedAtMs - 9_000, subscribers: 1, position: at(5) };
  return {
    ...known,
    isSending: false,
    connections:
      client === undefined || client.closed !== undefined
        ? []
        : [{ ...open, ...(open.subscription === "begun" && subscribed && { subscribed }) }],
    closes: client?.closed === undefined ? [] : [ended],
    notes,
    ...(client?.isFrameless !== true && { frame }),
    ...client?.object,
  };
}

interface Asked {
  readonly offset?: number;
  readonly user?: string;
  readonly publication?: KnownPublication | undefined;
  readonly more?: Partial<AskedObjects>;
}

const remembered: KnownPublication = { publishedAtMs, by: { key: "API_KEY" } };

/** The answer about the clients with these outcomes, each on a gateway of its own. */
function answerOf(
  outcomes: readonly Outcome[],
  { offset = 5, user = "ada", more, ...asked }: Asked = {},
): { readonly summary: string; readonly outcomes: readonly string[] } {
  const publication = "publication" in asked ? asked.publication : remembered;
  const others = outcomes.map((outcome, index) => {
    const node = `gateway:eu/${index}`;
    return [node, trailOf(node, clients[outcome])] as const;
  });
  const own: TrailAnswer = {
    ...trailOf("channel:c", undefined),
    channel: {
      hasHistory: true,
      top: at(5),
      gateways: [],
      ...(publication && { publication }),
    },
  };
  const question = { method: "why", channel: "c", offset, user, client: user === "" ? "c" : "" };
  const objects = { own, others: new Map(others), registered: new Set<string>(), isShort: false };
  const answer: {
    readonly summary: string;
    readonly connections: readonly { readonly outcome: string }[];
  } = JSON.parse(encodeWhy({ ...question, method: "why" }, { ...objects, ...more }));
  return {
    summary: answer.summary,
    outcomes: answer.connections.map(({ outcome }) => outcome),
  };
}

function typedKeys(all: typeof clients): readonly Outcome[] {
  return Object.keys(all).filter((name): name is Outcome => name in all);
}

describe("the headline of why", () => {
  it.each(typedKeys(clients))(
    "[Y3] says in one sentence what is so of one client: %s",
    (outcome) => {
      const verb = verbs[outcome] ?? "didn't get to";
      expect(answerOf([outcome])).toStrictEqual({
        outcomes: [outcome],
        summary: `The publication ${verb} the only known connection of the user.`,
      });
    },
  );

  it.each([
    [["sent", "recovered"], "was sent to all 2 known connections of the user"],
    [["filtered", "slow"], "didn't get to any of the 2 known connections of the user"],
    [["unknown", "unknown"], "may have been sent to any of the 2 known connections of the user"],
    [
      ["filtered", "sent", "had_it"],
      "was sent to 2 of the 3 known connections of the user, and didn't get to 1",
    ],
    [
      ["unknown", "connecting", "sending", "sent"],
      "was sent to 1 of the 4 known connections of the user, and is on its way to 1, and didn't get to 1, and may have been sent to 1",
    ],
  ] satisfies readonly (readonly [readonly Outcome[], string])[])(
    "[Y3] counts clients: %j",
    (outcomes, text) => {
      expect(answerOf(outcomes).summary).toBe(`The publication ${text}.`);
    },
  );

  const since = "since a time 9 s before the publication";
  it.each([
    [
      "nobody",
      [],
      {},
      `No connection of the user is known: none is open, and those that ended are remembered ${since}.`,
    ],
    [
      "nobody with the ID",
      [],
      { user: "" },
      `No connection with this ID is known: none is open, and those that ended are remembered ${since}.`,
    ],
    [
      "nobody, of a publication that is forgotten",
      [],
      { publication: undefined },
      "No connection of the user is known. The history doesn't have it any more.",
    ],
    [
      "a client with an ID",
      ["sent"],
      { user: "" },
      "The publication was sent to the only known connection with this ID.",
    ],
    [
      "a publication that is forgotten",
      ["closed_before"],
      { publication: undefined },
      "The publication may have been sent to the only known connection of the user. The history doesn't have it any more.",
    ],
    [
      "a publication of which the object has slept since",
      ["sent"],
      { publication: { ...remembered, stored: true } },
      "The publication was sent to the only known connection of the user.",
    ],
    [
      "an offset that doesn't exist yet",
      ["sent"],
      { offset: 6 },
      "Nothing has been published at offset 6 yet: the newest offset is 5.",
    ],
    [
      "users without homes",
      ["sent"],
      { more: { registered: undefined } },
      "The publication was sent to the only known connection of the user. Only objects that follow the channel were asked: client.users.enabled is off.",
    ],
  ] satisfies readonly (readonly [string, readonly Outcome[], Asked, string])[])(
    "[Y3] [Y7] says what isn't known: %s",
    (_what, outcomes, asked, text) => {
      expect(answerOf(outcomes, asked).summary).toBe(text);
    },
  );
});
