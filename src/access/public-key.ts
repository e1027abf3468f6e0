import type { KeyKind } from "./keys.ts";

/** A public key that the operator configured: SPKI in PEM. That it can be used shows only when it first is. */
export interface PublicKey {
  readonly kind: KeyKind;
  readonly pem: string;
}

/**
 * Recognises a public key in PEM by its armour and by what its first bytes say it is (RFC 5280 section 4.1.2.7).
 *
 * @returns undefined for everything else: private keys, certificates, PKCS #1 keys, keys of other kinds
 */
export function parsePublicKey(text: string): PublicKey | undefined {
  const pem = text.trim();
  const base64 = armour.exec(pem)?.[1]?.replaceAll(/\s/g, "");
  const bytes = base64 === undefined ? undefined : decodeBase64(base64);
  if (bytes === undefined || bytes.charCodeAt(0) !== sequence) return undefined;
  // One byte of length, or one that says how many follow.
  const length = bytes.charCodeAt(1);
  const identifier = bytes.slice(2 + (length < 0x80 ? 0 : length - 0x80));
  const kind = kinds.find(([, start]) => identifier.startsWith(start))?.[0];
  return kind === undefined ? undefined : { kind, pem };
}

function decodeBase64(text: string): string | undefined {
  try {
    return atob(text);
  } catch {
    return undefined; // Its only error says that the text is no base64.
  }
}

const armour = /^-----BEGIN PUBLIC KEY-----\s([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----$/;
const sequence = 0x30;

/** The algorithm identifiers of RFC 3279, RFC 5480 and RFC 8410 in DER, which has one form for each. */
const kinds: readonly (readonly [KeyKind, string])[] = [
  ["RSA", "\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00"],
  ["P-256", "\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07"],
  ["P-384", "\x30\x10\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x05\x2b\x81\x04\x00\x22"],
  ["P-521", "\x30\x10\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x05\x2b\x81\x04\x00\x23"],
  ["Ed25519", "\x30\x05\x06\x03\x2b\x65\x70"],
];
