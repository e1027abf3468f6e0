import type { ChannelConfig } from "../config/config.ts";
import type { Entry, ParsedEntry } from "./command.ts";
import { checkChannel } from "./check-channel.ts";
import {
  type PublicationShape,
  parsePublication,
  parseVersion,
  publicationFields,
  publishCall,
} from "./publication-fields.ts";
import { parseShape, shape, textField } from "./shape.ts";

/** Parses a `publish` request (reference 6.2). */
export function parsePublish(params: string, config: ChannelConfig): ParsedEntry {
  const parsed = parseShape(publishShape, params);
  if (parsed.outcome === "malformed") return parsed;
  const version = parseVersion(params);
  if (typeof version === "object") return version;
  return publishEntry(params, parsed.value, version, config);
}

function publishEntry(
  params: string,
  fields: PublicationShape & { readonly channel: string },
  version: bigint,
  config: ChannelConfig,
): Entry {
  const checked = checkChannel(fields.channel, config);
  if (checked.outcome === "refused") return checked;
  const publication = parsePublication(params, fields, version);
  if (publication.outcome === "refused") return publication;
  return publishCall(fields.channel, publication.request, checked.options);
}

const publishShape = shape(() => ({ channel: textField(), ...publicationFields() }));
