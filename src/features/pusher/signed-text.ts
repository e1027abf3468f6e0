/** The texts that an application's server signs (HMAC-SHA256), to the byte. */

/** The text of a token for a channel. @param data the `channel_data`, as it came; undefined for none */
export function channelText(socketId: string, channel: string, data: string | undefined): string {
  return `${socketId}:${channel}${data === undefined ? "" : `:${data}`}`;
}

/** The text of a sign-in. @param data the `user_data`, as it came */
export function signinText(socketId: string, data: string): string {
  return `${socketId}::user::${data}`;
}

/**
 * The text of a request of the HTTP API.
 *
 * @param path       as the server sees it
 * @param parameters of the query, decoded
 */
export function requestText(
  method: string,
  path: string,
  parameters: Iterable<readonly [string, string]>,
): string {
  const signed = [...parameters]
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name]) => name !== "auth_signature")
    .toSorted(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
  const query = signed.map(([name, value]) => `${name}=${value}`).join("&");
  return `${method}\n${path}\n${query}`;
}

/** The key and the signature of a token, `KEY:SIGNATURE`; undefined for any other text. */
export function parseAuth(
  auth: unknown,
): { readonly key: string; readonly signature: string } | undefined {
  const [, key, signature] =
    typeof auth === "string" ? (/^([-\w]+):([\da-f]{64})$/i.exec(auth) ?? []) : [];
  return key === undefined || signature === undefined ? undefined : { key, signature };
}
