import type { ChannelOptions } from "../../config/config.ts";
import { trustedJsonText } from "../../protocol/json/text.ts";
import { emptyPayload, type Payload } from "../../protocol/payload.ts";

/** The data of a publication that has none any more, in the format of the namespace. */
export function nothingIn({ publicationDataFormat }: ChannelOptions): Payload {
  switch (publicationDataFormat) {
    case "":
    case "json":
      return trustedJsonText("null");
    case "json_object":
      return trustedJsonText("{}");
    case "binary":
      return emptyPayload;
  }
}
