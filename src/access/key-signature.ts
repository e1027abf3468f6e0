import { limits } from "../limits.ts";
import { hexadecimalBytes } from "../protocol/bytes.ts";

/**
 * The signature with which a backend lets a user track keys of a shared poll (docs/protocol.md 3.5): a text
 * `iat:exp:hex`, whose last part is an HMAC of the times, the user, the channel and the keys. Like a token it is verified
 * before its command reaches the session.
 */
export interface TrackSignature {
  /** As the text has them: the HMAC is of these characters. */
  readonly issuedAt: string;
  readonly expireAt: string;
  /** When it expires, seconds since 1970; 0 for never. */
  readonly expireAtSeconds: number;
  readonly hmac: Uint8Array<ArrayBuffer>;
}

/** Reads a signature; undefined if the text isn't one. */
export function parseTrackSignature(text: string): TrackSignature | undefined {
  const [, issuedAt, expireAt, hex] = signatureShape.exec(text) ?? [];
  if (issuedAt === undefined || expireAt === undefined || hex === undefined) return undefined;
  const hmac = hexadecimalBytes(hex);
  return { issuedAt, expireAt, expireAtSeconds: Number(expireAt), hmac };
}

/** 15 digits are a safe integer. */
const signatureShape = /^([0-9]{1,15}):([0-9]{1,15}):([0-9a-fA-F]{64})$/;

/**
 * The text that is signed.
 *
 * @param keysDigest the SHA-256 of {@link joinedKeys}, in lower-case hexadecimal
 */
export function signedText(
  { issuedAt, expireAt }: Pick<TrackSignature, "issuedAt" | "expireAt">,
  user: string,
  channel: string,
  keysDigest: string,
): string {
  return [issuedAt, expireAt, user, channel, keysDigest].join("\0");
}

/** The keys of a batch in the order of the request, as they are hashed. */
export function joinedKeys(keys: readonly string[]): string {
  return keys.join("\0");
}

/** The outcome of the check of a signature. */
export type TrackVerdict =
  | { readonly outcome: "verified"; readonly expireAtSeconds: number }
  | { readonly outcome: "expired" }
  | { readonly outcome: "invalid" }
  /** The user of the connection isn't known yet. */
  | { readonly outcome: "unavailable" };

/** The verdict on a signature that is authentic. */
export function trackVerdict({ expireAtSeconds }: TrackSignature, nowMs: number): TrackVerdict {
  const lastSeconds = expireAtSeconds + limits.trackGraceSeconds;
  return expireAtSeconds !== 0 && nowMs / 1_000 > lastSeconds
    ? { outcome: "expired" }
    : { outcome: "verified", expireAtSeconds };
}
