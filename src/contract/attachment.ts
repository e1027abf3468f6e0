import type { ConnectionClaims, ServerSubscription } from "../access/claims.ts";
import { limits } from "../limits.ts";
import { isCodecName } from "../protocol/codecs.ts";
import type { FilterNode } from "../protocol/command.ts";
import type { JsonText } from "../protocol/json/text.ts";
import type {
  Cursor,
  SessionIdentity,
  SessionSnapshot,
  SubscriptionSnapshot,
} from "./session-snapshot.ts";

/**
 * What a socket carries of its session while the object sleeps. During a deploy the next release reads what this one wrote
 * and the other way round: fields are only added, and absent ones have a meaning (rule V1).
 */
export interface Attachment extends SessionIdentity {
  /** 2: the release before must not take it up, see {@link isForBoth}. It closes the socket, and the client comes back. */
  readonly v: 1 | 2;
  /** The only subscription there is. */
  readonly subscription?: SubscriptionSnapshot;
  /** All subscriptions, when there are several: JSON text, see {@link pack}. */
  readonly packed?: string;
  /** The text of `packed` lies in a row instead: it is too large to be here. */
  readonly stored?: true;
  /** What lies in the row are the subscriptions that the claims ask for, before connect; there are no others yet. */
  readonly wanted?: true;
  /** How far the gateway is with channels: each one's place among the subscriptions, epoch, offset, instance, number. */
  readonly kept?: readonly KeptTuple[];
}

type KeptTuple = readonly [number, string, number, number, number];

/** A session written down: what the socket carries, and what has to lie in a row. */
export interface WrittenSession {
  readonly attachment: Attachment;
  readonly row?: string;
}

/** Writes a session down. That it fits was asked before: {@link fitsAttachment} for whatever may grow. */
export function writeSession(snapshot: SessionSnapshot): WrittenSession {
  const { subscriptions, cursors: _, ...identity } = snapshot;
  const attachment: Attachment = {
    v: isForBoth(snapshot) ? 1 : 2,
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
  if (second === undefined && fitsInside(snapshot)) {
    return { attachment: { ...attachment, subscription: first } };
  }
  const packed = pack(subscriptions).text;
  return fitsInside(snapshot)
    ? { attachment: { ...attachment, packed } }
    : { attachment: { ...attachment, stored: true }, row: packed };
}

/**
 * Reads what {@link writeSession} wrote.
 *
 * @param row finds the session's row by the connection's ID; undefined when there is none
 * @returns undefined for what no release of ours wrote, or one too new to be understood
 */
export function parseAttachment(
  attachment: unknown,
  row: (client: string) => string | undefined = () => undefined,
): SessionSnapshot | undefined {
  const isObject = typeof attachment === "object" && attachment !== null;
  if (!isObject || !isAttachment(attachment)) return undefined;
  const { v: _, subscription, packed, stored, wanted, kept, ...identity } = attachment;
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
  return { ...identity, subscriptions, ...(cursors.size === 0 ? {} : { cursors }) };
}

/** A session that has yet to connect, with the subscriptions that its token asks the server for. */
function withWanted({ claims, ...identity }: SessionIdentity, text: string): SessionSnapshot {
  const wanted: readonly ServerSubscription[] = JSON.parse(text);
  const rest = claims ?? { user: "", expireAtSeconds: 0 };
  return { ...identity, claims: { ...rest, subscriptions: wanted }, subscriptions: [] };
}

/** Whether who the client is fits into what a socket carries; what doesn't is refused, never cut (rule B2). */
export function fitsAttachment(claims: ConnectionClaims | undefined): boolean {
  return claims === undefined || claimsBytes(claims) <= limits.sessionClaimsBytesMax;
}

/** Whether the subscriptions fit into what a session may have of a row. */
export function fitsRow(subscriptions: readonly SubscriptionSnapshot[]): boolean {
  return pack(subscriptions).bytes <= limits.sessionRowBytesMax;
}

/** Whether the subscriptions fit into the attachment, beside the claims. */
export function fitsInside({ claims, subscriptions }: SessionSnapshot): boolean {
  const { bytes } = pack(subscriptions);
  return bytes + keptBytesMax * subscriptions.length <= roomBytes(claims);
}

/** Whether so many positions fit into the attachment, wherever the subscriptions are. */
export function fitsCursors(claims: ConnectionClaims | undefined, count: number): boolean {
  return keptBytesMax * count <= roomBytes(claims);
}

/** The version vouches for the rest, but for codecs to come: only we write attachments. */
function isAttachment(attachment: object): attachment is Attachment {
  if (!("v" in attachment) || (attachment.v !== 1 && attachment.v !== 2)) return false;
  return !("codec" in attachment) || isCodecName(attachment.codec);
}

/**
 * Whether the release before this one would serve the session right. It knows JSON on a socket of the client's own, and
 * neither patches nor filters: what it would send to others ends their connection for good (rule V1).
 */
function isForBoth({ codec, secret, subscriptions }: SessionSnapshot): boolean {
  return (
    codec === undefined &&
    secret === undefined &&
    subscriptions.every(({ delta, filter }) => delta !== true && filter === undefined)
  );
}

/** Positions are a help, not a need: should claims have grown so that they don't fit, they are left out (rule L7). */
function keptTuples({ claims, subscriptions, cursors }: SessionSnapshot): {
  readonly kept?: readonly KeptTuple[];
} {
  if (cursors === undefined || cursors.size === 0 || !fitsCursors(claims, cursors.size)) return {};
  const tuples: KeptTuple[] = [];
  for (const [place, { channel }] of subscriptions.entries()) {
    const cursor = cursors.get(channel);
    if (cursor === undefined) continue;
    const { instance, sequence, position } = cursor;
    tuples.push([place, position?.epoch ?? "", position?.offset ?? 0, instance, sequence]);
  }
  return { kept: tuples };
}

function cursorOf([, epoch, offset, instance, sequence]: KeptTuple): Cursor {
  return epoch === ""
    ? { instance, sequence }
    : { instance, sequence, position: { epoch, offset } };
}

/**
 * Name, flags, end, what others are shown, and which publications are wanted, for each subscription. Null where something
 * follows what is absent.
 */
type PackedSubscription = readonly [string, number, number, (JsonText | null)?, FilterNode?];

/** All subscriptions as text, and what that takes in an attachment. */
interface Pack {
  readonly text: string;
  readonly bytes: number;
}

/**
 * Made anew only when a subscription comes or goes, though a session is written down with every ping and many a batch. A
 * few are made as fast as found, and to remember them for each of thousands of sessions takes memory.
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
  const text = JSON.stringify(
    subscriptions.map((subscription): PackedSubscription => {
      const { channel, expireAtSeconds, chanInfo, filter } = subscription;
      const flags = flagNames.reduce(
        (sum, name, index) => sum + (subscription[name] === true ? 2 ** index : 0),
        0,
      );
      if (filter !== undefined) return [channel, flags, expireAtSeconds, chanInfo ?? null, filter];
      return chanInfo === undefined
        ? [channel, flags, expireAtSeconds]
        : [channel, flags, expireAtSeconds, chanInfo];
    }),
  );
  return { text, bytes: textBytes(text) };
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
  filter,
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
    ...(chanInfo === null ? {} : { chanInfo }),
    ...(filter === undefined ? {} : { filter }),
  };
}

type FlagName = (typeof flagNames)[number];

/** Their order is what is written: only ever add at the end. */
const flagNames = [
  "present",
  "announced",
  "hearsJoinLeave",
  "serverSide",
  "sole",
  "delta",
] as const;

function roomBytes(claims: ConnectionClaims | undefined): number {
  const rest = claims === undefined ? 0 : claimsBytes(claims);
  return limits.attachmentBytesMax - identityBytes - rest;
}

/** Counted once where a token says much; who the user is, is soon counted, and as in {@link pack} not worth remembering. */
function claimsBytes(claims: ConnectionClaims): number {
  const { info, subscriptions } = claims;
  if (info === undefined && subscriptions === undefined) return textBytes(JSON.stringify(claims));
  const known = claimSizes.get(claims);
  if (known !== undefined) return known;
  const bytes = textBytes(JSON.stringify(claims));
  claimSizes.set(claims, bytes);
  return bytes;
}

const claimSizes = new WeakMap<ConnectionClaims, number>();

/** Attachments store Latin-1 text in one byte a character and other text in two. */
function textBytes(text: string): number {
  for (let index = 0; index < text.length; index++) {
    if (text.charCodeAt(index) > 255) return text.length * 2;
  }
  return text.length;
}

/** The fields of fixed size, with their names and what the platform adds to each. */
const identityBytes = 512;
/** One position: five values, an epoch of ours, and what the platform adds to each. */
const keptBytesMax = 64;
