import { limits } from "../limits.ts";

/** A gateway of a region's pool, or one that serves a single channel whose own object is full (rule G4). */
export type GatewayAddress =
  | {
      readonly kind: "pool";
      readonly region: string;
      readonly index: number;
      /** The dialect of the pool's clients; absent: they speak the server's own protocol. */
      readonly dialect?: string;
    }
  | { readonly kind: "channel"; readonly channel: string; readonly index: number };

/**
 * A gateway's name: `<region>/<index>`, `<dialect>~<region>/<index>` or `channel/<channel>/<index>`. It has to be at most 1,024 bytes long, because
 * the platform doesn't give an object a longer name.
 */
export function gatewayName(gateway: GatewayAddress): string {
  const { kind, index } = gateway;
  return kind === "pool"
    ? `${gateway.dialect === undefined ? "" : `${gateway.dialect}~`}${gateway.region}/${index}`
    : `${channelPrefix}${gateway.channel}/${index}`;
}

/**
 * The reverse of {@link gatewayName}.
 *
 * @param name the object's name, in which the channel's name may contain slashes
 * @throws if the name isn't a gateway's: the request didn't come through the edge
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
  const [region = "", dialect] = before.split("~").toReversed();
  return { kind: "pool", region, index, ...(dialect !== undefined && { dialect }) };
}

const channelPrefix = "channel/";
const noGateway = "A gateway has a name that the edge doesn't give";

/** The object to which a client's posts go, as `node` names it (docs/protocol.md 4.3). */
export type NodeName =
  | { readonly kind: "channel"; readonly name: string }
  | { readonly kind: "gateway"; readonly name: string };

/** The `node` of a channel's object. */
export function channelNode(channel: string): string {
  return `channel:${channel}`;
}

/** The `node` of a gateway. */
export function gatewayNode(name: string): string {
  return `gateway:${name}`;
}

/** The reverse of {@link channelNode} and {@link gatewayNode}; undefined for any other text. */
export function parseNodeName(node: string): NodeName | undefined {
  const [, kind, name] = /^(channel|gateway):(.+)$/s.exec(node) ?? [];
  if (name === undefined) return undefined;
  return kind === "channel" ? { kind, name } : { kind: "gateway", name };
}

/** The region of a gateway for many channels; undefined for any other object. */
export function regionOf(node: NodeName | undefined): string | undefined {
  if (node?.kind !== "gateway") return undefined;
  const gateway = parseGatewayName(node.name);
  return gateway.kind === "pool" ? gateway.region : undefined;
}

/**
 * The name of a user's or a token's home: one of `limits.homes` objects, by a hash of its key (FNV-1a). The function is part of
 * what two releases have to agree on, and must never change.
 */
export function homeName(user: string): string {
  return String(hashOf(user) % limits.homes);
}

/**
 * The name of the shard of the directory that lists an object: one of `limits.directoryShards` objects of the homes'
 * class. The function must never change, either.
 */
export function shardOf(node: string): string {
  return shardName(hashOf(node) % limits.directoryShards);
}

/** The name of a shard by its number. */
export function shardName(number: number): string {
  return `directory/${number}`;
}

/** The `object` in the events of a channel's object or a gateway, from its node: `channel/<name>` or `gateway/<name>`. */
export function eventObject(node: string): string {
  return node.replace(":", "/");
}

/** The `object` in the events of a home. */
export function homeObject(home: string): string {
  return `home/${home}`;
}

/** The object of that name in events: its node, or the name of a home; undefined for any other text. */
export function parseEventObject(object: string): EventObject | undefined {
  const [, kind, name] = /^(channel|gateway|home)\/(.+)$/s.exec(object) ?? [];
  if (kind === undefined || name === undefined) return undefined;
  if (kind !== "home") return { kind: "node", name: `${kind}:${name}` };
  const isHome = /^(?:0|[1-9]\d?)$/.test(name) && Number(name) < limits.homes;
  return isHome ? { kind, name } : undefined;
}

/** An object with events. */
export interface EventObject {
  readonly kind: "node" | "home";
  /** The node of a channel's object or a gateway, or the name of a home. */
  readonly name: string;
}

/**
 * The ID of an anonymous connection. It names the object that holds the connection, because an anonymous user has no
 * home that would know (rule U6).
 *
 * @param id   a UUID
 * @param node the object's, see {@link channelNode} and {@link gatewayNode}
 */
export function anonymousClient(id: string, node: string): string {
  return `${id}@${node}`;
}

/** The UUID in the ID of a connection, anonymous or not. */
export function uuidOfClient(client: string): string {
  return client.slice(0, uuidLength);
}

const uuidLength = 36;

/** The node in the ID, or in the session, of an anonymous connection; undefined if the text names none. */
export function nodeOfClient(client: string): string | undefined {
  const at = client.indexOf("@");
  return at < 0 ? undefined : client.slice(at + 1);
}

/**
 * Makes a hash of a text (FNV-1a), from 0 to 2^32 - 1. Names of objects and stored digests depend on it, so two
 * releases have to agree on the function, and it must never change.
 *
 * @param start the hash of what comes before the text; absent for nothing
 */
export function hashOf(text: string, start = 0x81_1c_9d_c5): number {
  let hash = start;
  for (let index = 0; index < text.length; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01_00_01_93);
  return hash >>> 0;
}
