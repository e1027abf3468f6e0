import type { Path } from "./tree.ts";

/**
 * Says of an option of Centrifugo 3 or older that it is one, and what version 4 has in its place. Its meaning isn't taken
 * over: in version 3 clients were allowed by default what since version 4 an option has to allow.
 *
 * @param path of an option that the parser doesn't know
 * @returns the reason of a row; undefined for any other option
 */
export function olderOption(path: Path): string | undefined {
  const name = String(path.at(-1));
  const since = successors.get(path[0] === "client" ? `client_${name}` : name);
  return since === undefined ? undefined : `is an option of Centrifugo 3 or older: ${since}`;
}

const successors: ReadonlyMap<string, string> = new Map([
  ["protected", "clients need a token here unless allow_subscribe_for_client is on"],
  ["publish", "write allow_publish_for_client"],
  ["subscribe_to_publish", "write allow_publish_for_subscriber"],
  ["anonymous", "write allow_subscribe_for_anonymous"],
  ["client_anonymous", "write client.allow_anonymous_connect_without_token"],
  ["presence_disable_for_client", "it is so unless allow_presence_for_subscriber is on"],
  ["history_disable_for_client", "it is so unless allow_history_for_subscriber is on"],
  ["recover", "write force_recovery"],
  ["history_recover", "write force_recovery"],
  ["position", "write force_positioning"],
  ["history_lifetime", "write history_ttl"],
  ["server_side", "it is so unless allow_subscribe_for_client is on"],
]);
