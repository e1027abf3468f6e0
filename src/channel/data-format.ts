import type { ChannelOptions } from "../config/config.ts";
import type { JsonText } from "../protocol/json-text.ts";

/** Whether the namespace's `publication_data_format` takes this data. It is valid JSON already. */
export function acceptsData(options: ChannelOptions, data: JsonText): boolean {
  switch (options.publicationDataFormat) {
    case "":
    case "json":
      return true;
    case "json_object":
      return data.startsWith("{");
  }
}
