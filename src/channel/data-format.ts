import type { ChannelOptions } from "../config/config.ts";
import { type Payload, payloadText } from "../protocol/payload.ts";

/** Whether the namespace's `publication_data_format` takes this data. None at all it takes only where it asks for bytes. */
export function acceptsData(options: ChannelOptions, data: Payload): boolean {
  switch (options.publicationDataFormat) {
    case "":
      return data.length > 0;
    case "json":
      return payloadText(data) !== undefined;
    case "json_object":
      return payloadText(data)?.startsWith("{") === true;
    case "binary":
      return true;
  }
}
