import { memberText } from "../protocol/json/text.ts";
import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../protocol/json-value.ts";
import type { ServerSubscription } from "./claims.ts";
import { parseOverride } from "./parse-override.ts";
import { dataClaim, infoClaim, readRawClaim } from "./raw-claim.ts";

/** The subscriptions that the server is to make for a connection, or what is wrong with the claims about them. */
export type ParsedServerSubscriptions =
  | { readonly outcome: "read"; readonly subscriptions: readonly ServerSubscription[] }
  | { readonly outcome: "invalid"; readonly reason: string };

/**
 * Reads the claims `channels` and `subs` of a connection token: each channel once, and when `subs` names any, `channels`
 * counts for nothing (reference 5.1). How many they may be is not asked here: a connection with too many is told so by
 * its own code (rule G1), and the token's length bounds them.
 *
 * @param text   the payload as its sender wrote it
 * @param fields the same payload, parsed
 */
export function parseServerSubscriptions(
  text: string,
  fields: JsonObject,
): ParsedServerSubscriptions {
  const channels = parseChannels(fields["channels"]);
  if (channels === undefined) return invalid("channels is not an array of strings");
  const subs = fields["subs"] ?? {};
  if (!isJsonObject(subs)) return invalid("subs is not an object of objects");
  const entries = Object.entries(subs);
  if (entries.length === 0) {
    const subscriptions = [...channels].map((channel) => ({ channel, override: {} }));
    return { outcome: "read", subscriptions };
  }
  const subsText = memberText(text, "subs") ?? "{}";
  const subscriptions: ServerSubscription[] = [];
  for (const [channel, options] of entries) {
    const parsed = parseSubscription(subsText, channel, options);
    if (parsed.outcome === "invalid") return parsed;
    subscriptions.push(parsed.subscription);
  }
  return { outcome: "read", subscriptions };
}

function parseChannels(value: JsonValue | undefined): ReadonlySet<string> | undefined {
  if (value === undefined || value === null) return new Set();
  if (!isJsonArray(value)) return undefined;
  const channels = new Set<string>();
  for (const channel of value) {
    if (typeof channel !== "string") return undefined;
    channels.add(channel);
  }
  return channels;
}

type ParsedSubscription =
  | { readonly outcome: "read"; readonly subscription: ServerSubscription }
  | { readonly outcome: "invalid"; readonly reason: string };

function parseSubscription(
  subsText: string,
  channel: string,
  options: JsonValue,
): ParsedSubscription {
  const fields = options ?? {};
  if (!isJsonObject(fields)) return invalid("subs is not an object of objects");
  const override = parseOverride(fields["override"]);
  if (override === undefined)
    return invalid("override in subs is not an object of {value: boolean}");
  // To find an object's text all before it is read: that is left out where the text isn't needed, as it mostly isn't.
  const text = hasPayload(fields) ? (memberText(subsText, channel) ?? "{}") : "{}";
  const info = readRawClaim(text, fields, infoClaim);
  if (info.outcome === "invalid") return invalid(`subs: ${info.reason}`);
  const data = readRawClaim(text, fields, dataClaim);
  if (data.outcome === "invalid") return invalid(`subs: ${data.reason}`);
  const subscription: ServerSubscription = {
    channel,
    override,
    ...(info.text === undefined ? {} : { info: info.text }),
    ...(data.text === undefined ? {} : { data: data.text }),
  };
  return { outcome: "read", subscription };
}

function hasPayload(fields: JsonObject): boolean {
  return fields["info"] !== undefined || fields["data"] !== undefined;
}

function invalid(reason: string): { readonly outcome: "invalid"; readonly reason: string } {
  return { outcome: "invalid", reason };
}
