import type {
  ConnectionState,
  ShownToken,
  SubscriptionState,
  UserConnections,
} from "../contract/connection-state.ts";
import { parseNodeName, regionOf } from "../contract/object-names.ts";
import { type JsonText, trustedJsonText } from "../protocol/json/text.ts";

/** Writes the result of `connections`, as Centrifugo PRO has it, with Dormouse's own fields (docs/protocol.md 6.2). */
export function encodeConnections({ connections, incomplete }: UserConnections): JsonText {
  // Not an object: JavaScript sorts keys that look like numbers, and "__proto__" isn't a key.
  const members = connections.map(
    (one) => `${JSON.stringify(one.client)}:${encodeConnection(one)}`,
  );
  const rest = incomplete === true ? ',"incomplete":true' : "";
  return trustedJsonText(`{"connections":{${members.join(",")}}${rest}}`);
}

function encodeConnection(connection: ConnectionState): string {
  const { user, node, appName, appVersion, transport, protocol, expireAtSeconds } = connection;
  const region = regionOf(parseNodeName(node));
  const channels = connection.subscriptions.map(
    (one) => `${JSON.stringify(one.channel)}:${encodeSubscription(one)}`,
  );
  const fields = JSON.stringify({
    user,
    app_name: appName,
    app_version: appVersion,
    transport,
    protocol,
    connected_at_ms: connection.connectedAtMs,
    ping_pong_latency_ms: -1,
    node,
    region,
    expire_at: shownEnd(expireAtSeconds),
    labels: {},
  });
  const { token } = connection;
  const own = token === undefined ? "" : `,"connection_token":${encodeToken(token)}`;
  const tokens = connection.subscriptions.flatMap(({ channel, token: one }) =>
    one === undefined ? [] : [`${JSON.stringify(channel)}:${encodeToken(one)}`],
  );
  const others = tokens.length === 0 ? "" : `,"subscription_tokens":{${tokens.join(",")}}`;
  return `${fields.slice(0, -1)},"state":{"channels":{${channels.join(",")}}${own}${others}}}`;
}

function encodeToken({ uid, issuedAtSeconds }: ShownToken): string {
  return JSON.stringify({ uid, issued_at: issuedAtSeconds });
}

function encodeSubscription({
  source,
  position,
  options,
  expireAtSeconds,
}: SubscriptionState): string {
  return JSON.stringify({
    source,
    ...position,
    expire_at: shownEnd(expireAtSeconds),
    ...Object.fromEntries(options.map((option) => [option, true])),
  });
}

/** A connection or a subscription that never ends has no such field. */
function shownEnd(seconds: number): number | undefined {
  return seconds === 0 ? undefined : seconds;
}
