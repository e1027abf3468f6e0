import type { ChannelConfig } from "../../../src/config/config.ts";
import { type JsonText, parseJsonText } from "../../../src/protocol/json/text.ts";
import { configOf } from "../config/parsed.ts";

/** The channels that the API's tests speak of: those without a namespace, and a namespace for each data format. */
export function channelConfig(): ChannelConfig {
  return configOf({
    channel: {
      namespaces: [
        { name: "objects", publication_data_format: "json_object" },
        { name: "json", publication_data_format: "json" },
        { name: "bytes", publication_data_format: "binary" },
      ],
    },
  }).channel;
}

/** JSON text in a test's own words. */
export function json(text: string): JsonText {
  const parsed = parseJsonText(text);
  if (parsed === undefined) throw new Error(`not JSON: ${text}`);
  return parsed;
}
