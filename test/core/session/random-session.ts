import * as fc from "fast-check";
import type { ConnectionClaims } from "../../../src/access/claims.ts";
import type {
  Cursor,
  DeliveryNote,
  SessionIdentity,
  SessionSnapshot,
  SubscriptionSnapshot,
} from "../../../src/contract/session-snapshot.ts";
import { json } from "../api/channel-config.ts";
import { filterNode } from "../protocol/any-filter.ts";

/** Objects as the code makes them: fast-check's own ones have no prototype. */
const plain = { noNullPrototype: true } as const;

/** Text as tokens and names have it: of one byte a character in an attachment, or of two. */
const anyText = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.constantFrom("__proto__", "zoë", "жж", "\u2028", "a\nb"),
);

const anyInfo = anyText.map((text) => json(JSON.stringify(text)));

const anyEnd = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 2 ** 40 }));

const anyClaims: fc.Arbitrary<ConnectionClaims> = fc.record(
  {
    user: anyText,
    expireAtSeconds: anyEnd,
    uid: anyText,
    issuedAtSeconds: anyEnd,
    info: anyInfo,
    capabilities: anyText,
  },
  { ...plain, requiredKeys: ["user", "expireAtSeconds"] },
);

/** Sense is nothing that a session looks for in it. */
const anyFilter = fc
  .array(anyText, { maxLength: 3 })
  .map((vals) => filterNode({ op: "not", nodes: [filterNode({ key: "k", cmp: "in", vals })] }));

const anyIdentity: fc.Arbitrary<SessionIdentity> = fc.record(
  {
    phase: fc.constantFrom("new", "connected", "refused", "closed"),
    client: fc.uuid(),
    openedAtMs: fc.nat(2 ** 45),
    keepalive: fc.constantFrom("client", "server"),
    claims: anyClaims,
    pingedAtMs: fc.nat(2 ** 45),
    noPongs: fc.constant(true as const),
    invalidated: fc.constant(true as const),
    awaitingPong: fc.boolean(),
    events: fc.constant(true as const),
    traceparent: fc.constant("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
    appName: fc.string({ unit: "binary", maxLength: 64 }),
    appVersion: fc.string({ unit: "binary", maxLength: 64 }),
  },
  { ...plain, requiredKeys: ["phase", "client", "openedAtMs", "keepalive"] },
);

const anyTokenStamp = fc.record(
  { issuedAtSeconds: anyEnd, uid: anyText },
  { ...plain, requiredKeys: ["issuedAtSeconds"] },
);

const anyGrant: fc.Arbitrary<SubscriptionSnapshot> = fc.record(
  {
    channel: fc.string({ unit: "binary-ascii", minLength: 1, maxLength: 255, size: "max" }),
    expireAtSeconds: anyEnd,
    present: fc.boolean(),
    announced: fc.boolean(),
    hearsJoinLeave: fc.boolean(),
    serverSide: fc.constant(true),
    sole: fc.constant(true),
    delta: fc.constant(true),
    byCapability: fc.constant(true),
    recoverable: fc.constant(true as const),
    positioned: fc.constant(true as const),
    chanInfo: anyInfo,
    filter: anyFilter,
    serverFilter: anyFilter,
  },
  {
    ...plain,
    requiredKeys: ["channel", "expireAtSeconds", "present", "announced", "hearsJoinLeave"],
  },
);

/** Some subscriptions are made with a token. */
/** Of a shared poll. */
const anyPoll = fc.record(
  { pollEpoch: fc.string({ maxLength: 20 }), tracks: fc.constant(true as const) },
  { ...plain, requiredKeys: ["pollEpoch"] },
);

const anySubscription: fc.Arbitrary<SubscriptionSnapshot> = fc
  .tuple(
    anyGrant,
    fc.option(anyTokenStamp, { nil: {} }),
    fc.oneof({ weight: 4, arbitrary: fc.constant({}) }, anyPoll),
  )
  .map(([grant, stamp, poll]) => Object.assign(grant, stamp, poll));

/** A cursor as a channel object gives it: an epoch of ours, an instance's first millisecond, and counts. */
const anyCursor: fc.Arbitrary<Cursor> = fc.record(
  {
    instance: fc.integer({ min: 0, max: 2 ** 45 }),
    sequence: fc.oneof(fc.nat(99), fc.maxSafeNat()),
    position: fc.record(
      {
        epoch: fc.stringMatching(/^[a-zA-Z]{8}$/),
        offset: fc.oneof(fc.nat(99), fc.maxSafeNat()),
      },
      plain,
    ),
  },
  { ...plain, requiredKeys: ["instance", "sequence"] },
);

const anyOffset = fc.oneof(fc.nat(99), fc.maxSafeNat());

/** A note of what has arrived. */
const anyNote: fc.Arbitrary<DeliveryNote> = fc.record(
  {
    epoch: fc.stringMatching(/^([a-zA-Z]{8})?$/),
    since: anyOffset,
    offset: anyOffset,
    atMs: fc.nat(2 ** 45),
    sent: anyOffset,
    recovered: fc.boolean(),
  },
  plain,
);

interface Entry {
  readonly subscription: SubscriptionSnapshot;
  readonly cursor?: Cursor;
  readonly note?: DeliveryNote;
}

const anyEntry: fc.Arbitrary<Entry> = fc.record(
  { subscription: anySubscription, cursor: anyCursor, note: anyNote },
  { ...plain, requiredKeys: ["subscription"] },
);

/** A session with at most so many subscriptions, some of which have to remember a cursor. */
export function anySnapshot(subscriptionsMax: number): fc.Arbitrary<SessionSnapshot> {
  const anyEntries = fc.uniqueArray(anyEntry, {
    maxLength: subscriptionsMax,
    selector: ({ subscription }) => subscription.channel,
    size: "max",
  });
  return fc.tuple(anyIdentity, anyEntries).map(snapshotOf);
}

function snapshotOf([identity, entries]: [SessionIdentity, readonly Entry[]]): SessionSnapshot {
  const cursors = new Map<string, Cursor>();
  const notes = new Map<string, DeliveryNote>();
  for (const { subscription, cursor, note } of entries) {
    if (cursor !== undefined) cursors.set(subscription.channel, cursor);
    if (note !== undefined) notes.set(subscription.channel, note);
  }
  const subscriptions = entries.map(({ subscription }) => subscription);
  return {
    ...identity,
    subscriptions,
    ...(cursors.size === 0 ? {} : { cursors }),
    ...(notes.size === 0 ? {} : { notes }),
  };
}
