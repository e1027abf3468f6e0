/** A channel that no other test has: objects live as long as the file's tests do. */
export function newChannel(namespace: string): string {
  const name = crypto.randomUUID();
  return namespace === "" ? name : `${namespace}:${name}`;
}
