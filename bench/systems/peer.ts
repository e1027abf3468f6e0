import type { Endpoint } from "./server.ts";

/** The name of a peer among the systems. */
export type PeerName = `peer:${string}`;

/** A server that runs already, isn't started by the bench, and speaks the Centrifugo or the Pusher protocol. */
export interface Peer {
  readonly name: PeerName;
  /** Its WebSockets. `%7Bchannel%7D` in the path stands for the channel's name. */
  readonly sockets: Endpoint & { readonly path: string };
  /** Its HTTP API: the path without `/publish` at the end. */
  readonly api: Endpoint & { readonly path: string };
  /** The value of the header `X-API-Key`, or what requests of the Pusher protocol are signed with. */
  readonly key: string;
  readonly protocol: "centrifugo" | "pusher";
}

export type ParsedPeer =
  | { readonly outcome: "peer"; readonly peer: Peer }
  | { readonly outcome: "refused"; readonly problem: string };

/** Whether a system is a peer. */
export function isPeerName(name: string): name is PeerName {
  return name.startsWith("peer:");
}

/**
 * Reads `NAME=URL,api=URL,key=KEY`, or `NAME=URL,api=URL,sign=KEY` of a server of the Pusher protocol. The key is the rest of
 * the text, so it may hold any character. Problems never quote the text, because it holds the key.
 */
export function parsePeer(text: string): ParsedPeer {
  const shape =
    /^(?<name>[^=]*)=(?<sockets>[^,]*),api=(?<api>[^,]*),(?<kind>key|sign)=(?<key>.*)$/s;
  const parts = shape.exec(text);
  const { name = "", sockets = "", api = "", kind = "", key = "" } = parts?.groups ?? {};
  if (parts === null) return refused("takes NAME=URL,api=URL,key=KEY, in this order, or sign=KEY");
  if (!/^[a-z0-9][a-z0-9._-]{0,29}$/i.test(name))
    return refused("takes a name of up to 30 letters, digits, dots, hyphens and underscores");
  // It becomes a header's value.
  if (!/^[!-~](?:[ -~]*[!-~])?$/.test(key))
    return refused(`of ${name} has a key that is empty or not ASCII`);
  const socketsPlace = parsePlace(sockets, "ws:");
  if (typeof socketsPlace === "string") return refused(`of ${name} has a URL that ${socketsPlace}`);
  const apiPlace = parsePlace(api, "http:");
  if (typeof apiPlace === "string") return refused(`of ${name} has an api that ${apiPlace}`);
  const peer: Peer = {
    name: `peer:${name}`,
    sockets: socketsPlace,
    api: { ...apiPlace, path: apiPlace.path.replace(/\/$/, "") },
    key,
    protocol: kind === "key" ? "centrifugo" : "pusher",
  };
  if (peer.protocol === "pusher" && !/\/app\/[\w-]+$/.test(sockets))
    return refused(`of ${name} signs, but has a URL that doesn't end with /app/KEY`);
  return { outcome: "peer", peer };
}

/** @returns the problem, if it is a text */
function parsePlace(text: string, protocol: "ws:" | "http:"): Peer["sockets"] | string {
  const url = URL.parse(text);
  if (url === null) return "is no URL";
  // The load generator writes to TCP sockets itself.
  if (url.protocol !== protocol) return `doesn't begin with ${protocol}// (TLS isn't measured)`;
  if (url.username !== "" || url.password !== "") return "holds a user name or a password";
  if (url.search !== "" || url.hash !== "") return "holds a query or a fragment";
  if (url.hostname.startsWith("[")) return "names its host by an IPv6 address";
  return { host: url.hostname, port: Number(url.port || 80), path: url.pathname };
}

function refused(problem: string): ParsedPeer {
  return { outcome: "refused", problem: `--peer ${problem}` };
}
