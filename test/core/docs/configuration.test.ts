import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { configured } from "../../support/configured.ts";

/** The documentation is held against the parsed configuration, in which every option there is has a field. */
const documentation = readFileSync("docs/configuration.md", "utf8");
const { client, channel, httpApi, rpc, sharedPoll, swagger, transports } = configured();
const { namespaces } = configured({
  channel: {
    proxy: { shared_poll_refresh: { endpoint: "https://example.com/refresh" } },
    namespaces: [
      { name: "scores", subscription_type: "map", map: { mode: "persistent" } },
      { name: "votes", subscription_type: "shared_poll" },
    ],
  },
}).channel;
const fields = [
  client,
  channel,
  channel.withoutNamespace,
  httpApi,
  rpc,
  swagger,
  transports,
  sharedPoll,
  namespaces.get("scores")?.map ?? {},
  namespaces.get("votes")?.sharedPoll ?? {},
  client.personalChannel,
  client.token,
].flatMap((section) => Object.keys(section));

it.each(fields)("[B1] docs/configuration.md explains the option behind %s", (field) => {
  expect(documentation).toContain(`\`${optionName(field)}\``);
});

const withoutDefault = [
  "channel_regex",
  "ecdsa_public_key",
  "eddsa_public_key",
  "jwks_public_endpoint",
  "audience",
  "audience_regex",
  "issuer",
  "issuer_regex",
  "subscription_token",
];
it.each(withoutDefault)("[B1] docs/configuration.md explains %s, which has no default", (name) => {
  expect(documentation).toContain(`\`${name}\``);
});

/** Units are part of a field's name here, and of the value in the configuration. */
function optionName(field: string): string {
  const ownName = field
    .replace(/(Ms|Seconds|Bytes)$/, "")
    .replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return otherNames.get(field) ?? ownName;
}

/** Fields of sections within sections, whose names alone would say too little, and those that are named otherwise. */
const otherNames: ReadonlyMap<string, string> = new Map([
  ["rateLimit", "rate_limit.client_command"],
  ["userRateLimit", "rate_limit.user_command"],
  ["personalChannel", "subscribe_to_user_personal_channel.enabled"],
  ["users", "users.enabled"],
  ["status", "users.status.enabled"],
  ["enabled", "subscribe_to_user_personal_channel.enabled"],
  ["namespace", "subscribe_to_user_personal_channel.personal_channel_namespace"],
  ["singleConnection", "subscribe_to_user_personal_channel.single_connection"],
  ["pingEnabled", "ping.enabled"],
  ["recoveryMode", "force_recovery_mode"],
  ["publicKeys", "rsa_public_key"],
  ["allowDelta", "allowed_delta_types"],
  ["sse", "sse.enabled"],
  ["httpStream", "http_stream.enabled"],
  ["uniSse", "uni_sse.enabled"],
  ["uniHttpStream", "uni_http_stream.enabled"],
  ["uniWebsocket", "uni_websocket.enabled"],
  ["longPoll", "long_poll.enabled"],
  ["refreshHook", "proxy_name"],
]);
