import type { UserStatus, UserStatusAnswer } from "../contract/user-status.ts";
import { userKey } from "../contract/identity-key.ts";
import { homeName } from "../contract/object-names.ts";
import { limits } from "../limits.ts";
import { utf8Fits } from "../protocol/bytes.ts";
import { type JsonText, trustedJsonText } from "../protocol/json/text.ts";
import { type Entry, type ParsedEntry, refusedRequest } from "./command.ts";
import {
  checkAllChannels,
  type ApiMethod,
  type MethodRequest,
  refusedUser,
  shape,
  type Shaped,
  textField,
  textListField,
} from "./shape.ts";

function updateEntry(
  { users, state }: Shaped<typeof statusShape>,
  request: MethodRequest,
): ParsedEntry {
  const refused = refusal(users, request);
  if (refused !== undefined) return refused;
  if (!utf8Fits(state, limits.statusBytesMax))
    return refusedRequest(`state has more than ${limits.statusBytesMax} bytes`);
  const question = { method: "update_user_status", users: [...new Set(users)], state } as const;
  return { outcome: "question", question };
}

/** The entry of a method whose only parameter is the users. */
function statusEntry(
  method: "get_user_status" | "delete_user_status",
  { users }: Shaped<typeof statusShape>,
  request: MethodRequest,
): ParsedEntry {
  const refused = refusal(users, request);
  if (refused !== undefined) return refused;
  return { outcome: "question", question: { method, users: [...new Set(users)] } };
}

function refusal(users: readonly string[], request: MethodRequest): Entry | undefined {
  const refused = checkAllChannels(request);
  if (refused !== undefined) return refused;
  if (users.length === 0) return refusedRequest("users is required");
  if (users.length > limits.statusUsersMax)
    return refusedRequest(`users has more than ${limits.statusUsersMax} entries`);
  if (users.includes("")) return refusedRequest("users must not have an empty ID");
  return users.map(refusedUser).find((one) => one !== undefined);
}

/** A request of a method for users' status; only an update has a state. */
const statusShape = shape(() => ({ users: textListField(), state: textField() }));

/** The methods that say when users were active and online (docs/protocol.md 6.2). */
export const statusMethods = {
  update_user_status: { shape: statusShape, entry: updateEntry },
  get_user_status: {
    shape: statusShape,
    entry: (fields, request) => statusEntry("get_user_status", fields, request),
  },
  delete_user_status: {
    shape: statusShape,
    entry: (fields, request) => statusEntry("delete_user_status", fields, request),
  },
} as const satisfies Readonly<Record<string, ApiMethod<typeof statusShape>>>;

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
