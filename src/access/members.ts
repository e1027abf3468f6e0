import { limits } from "../limits.ts";
import { isJsonArray, type JsonObject } from "../protocol/wire-value.ts";

type ParsedMembers =
  | { readonly outcome: "read"; readonly members?: readonly string[] }
  | { readonly outcome: "invalid"; readonly reason: string };

/**
 * Parses the users whom a backend makes members of a channel's audience with a subscription: the field `members` of an object
 * (rule CU29). No value is quoted.
 *
 * @returns each user once; none if the field is absent
 */
export function parseMembers(object: JsonObject): ParsedMembers {
  const given = object["members"] ?? null;
  if (given === null) return { outcome: "read" };
  const users = isJsonArray(given) ? given.filter((one) => isUser(one)) : [];
  if (!isJsonArray(given) || users.length < given.length)
    return { outcome: "invalid", reason: '"members" must be an array of IDs of users' };
  if (users.length > limits.membersNamedMax)
    return {
      outcome: "invalid",
      reason: `"members" has more than ${limits.membersNamedMax} users`,
    };
  return users.length === 0
    ? { outcome: "read" }
    : { outcome: "read", members: [...new Set(users)] };
}

function isUser(value: unknown): value is string {
  return (
    typeof value === "string" &&
    value !== "" &&
    value.length <= limits.userCharactersMax &&
    value.isWellFormed()
  );
}
