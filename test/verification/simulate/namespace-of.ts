/** The part of a channel's name before its colon, which is its namespace. */
export function namespaceOf(channel: string): string {
  const [namespace = ""] = channel.split(":");
  return namespace;
}
