/** How a token may be signed (reference 5.3): with a secret, or for a public key. */
export type TokenAlgorithm = SecretAlgorithm | PublicKeyAlgorithm;
export type SecretAlgorithm = (typeof secretAlgorithms)[number];
export type PublicKeyAlgorithm = (typeof algorithmsByKey)[KeyKind][number];

/** What a public key is: its type, or its curve where the type has several. */
export type KeyKind = keyof typeof algorithmsByKey;

const secretAlgorithms = ["HS256", "HS384", "HS512"] as const;

/**
 * The key decides which algorithms there are for it, and no list holds algorithms of two kinds of key: so a public key,
 * which everybody knows, is never taken for a secret (rule A2).
 */
const algorithmsByKey = {
  RSA: ["RS256", "RS384", "RS512"],
  "P-256": ["ES256"],
  "P-384": ["ES384"],
  "P-521": ["ES512"],
  Ed25519: ["EdDSA"],
} as const;

/** Whether tokens signed in this way are verified with a secret. */
export function isSecretAlgorithm(algorithm: string): algorithm is SecretAlgorithm {
  return secretAlgorithms.some((one) => one === algorithm);
}

/** The algorithms whose signatures a key of this kind verifies. */
export function algorithmsOf(kind: KeyKind): readonly PublicKeyAlgorithm[] {
  return algorithmsByKey[kind];
}

/** The algorithm that a token's header names; undefined when it isn't exactly one of ours. */
export function parseTokenAlgorithm(name: unknown): TokenAlgorithm | undefined {
  return allAlgorithms.find((algorithm) => algorithm === name);
}

const allAlgorithms: readonly TokenAlgorithm[] = [
  ...secretAlgorithms,
  ...Object.values(algorithmsByKey).flat(),
];
