/** The object that a client's posts are for, as its `node` names it (reference 4.3). */
export type NodeName =
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
