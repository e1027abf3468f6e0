import type { UserStatus, UserStatusAnswer } from "../contract/user-status.ts";
import { userKey } from "../contract/identity-key.ts";
import { homeName } from "../contract/object-names.ts";
import { limits } from "../limits.ts";
import { utf8Fits } from "../protocol/bytes.ts";
import { type JsonText, trustedJsonText } from "../protocol/json/text.ts";
import { type ApiCaller, type Entry, type ParsedEntry, refusedRequest } from "./command.ts";
import {
  checkAllChannels,
  parseShape,
  refusedUser,
  shape,
  textField,
  textListField,
} from "./shape.ts";

/** The methods that say when users were active and online (docs/protocol.md 6.2). */
type StatusMethod = "get_user_status" | "delete_user_status";

/** Parses an `update_user_status` request. */
export function parseUpdateStatus(params: string, caller: ApiCaller): ParsedEntry {
  const parsed = parseShape(statusShape, params);
  if (parsed.outcome === "malformed") return parsed;
  const { users, state } = parsed.value;
  const refused = refusal("update_user_status", users, caller);
  if (refused !== undefined) return refused;
  if (!utf8Fits(state, limits.statusBytesMax))
    return refusedRequest(`state has more than ${limits.statusBytesMax} bytes`);
  const question = { method: "update_user_status", users: [...new Set(users)], state } as const;
  return { outcome: "question", question };
}

/** Parses a request of a method whose only parameter is the users. */
export function parseStatus(method: StatusMethod, params: string, caller: ApiCaller): ParsedEntry {
  const parsed = parseShape(statusShape, params);
  if (parsed.outcome === "malformed") return parsed;
  const { users } = parsed.value;
  const refused = refusal(method, users, caller);
  if (refused !== undefined) return refused;
  return { outcome: "question", question: { method, users: [...new Set(users)] } };
}

function refusal(
  method: StatusMethod | "update_user_status",
  users: readonly string[],
  { key }: ApiCaller,
): Entry | undefined {
  const refused = checkAllChannels(method, key);
  if (refused !== undefined) return refused;
  if (users.length === 0) return refusedRequest("users is required");
  if (users.length > limits.statusUsersMax)
    return refusedRequest(`users has more than ${limits.statusUsersMax} entries`);
  if (users.includes("")) return refusedRequest("users must not have an empty ID");
  return users.map(refusedUser).find((one) => one !== undefined);
}

/** A request of a method for users' status; only an update has a state. */
export const statusShape = shape(() => ({ users: textListField(), state: textField() }));

/** Users by the names of their homes. */
export function usersByHome(users: readonly string[]): ReadonlyMap<string, readonly string[]> {
  return Map.groupBy(users, (user) => homeName(userKey(user)));
}

/**
 * Writes the result of `get_user_status`, in the order of the request.
 *
 * @param answers of the homes; undefined for each that didn't answer
 */
export function encodeStatuses(
  users: readonly string[],
  answers: readonly (UserStatusAnswer | undefined)[],
): JsonText {
  const known = new Map<string, UserStatus>();
  for (const answer of answers)
    for (const status of answer?.statuses ?? []) known.set(status.user, status);
  const statuses = users.flatMap((user) => {
    const status = known.get(user);
    if (status === undefined) return [];
    const { activeSeconds: active, onlineSeconds: online, state } = status;
    return [{ user, active, online, state }];
  });
  const isComplete = answers.every((answer) => answer !== undefined && answer.incomplete !== true);
  return trustedJsonText(JSON.stringify({ statuses, ...(isComplete ? {} : { incomplete: true }) }));
}
