/**
 * The keys under which homes and holders know identities: users, and tokens that name themselves with a `jti`. A token
 * has a home of its own, by its own key, so that a revocation needs no user (rule U10). The functions are part of what
 * two releases have to agree on, and must never change.
 */

/** The key of a user: the user's ID, unless that begins like the key of a token. */
export function userKey(user: string): string {
  return user.startsWith(mark) ? userMark + user : user;
}

/**
 * The key of a token.
 *
 * @param uid the token's claim `jti`
 */
export function tokenKey(uid: string): string {
  return tokenMark + uid;
}

/** The reverse of {@link tokenKey}; undefined for the key of a user. */
export function uidOfKey(key: string): string | undefined {
  return key.startsWith(tokenMark) ? key.slice(tokenMark.length) : undefined;
}

/** The reverse of {@link userKey}, for a key that isn't a token's. */
export function userOfKey(key: string): string {
  return key.startsWith(userMark) ? key.slice(userMark.length) : key;
}

/** A control character, with which hardly any user's ID begins. */
const mark = "\u0001";
const userMark = `${mark}user:`;
const tokenMark = `${mark}token:`;
