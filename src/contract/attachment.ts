import {
  type ConnectionClaims,
  type ServerSubscription,
  withoutSubscriptions,
} from "../access/claims.ts";
import { limits } from "../limits.ts";
import { isCodecName } from "../protocol/codecs.ts";
import type { FilterNode } from "../protocol/command.ts";
import type { JsonText } from "../protocol/json/text.ts";
import type {
  Cursor,
  DeliveryNote,
  SessionIdentity,
  SessionSnapshot,
  SubscriptionSnapshot,
} from "./session-snapshot.ts";

/**
 * The state of a session that its socket carries while the object hibernates (rule S1). During a deploy the next
 * release reads what this one wrote, and the other way round: fields are only added, and the absence of an added field
 * has a meaning (rule V1). A session that is too large has its subscriptions in a row of the gateway (rule G2).
 */
export interface Attachment extends SessionIdentity {
  /**
   * A release that stores what the one before can't serve takes the next version for it. That one then closes the
   * socket, and the client comes back. 2: an onlooker's, whom that one would take for the user (rule N26), or one of a
   * client that speaks another protocol.
   */
  readonly v: 1 | 2;
  /** The subscription, if there is only one. */
  readonly subscription?: SubscriptionSnapshot;
  /** All subscriptions, if there are several: JSON text, see {@link pack}. */
  readonly packed?: string;
  /** The text of `packed` is in a row, because it is too large for the attachment. */
  readonly stored?: true;
  /** Before connect: the row holds the subscriptions that the claims name. There are no other subscriptions yet. */
  readonly wanted?: true;
  /** The session's cursors. */
  readonly kept?: readonly KeptTuple[];
  /**
   * What is noted of the subscriptions. Of each note it has the index of the channel among the subscriptions and the values,
   * with spaces between them, and semicolons between notes. Text is stored faster than values.
   */
  readonly noted?: string;
}

/**
 * A cursor: the index of its channel among the subscriptions, epoch, offset, instance and sequence. Without history the
 * epoch is "" and the offset 0.
 */
type KeptTuple = readonly [number, string, number, number, number];

/** A session as it is stored: in the socket's attachment, and in a row if the attachment says so. */
export interface WrittenSession {
  readonly attachment: Attachment;
  readonly row?: string;
}

/** Writes a session. Everything in it was checked before with {@link fitsAttachment} and its like. */
export function writeSession(snapshot: SessionSnapshot): WrittenSession {
  const { subscriptions, cursors: _, notes, ...identity } = snapshot;
  const attachment: Attachment = {
    v: identity.onlooker === true || identity.dialect !== undefined ? 2 : 1,
    ...identity,
    ...keptTuples(snapshot),
  };
  const { claims } = identity;
  if (claims?.subscriptions !== undefined && !fitsAttachment(claims)) {
    const { subscriptions: wanted, ...rest } = claims;
    return {
      attachment: { ...attachment, claims: rest, stored: true, wanted: true },
      row: JSON.stringify(wanted),
    };
  }
  const [first, second] = subscriptions;
  if (first === undefined) return { attachment };
  const room = roomFor(snapshot);
  const noted = notes && notedParts(snapshot, notes, room.leftBytes);
  if (second === undefined && room.isInside)
    return { attachment: { ...attachment, subscription: first, ...noted } };
  const packed = pack(subscriptions).text;
  return room.isInside
    ? { attachment: { ...attachment, packed, ...noted } }
    : { attachment: { ...attachment, stored: true, ...noted }, row: packed };
}

/**
 * Reads what {@link writeSession} wrote.
 *
 * @param row finds the session's row by the connection's ID; undefined if there is none
 * @returns undefined if the row is missing, or if no release wrote the attachment that this one can read
 */
export function parseAttachment(
  attachment: unknown,
  row: (client: string) => string | undefined = () => undefined,
): SessionSnapshot | undefined {
  const isObject = typeof attachment === "object" && attachment !== null;
  if (!isObject || !isAttachment(attachment)) return undefined;
  const { v: _, subscription, packed, stored, wanted, kept, noted, ...identity } = attachment;
  const text = stored === true ? row(identity.client) : packed;
  if (stored === true && text === undefined) return undefined;
  if (wanted === true && text !== undefined) return withWanted(identity, text);
  const one = subscription === undefined ? [] : [subscription];
  const subscriptions = text === undefined ? one : unpack(text);
  const cursors = new Map<string, Cursor>();
  for (const tuple of kept ?? []) {
    const channel = subscriptions[tuple[0]]?.channel;
    if (channel !== undefined) cursors.set(channel, cursorOf(tuple));
  }
  return {
    ...identity,
    subscriptions,
    ...(cursors.size === 0 ? {} : { cursors }),
    ...(noted && { notes: notesOf(subscriptions, noted) }),
  };
}

/** A session before connect, with the subscriptions that its token names. */
function withWanted({ claims, ...identity }: SessionIdentity, text: string): SessionSnapshot {
  const wanted: readonly ServerSubscription[] = JSON.parse(text);
  const rest = claims ?? { user: "", expireAtSeconds: 0 };
  return { ...identity, claims: { ...rest, subscriptions: wanted }, subscriptions: [] };
}

/**
 * Whether a session with these claims fits into an attachment. Larger claims are refused, never truncated (rule B2).
 */
export function fitsAttachment(claims: ConnectionClaims | undefined): boolean {
  return claims === undefined || claimsBytes(claims) <= limits.sessionClaimsBytesMax;
}

/** Whether the subscriptions fit into a session's row. */
export function fitsRow(subscriptions: readonly SubscriptionSnapshot[]): boolean {
  return pack(subscriptions).bytes <= limits.sessionRowBytesMax;
}

/** Whether the subscriptions fit into the attachment, beside the claims. */
export function fitsInside(snapshot: SessionSnapshot): boolean {
  return roomFor(snapshot).isInside;
}

/** Whether the subscriptions fit into the attachment, and the bytes that are left beside them and all cursors. */
function roomFor(snapshot: SessionSnapshot): {
  readonly isInside: boolean;
  readonly leftBytes: number;
} {
  const { subscriptions } = snapshot;
  const { bytes } = pack(subscriptions);
  const leftBytes = roomBytes(snapshot) - keptBytesMax * subscriptions.length;
  const isInside = bytes <= leftBytes;
  return { isInside, leftBytes: isInside ? leftBytes - bytes : leftBytes };
}

/** Whether so many cursors fit into the attachment, beside the claims and wherever the subscriptions are. */
export function fitsCursors(identity: LargeParts, count: number): boolean {
  return keptBytesMax * count <= roomBytes(identity);
}

/**
 * Whether what a backend gave at the upgrade fits into the attachment until the client's connect comes (rule Q14). The
 * subscriptions in the claims may be stored in a row.
 */
export function fitsUntilConnect(identity: LargeParts): boolean {
  const { claims } = identity;
  const isLarge = claims?.subscriptions !== undefined && !fitsAttachment(claims);
  // Larger claims are stored without their subscriptions, or refused.
  const left = roomBytes(
    isLarge ? { ...identity, claims: withoutSubscriptions(claims) } : identity,
  );
  return left >= 0;
}

/** The name of the field `dialect`, as it is stored. */
const dialectBytes = 16;

/** The parts of an identity that may be large. */
type LargeParts = Pick<
  SessionIdentity,
  "claims" | "headers" | "traceparent" | "atUpgrade" | "dialect"
>;

/**
 * Checks the version, and the codec, which may be one of a later release. Only releases of Dormouse write attachments.
 */
function isAttachment(attachment: object): attachment is Attachment {
  const version = "onlooker" in attachment || "dialect" in attachment ? 2 : 1;
  if (!("v" in attachment) || attachment.v !== version) return false;
  return !("codec" in attachment) || isCodecName(attachment.codec);
}

/**
 * Cursors can be done without: if the claims have grown and cursors don't fit any more, they are left out (rule L7).
 */
function keptTuples(snapshot: SessionSnapshot): { readonly kept?: readonly KeptTuple[] } {
  const { subscriptions, cursors } = snapshot;
  if (cursors === undefined || cursors.size === 0 || !fitsCursors(snapshot, cursors.size))
    return {};
  const tuples: KeptTuple[] = [];
  for (const [place, { channel }] of subscriptions.entries()) {
    const cursor = cursors.get(channel);
    if (cursor === undefined) continue;
    const { instance, sequence, position } = cursor;
    tuples.push([place, position?.epoch ?? "", position?.offset ?? 0, instance, sequence]);
  }
  return { kept: tuples };
}

/** As many notes as there is room for beside everything else: what isn't noted is only not known. */
function notedParts(
  { subscriptions }: SessionSnapshot,
  notes: ReadonlyMap<string, DeliveryNote>,
  mostBytes: number,
): { readonly noted?: string } {
  let noted = "";
  let leftBytes = mostBytes;
  for (const [place, { channel }] of subscriptions.entries()) {
    const note = notes.get(channel);
    if (note === undefined) continue;
    const text = textOfNote(note);
    leftBytes -= text.length + notedBytes;
    if (leftBytes < 0) break;
    noted += noted === "" ? `${place} ${text}` : `;${place} ${text}`;
  }
  return noted === "" ? {} : { noted };
}

/** The text is cached: of most notes it is stored with several pings. */
function textOfNote(note: DeliveryNote): string {
  const known = noteTexts.get(note);
  if (known !== undefined) return known;
  const { epoch, since, offset, atMs, sent, recovered } = note;
  const text = `${since} ${offset} ${atMs} ${sent} ${recovered ? 1 : 0} ${epoch}`;
  noteTexts.set(note, text);
  return text;
}

const noteTexts = new WeakMap<DeliveryNote, string>();

function notesOf(
  subscriptions: readonly SubscriptionSnapshot[],
  noted: string,
): ReadonlyMap<string, DeliveryNote> {
  const notes = new Map<string, DeliveryNote>();
  for (const text of noted.split(";")) {
    const [place, since, offset, atMs, sent, recovered, epoch = ""] = text.split(" ");
    const channel = subscriptions[Number(place)]?.channel;
    if (channel === undefined) continue;
    notes.set(channel, {
      epoch,
      since: Number(since),
      offset: Number(offset),
      atMs: Number(atMs),
      sent: Number(sent),
      recovered: recovered === "1",
    });
  }
  return notes;
}

function cursorOf([, epoch, offset, instance, sequence]: KeptTuple): Cursor {
  return epoch === ""
    ? { instance, sequence }
    : { instance, sequence, position: { epoch, offset } };
}

/**
 * The channel's name, flags, expiry, channel info, tags filter and server's tags filter of a subscription, the `iat`
 * and `jti` of its token, and the epoch of a shared poll. An absent value is null if another value follows.
 */
type PackedSubscription = readonly [
  string,
  number,
  number,
  (JsonText | null)?,
  (FilterNode | null)?,
  (FilterNode | null)?,
  (number | null)?,
  (string | null)?,
  string?,
];

/** All subscriptions as text, and the bytes that the text takes in an attachment. */
interface Pack {
  readonly text: string;
  readonly bytes: number;
}

/**
 * Packs subscriptions. A session is written with every ping and with many batches, so the pack is cached until one of
 * the subscriptions changes. A few are packed as fast as they are found in the cache, and caching them for each of
 * thousands of sessions would take memory.
 */
function pack(subscriptions: readonly SubscriptionSnapshot[]): Pack {
  if (subscriptions.length <= packedAnewMax) return newPack(subscriptions);
  const known = packs.get(subscriptions);
  if (known !== undefined) return known;
  const packed = newPack(subscriptions);
  packs.set(subscriptions, packed);
  return packed;
}

function newPack(subscriptions: readonly SubscriptionSnapshot[]): Pack {
  const text = JSON.stringify(subscriptions.map(packOne));
  return { text, bytes: storedBytes(text) };
}

function packOne(subscription: SubscriptionSnapshot): PackedSubscription {
  const { channel, expireAtSeconds, chanInfo, filter, serverFilter, issuedAtSeconds, uid } =
    subscription;
  const { pollEpoch } = subscription;
  const flags = flagNames.reduce(
    (sum, name, index) => sum + (subscription[name] === true ? 2 ** index : 0),
    0,
  );
  const first = [channel, flags, expireAtSeconds] as const;
  const [info, own, server] = [chanInfo ?? null, filter ?? null, serverFilter ?? null];
  if (pollEpoch !== undefined)
    return [...first, info, own, server, issuedAtSeconds ?? null, uid ?? null, pollEpoch];
  if (uid !== undefined) return [...first, info, own, server, issuedAtSeconds ?? 0, uid];
  if (issuedAtSeconds !== undefined) return [...first, info, own, server, issuedAtSeconds];
  if (serverFilter !== undefined) return [...first, info, own, server];
  if (filter !== undefined) return [...first, info, own];
  return chanInfo === undefined ? first : [...first, info];
}

const packedAnewMax = 2;

const packs = new WeakMap<readonly SubscriptionSnapshot[], Pack>();

function unpack(text: string): readonly SubscriptionSnapshot[] {
  const packed: readonly PackedSubscription[] = JSON.parse(text);
  return packed.map(unpackOne);
}

function unpackOne([
  channel,
  flags,
  expireAtSeconds,
  chanInfo = null,
  filter = null,
  serverFilter = null,
  issuedAtSeconds = null,
  uid = null,
  pollEpoch,
]: PackedSubscription): SubscriptionSnapshot {
  const isSet = (name: FlagName): boolean =>
    Math.floor(flags / 2 ** flagNames.indexOf(name)) % 2 === 1;
  return {
    channel,
    expireAtSeconds,
    present: isSet("present"),
    announced: isSet("announced"),
    hearsJoinLeave: isSet("hearsJoinLeave"),
    ...(isSet("serverSide") ? { serverSide: true } : {}),
    ...(isSet("sole") ? { sole: true } : {}),
    ...(isSet("delta") ? { delta: true } : {}),
    ...(isSet("byCapability") ? { byCapability: true } : {}),
    ...(isSet("ordered") ? { ordered: true } : {}),
    ...(isSet("recoverable") ? { recoverable: true } : {}),
    ...(isSet("positioned") ? { positioned: true } : {}),
    ...(isSet("serverRefresh") ? { serverRefresh: true } : {}),
    ...(chanInfo === null ? {} : { chanInfo }),
    ...(filter === null ? {} : { filter }),
    ...(serverFilter === null ? {} : { serverFilter }),
    ...(isSet("tracks") ? { tracks: true } : {}),
    ...(isSet("hidden") ? { hidden: true } : {}),
    ...(issuedAtSeconds === null ? {} : { issuedAtSeconds }),
    ...(uid === null ? {} : { uid }),
    ...(pollEpoch === undefined ? {} : { pollEpoch }),
  };
}

type FlagName = (typeof flagNames)[number];

/** The index of a name is its bit in the stored flags, so names are only ever added at the end (rule V1). */
const flagNames = [
  "present",
  "announced",
  "hearsJoinLeave",
  "serverSide",
  "sole",
  "delta",
  "byCapability",
  "ordered",
  "recoverable",
  "positioned",
  "serverRefresh",
  "tracks",
  "hidden",
] as const;

function roomBytes({ claims, headers, traceparent, atUpgrade, dialect }: LargeParts): number {
  const rest = claims === undefined ? 0 : claimsBytes(claims);
  // Few connections have headers, and these change once.
  const kept = headers === undefined ? 0 : storedBytes(JSON.stringify(headers));
  const trace = traceparent === undefined ? 0 : traceBytes;
  const { data = "" } = atUpgrade ?? {};
  const kind = dialect === undefined ? 0 : storedBytes(dialect) + dialectBytes;
  return limits.attachmentBytesMax - identityBytes - rest - kept - trace - storedBytes(data) - kind;
}

/** A traceparent of version 00, with the name of its field. */
const traceBytes = 80;

/**
 * The size of large claims is cached. Claims with a user only are counted quickly, and as in {@link pack} not cached.
 */
function claimsBytes(claims: ConnectionClaims): number {
  const { info, capabilities, meta, subscriptions } = claims;
  if ((info ?? capabilities ?? meta ?? subscriptions) === undefined)
    return storedBytes(JSON.stringify(claims));
  const known = claimSizes.get(claims);
  if (known !== undefined) return known;
  const bytes = storedBytes(JSON.stringify(claims));
  claimSizes.set(claims, bytes);
  return bytes;
}

const claimSizes = new WeakMap<ConnectionClaims, number>();

/** The platform stores Latin-1 text in one byte per character and other text in two. */
function storedBytes(text: string): number {
  for (let index = 0; index < text.length; index++) {
    if (text.charCodeAt(index) > 255) return text.length * 2;
  }
  return text.length;
}

/**
 * All fields of fixed size, with their names and the platform's overhead. A long name of the application, and the ID of an
 * anonymous connection, fit into what `limits.attachmentBytesMax` leaves of the platform's limit: at most 350 bytes more.
 */
const identityBytes = 512;
/** One cursor: five values, one of them an epoch of 8 characters, and the platform's overhead. */
const keptBytesMax = 64;
/** The index of a note, and what parts it from the next one. */
const notedBytes = 10;
