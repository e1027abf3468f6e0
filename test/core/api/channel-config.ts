import type { ApiKeyRights } from "../../../src/access/api-keys.ts";
import type { ApiCaller } from "../../../src/api/command.ts";
import { type JsonText, parseJsonText } from "../../../src/protocol/json/text.ts";
import { withChannelCode } from "../../../src/features/procedures/config.ts";
import { configOf } from "../config/parsed.ts";

/**
 * A backend with the channels that the API's tests speak of: those without a namespace, a namespace for each data
 * format, one with history and one that keeps marks of users too, one with code, two of maps and two of shared
 * polls.
 *
 * @param rights of its key; absent for a key that admits everything
 */
export function caller(rights?: ApiKeyRights): ApiCaller {
  const key = rights === undefined ? { name: "API_KEY" } : { name: "billing", rights };
  const config = configOf({
    channel: {
      proxy: { shared_poll_refresh: { endpoint: "https://example.com/refresh" } },
      namespaces: [
        { name: "objects", publication_data_format: "json_object" },
        { name: "json", publication_data_format: "json" },
        { name: "bytes", publication_data_format: "binary" },
        { name: "kept", history_size: 10, history_ttl: "1m" },
        {
          name: "room",
          history_size: 10,
          history_ttl: "1m",
          allow_change: true,
          erasable_by_user: true,
          cursors: { enabled: true, audience: "named" },
        },
        { name: "auction" },
        { name: "scores", subscription_type: "map", map: { mode: "persistent" } },
        {
          name: "cursors",
          subscription_type: "map",
          map: { mode: "ephemeral", key_ttl: "1m" },
          publication_data_format: "json_object",
        },
        {
          name: "votes",
          subscription_type: "shared_poll",
          shared_poll: { mode: "versioned", publish_enabled: true },
        },
        { name: "polls", subscription_type: "shared_poll" },
      ],
    },
  });
  const auction = { procedures: { bid: () => undefined } };
  const { channel: channels } = withChannelCode(config, { auction }).config;
  return { key, channels, nowMs: 0 };
}

/** JSON text in a test's own words. */
export function json(text: string): JsonText {
  const parsed = parseJsonText(text);
  if (parsed === undefined) throw new Error(`not JSON: ${text}`);
  return parsed;
}
