import { describe, expect, it } from "vitest";
import { nestedName } from "../../../src/config/flat-names.ts";
import { parseConfig } from "../../../src/config/parse-config.ts";

describe("a flat name of Centrifugo 5", () => {
  it.each([
    ["token_hmac_secret_key", "client.token.hmac_secret_key"],
    ["subscription_token_rsa_public_key", "client.subscription_token.rsa_public_key"],
    ["separate_subscription_token_config", "client.subscription_token.enabled"],
    ["allowed_origins", "client.allowed_origins"],
    ["allow_anonymous_connect_without_token", "client.allow_anonymous_connect_without_token"],
    ["ping_interval", "client.ping_interval"],
    ["client_channel_limit", "client.channel_limit"],
    ["client_insecure", "client.insecure"],
    ["user_subscribe_to_personal", "client.subscribe_to_user_personal_channel.enabled"],
    [
      "user_personal_single_connection",
      "client.subscribe_to_user_personal_channel.single_connection",
    ],
    ["channel_max_length", "channel.max_length"],
    ["global_history_meta_ttl", "channel.history_meta_ttl"],
    ["namespaces", "channel.namespaces"],
    ["proxy_connect_endpoint", "client.proxy.connect.endpoint"],
    ["proxy_sub_refresh_timeout", "channel.proxy.sub_refresh.timeout"],
    ["proxy_rpc_endpoint", "rpc.proxy.endpoint"],
    ["api_key", "http_api.key"],
    ["presence", "channel.without_namespace.presence"],
    ["history_size", "channel.without_namespace.history_size"],
    ["channel_regex", "channel.without_namespace.channel_regex"],
    ["allow_subscribe_for_client", "channel.without_namespace.allow_subscribe_for_client"],
  ])("[A8] %s is refused with its place since: %s", (flat, nested) => {
    expect(nestedName(flat)).toBe(nested);
    expect(parseConfig({ [flat]: "hunter2" })).toEqual({
      outcome: "bad",
      problems: [`${flat} is a name of Centrifugo 5: write ${nested}`],
    });
  });

  it.each(["channels", "tokens", "chanel", "presense"])("[A8] is nothing like %s", (name) => {
    expect(nestedName(name)).toBeUndefined();
  });

  it("[A8] is no hint below the top level", () => {
    expect(parseConfig({ client: { api_key: "" } })).toEqual({
      outcome: "bad",
      problems: ["client.api_key is unknown"],
    });
  });
});
