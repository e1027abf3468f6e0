/** Tokens for clients, signed by a backend in JavaScript. */
import { SignJWT } from "jose";

/** Who connects, and what a connection token may say. */
export interface ConnectionTokenOptions {
  /** "" for an anonymous connection. */
  readonly user: string;
  /** `TOKEN_HMAC_SECRET_KEY` of the server. */
  readonly secret: string;
  /** For how long the token is valid, in seconds; absent: for ever. A client with an expiring token needs `getToken`. */
  readonly expiresInSeconds?: number;
  /** The token's name, by which it may be revoked. */
  readonly id?: string;
  /** Shown to others beside the user. */
  readonly info?: object;
  /** Channels to which the server subscribes the connection. */
  readonly channels?: readonly string[];
  /** Further claims (docs/protocol.md 5.1), such as `subs`, `caps` and `meta`. */
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** A token with which a user connects. */
export function connectionToken(options: ConnectionTokenOptions): Promise<string> {
  const { user, secret, expiresInSeconds, id, info, channels, claims } = options;
  const said = {
    ...claims,
    ...(info !== undefined && { info }),
    ...(channels !== undefined && { channels }),
  };
  return signed(said, { user, secret, expiresInSeconds, id });
}

/** What a subscription token may say. */
export interface SubscriptionTokenOptions {
  /** The user of the connection that subscribes; "" for an anonymous one. */
  readonly user: string;
  readonly channel: string;
  /** `TOKEN_HMAC_SECRET_KEY` of the server, or `SUBSCRIPTION_TOKEN_HMAC_SECRET_KEY` where that is in use. */
  readonly secret: string;
  /** As of {@link ConnectionTokenOptions}. */
  readonly expiresInSeconds?: number;
  readonly id?: string;
  /** Shown to other subscribers. */
  readonly info?: object;
  /** Further claims (docs/protocol.md 5.2). */
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** A token with which a user subscribes to a channel. */
export function subscriptionToken(options: SubscriptionTokenOptions): Promise<string> {
  const { user, channel, secret, expiresInSeconds, id, info, claims } = options;
  const said = { ...claims, channel, ...(info !== undefined && { info }) };
  return signed(said, { user, secret, expiresInSeconds, id });
}

interface Signing {
  readonly user: string;
  readonly secret: string;
  readonly expiresInSeconds: number | undefined;
  readonly id: string | undefined;
}

/** @throws if the secret is empty: such a token would be worth nothing */
async function signed(
  claims: Readonly<Record<string, unknown>>,
  { user, secret, expiresInSeconds, id }: Signing,
): Promise<string> {
  if (secret === "") throw new Error("secret is empty: it is TOKEN_HMAC_SECRET_KEY of the server");
  const nowSeconds = Math.floor(Date.now() / 1_000);
  const token = new SignJWT(claims)
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .setSubject(user)
    .setIssuedAt(nowSeconds);
  if (expiresInSeconds !== undefined) token.setExpirationTime(nowSeconds + expiresInSeconds);
  if (id !== undefined) token.setJti(id);
  return token.sign(new TextEncoder().encode(secret));
}
