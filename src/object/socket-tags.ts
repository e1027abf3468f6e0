import type { Handover } from "../contract/handover.ts";
import type { SessionSnapshot } from "../contract/session-snapshot.ts";

/**
 * The tags of a socket, which survive hibernation. A frame that the client posts finds the socket by the session's secret.
 * On a client's own socket a tag keeps the address for `UnconnectedSockets`.
 */
export function tagsOf({ secret }: SessionSnapshot, handover: Handover): string[] {
  if (secret !== undefined) return [secret];
  const { address = "" } = handover;
  return isBounded(handover) && address !== "" ? [addressTag + address] : [];
}

/** No secret begins with this. */
const addressTag = "from ";

/** The address that the tags of a socket keep; "" for none. */
export function addressIn(tags: readonly string[]): string {
  return tags.find((tag) => tag.startsWith(addressTag))?.slice(addressTag.length) ?? "";
}

/** Whether a connection is one of those that `UnconnectedSockets` bounds until it connects (rule B24). */
export function isBounded({ claims, onlooker, emulated }: Handover): boolean {
  return (claims ?? onlooker) === undefined && emulated !== true;
}
