/** How backends and operators are told by which transport and protocol a client is connected. */
import type { SessionIdentity } from "../contract/session-snapshot.ts";

/** The transport of a session, see {@link transportName}. */
export function transportOf(identity: SessionIdentity): string {
  const { secret, ...rest } = identity;
  return transportName(secret === undefined ? rest : { ...rest, emulated: true });
}

/** The transport by Centrifugo's name; a long poll, which Centrifugo doesn't have, by the name of its setting. */
export function transportName({ codec, emulated, passing, events }: TransportTraits): string {
  if (passing === true) return "long_poll";
  const prefix = codec === "one_way" ? "uni_" : "";
  if (emulated !== true) return `${prefix}websocket`;
  return `${prefix}${events === true ? "sse" : "http_stream"}`;
}

/** What tells the transports of clients apart. */
type TransportTraits = Pick<SessionIdentity, "codec" | "passing" | "events"> & {
  /** The edge holds the client's HTTP stream. */
  readonly emulated?: true;
};

/** The name of the client's protocol: a unidirectional client reads JSON. */
export function protocolOf({ codec }: Pick<SessionIdentity, "codec">): string {
  switch (codec) {
    case "protobuf":
      return "protobuf";
    case "msgpack":
      return "messagepack";
    case "one_way":
    case undefined:
      break;
  }
  return "json";
}
