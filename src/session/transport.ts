import type { SessionIdentity } from "../contract/session-snapshot.ts";

/**
 * The name of a client's transport in Centrifugo (docs/protocol.md 4), as backends are told it; a long poll has one of
 * its own.
 */
export function transportOf({ codec, secret, stream, passing }: SessionIdentity): string {
  if (passing === true) return "long_poll";
  const name = secret === undefined ? "websocket" : (stream ?? "http_stream");
  return codec === "one_way" ? `uni_${name}` : name;
}
