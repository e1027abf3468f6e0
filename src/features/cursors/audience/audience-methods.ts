import type { Operation } from "../../../access/operations.ts";
import {
  type ParsedEntry,
  type Refused,
  refusedFeature,
  refusedRequest,
} from "../../../api/command.ts";
import { pageOf } from "../../../api/question.ts";
import {
  type ApiMethod,
  type MethodRequest,
  refusedUser,
  type Shaped,
} from "../../../api/shape.ts";
import { memberText } from "../../../protocol/json/text.ts";
import { cursorLimits } from "../limits.ts";
import { checkCursors, requestShapes } from "../methods.ts";

/** The methods about the audience of a channel (docs/protocol.md 6.2). */

function membersEntry(
  method: "set_audience" | "add_audience" | "remove_audience",
  { channel, users }: Shaped<typeof membersShape>,
  request: MethodRequest,
): ParsedEntry {
  const refused = refusedAudience(channel, request) ?? refusedUsers(users, request);
  if (refused !== undefined) return refused;
  const command = { method, request: { users: [...new Set(users)] } } as const;
  return { outcome: "call", channel, command };
}

function audienceEntry(
  { channel, cursor, limit }: Shaped<typeof audienceShape>,
  request: MethodRequest,
): ParsedEntry {
  const refused = refusedAudience(channel, request);
  if (refused !== undefined) return refused;
  const page = pageOf({ cursor, limit });
  if ("error" in page) return page;
  const query = { cursor: page.after, limit: page.limit };
  return { outcome: "call", channel, command: { method: "audience", request: query } };
}

/** Refuses a channel that has no audience. */
function refusedAudience(channel: string, request: MethodRequest): Refused | undefined {
  const checked = checkCursors(channel, request);
  if (checked.outcome === "refused") return checked;
  return checked.options.audience === "none"
    ? refusedFeature("the channel's namespace has no cursors.audience")
    : undefined;
}

function refusedUsers(
  users: readonly string[],
  { method, params }: MethodRequest,
): Refused | undefined {
  const { audienceUsersMax } = cursorLimits;
  // An audience may be set to nobody, but not by a request that has forgotten the users.
  const isNobody = method === "set_audience" && (memberText(params, "users") ?? "null") !== "null";
  if (users.length === 0 && !isNobody) return refusedRequest("users is required");
  if (users.length > audienceUsersMax)
    return refusedRequest(`users has more than ${audienceUsersMax} entries`);
  if (users.includes("")) return refusedRequest("users must not have an empty ID");
  return users.map(refusedUser).find((one) => one !== undefined);
}

/** A request that changes an audience. */
const membersShape = () => requestShapes().members;
/** An `audience` request. */
const audienceShape = () => requestShapes().audience;

/** The rows of these methods. */
export const audienceRows = {
  set_audience: { at: "channel", changes: true },
  add_audience: { at: "channel", changes: true },
  remove_audience: { at: "channel", changes: true },
  audience: { at: "channel", readsMuch: true },
} as const satisfies Readonly<Record<string, Operation>>;

type AudienceRows = typeof audienceRows;

declare module "../../../access/operations.ts" {
  interface Operations extends AudienceRows {}
}

/** How the requests of these methods are read. */
export const audienceMethods = {
  set_audience: {
    shape: membersShape,
    entry: (fields, request) => membersEntry("set_audience", fields, request),
  } satisfies ApiMethod<typeof membersShape>,
  add_audience: {
    shape: membersShape,
    entry: (fields, request) => membersEntry("add_audience", fields, request),
  } satisfies ApiMethod<typeof membersShape>,
  remove_audience: {
    shape: membersShape,
    entry: (fields, request) => membersEntry("remove_audience", fields, request),
  } satisfies ApiMethod<typeof membersShape>,
  audience: { shape: audienceShape, entry: audienceEntry },
} as const;
