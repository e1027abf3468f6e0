/** Whom a gateway serves: a region's clients, or those that the object of one channel has no room for (rule G4). */
export type GatewayAddress =
  | { readonly kind: "pool"; readonly region: string; readonly index: number }
  | { readonly kind: "channel"; readonly channel: string; readonly index: number };

/** A gateway's name: `<region>/<index>` or `channel/<channel>/<index>`. At most 1,024 bytes, or its object isn't told it. */
export function gatewayName(gateway: GatewayAddress): string {
  const { kind, index } = gateway;
  return kind === "pool"
    ? `${gateway.region}/${index}`
    : `${channelPrefix}${gateway.channel}/${index}`;
}

/**
 * The reverse of {@link gatewayName}.
 *
 * @param name of the object; a channel's name may have slashes of its own
 * @throws when it is the name of no gateway: then a request came past the edge
 */
export function parseGatewayName(name: string): GatewayAddress {
  const slash = name.lastIndexOf("/");
  const before = name.slice(0, Math.max(slash, 0));
  const digits = name.slice(slash + 1);
  if (before === "" || !/^(?:0|[1-9]\d{0,5})$/.test(digits)) throw new Error(noGateway);
  const index = Number(digits);
  if (before.startsWith(channelPrefix) && before.length > channelPrefix.length) {
    return { kind: "channel", channel: before.slice(channelPrefix.length), index };
  }
  if (before.includes("/")) throw new Error(noGateway);
  return { kind: "pool", region: before, index };
}

const channelPrefix = "channel/";
const noGateway = "A gateway was reached by a name that the edge doesn't give";

/** The object that a client's posts are for, as its `node` names it (docs/protocol.md 4.3). */
type NodeName =
  | { readonly kind: "channel"; readonly name: string }
  | { readonly kind: "gateway"; readonly name: string };

/** The node of a channel's object. */
export function channelNode(channel: string): string {
  return `channel:${channel}`;
}

/** The node of a gateway. */
export function gatewayNode(name: string): string {
  return `gateway:${name}`;
}

/** Which object a node is; undefined when it is none of ours. */
export function parseNodeName(node: string): NodeName | undefined {
  const [, kind, name] = /^(channel|gateway):(.+)$/s.exec(node) ?? [];
  if (name === undefined) return undefined;
  return kind === "channel" ? { kind, name } : { kind: "gateway", name };
}
