import type { FilterNode } from "../command.ts";
import { tagsFilter } from "../tags-filter.ts";
import type { JsonObject } from "../wire-value.ts";
import { decodeFilter } from "./decode.ts";
import { JsonFields } from "./fields.ts";

type ParsedServerFilter =
  | { readonly outcome: "read"; readonly serverFilter?: FilterNode }
  | { readonly outcome: "invalid"; readonly reason: string };

/**
 * Parses the tags filter that a backend sets for a subscription: the field `server_tags_filter` of an object
 * (docs/protocol.md 3.2).
 *
 * @returns the filter, which is valid; none if the field is absent
 */
export function parseServerFilter(object: JsonObject): ParsedServerFilter {
  const complaints: string[] = [];
  const serverFilter = decodeFilter(new JsonFields(object, [], complaints, undefined), name);
  const [complaint] = complaints;
  if (complaint !== undefined) return { outcome: "invalid", reason: complaint };
  if (serverFilter === undefined) return { outcome: "read" };
  return tagsFilter(serverFilter) === undefined
    ? { outcome: "invalid", reason: `${name} is no valid filter` }
    : { outcome: "read", serverFilter };
}

const name = "server_tags_filter";
