import type { ApiKeyRights } from "../../../src/access/api-keys.ts";
import type { ApiCaller } from "../../../src/api/command.ts";
import { type JsonText, parseJsonText } from "../../../src/protocol/json/text.ts";
import { configOf } from "../config/parsed.ts";

/**
 * A backend with the channels that the API's tests speak of: those without a namespace, and a namespace for each data
 * format.
 *
 * @param rights of its key; absent for a key that admits everything
 */
export function caller(rights?: ApiKeyRights): ApiCaller {
  const key = rights === undefined ? { name: "API_KEY" } : { name: "billing", rights };
  const { channel: channels } = configOf({
    channel: {
      namespaces: [
        { name: "objects", publication_data_format: "json_object" },
        { name: "json", publication_data_format: "json" },
        { name: "bytes", publication_data_format: "binary" },
      ],
    },
  });
  return { key, channels };
}

/** JSON text in a test's own words. */
export function json(text: string): JsonText {
  const parsed = parseJsonText(text);
  if (parsed === undefined) throw new Error(`not JSON: ${text}`);
  return parsed;
}
