import type { ChannelConfig } from "../config/config.ts";
import { limits } from "../limits.ts";
import { type Entry, type ParsedCommand, singleCommand } from "./command.ts";
import type { PublicationRequest } from "../contract/channel-call.ts";
import { checkChannel, refusedRequest } from "./check-channel.ts";
import {
  parsePublication,
  parseVersion,
  publicationFields,
  publishCall,
} from "./publication-fields.ts";
import { parseShape, shape, textListField } from "./shape.ts";

/**
 * Parses a `broadcast` request (reference 6.2). What is wrong with the publication or the list refuses the whole; what
 * is wrong with one channel refuses only its entry.
 */
export function parseBroadcast(params: string, config: ChannelConfig): ParsedCommand {
  const parsed = parseShape(broadcastShape, params);
  if (parsed.outcome === "malformed") return parsed;
  const version = parseVersion(params);
  if (typeof version === "object") return version;
  const { channels } = parsed.value;
  const refused = refusedList(channels);
  if (refused !== undefined) return singleCommand("broadcast", refused);
  const publication = parsePublication(params, parsed.value, version);
  if (publication.outcome === "refused") return singleCommand("broadcast", publication);
  const { request } = publication;
  const entries = channels.map((channel) => broadcastEntry(channel, request, config));
  return { outcome: "command", command: { form: "broadcast", entries } };
}

function refusedList(channels: readonly string[]) {
  if (channels.length === 0) return refusedRequest("channels is required");
  if (channels.length > limits.requestChannelsMax) {
    return refusedRequest(`channels has more than ${limits.requestChannelsMax} entries`);
  }
  return undefined;
}

function broadcastEntry(
  channel: string,
  request: PublicationRequest,
  config: ChannelConfig,
): Entry {
  const checked = checkChannel(channel, config);
  if (checked.outcome === "refused") return checked;
  return publishCall(channel, request, checked.options);
}

const broadcastShape = shape(() => ({ channels: textListField(), ...publicationFields() }));
