import type { Operation } from "../../access/operations.ts";
import {
  type ParsedEntry,
  type Refused,
  refusedFeature,
  refusedRequest,
} from "../../api/command.ts";
import {
  checkAllChannels,
  checkChannel,
  flagField,
  type MethodRequest,
  objectOf,
  optionalOffsetField,
  refusedFor,
  refusedUser,
  type Shaped,
  shapes,
  textField,
  textListField,
  uint32Field,
} from "../../api/shape.ts";
import { pageOf } from "../../api/question.ts";
import { everyOptions } from "../../config/config.ts";
import type { CursorOptions } from "./config.ts";
import { cursorLimits } from "./limits.ts";

/** The methods about what users have got and read (docs/protocol.md 6.2). */

function markEntry(fields: Shaped<typeof markShape>, request: MethodRequest): ParsedEntry {
  const { user, channel, offset, epoch } = fields;
  const refused = refusedOn(channel, user, request);
  if (refused !== undefined) return refused;
  if (offset === null || offset === undefined) return refusedRequest("offset is required");
  const command = { method: "mark_read", request: { user, offset, epoch } } as const;
  return { outcome: "call", channel, command };
}

function unreadEntry(fields: Shaped<typeof unreadShape>, request: MethodRequest): ParsedEntry {
  const channels = [...new Set(fields.channels)];
  const { unreadChannelsMax } = cursorLimits;
  if (channels.length === 0) return refusedRequest("channels is required");
  if (channels.length > unreadChannelsMax)
    return refusedRequest(`channels has more than ${unreadChannelsMax} entries`);
  for (const channel of channels) {
    const refused = refusedOn(channel, fields.user, request);
    if (refused !== undefined) return refused;
  }
  return { outcome: "question", question: { method: "unread", user: fields.user, channels } };
}

function deliveredEntry(
  { user, channel }: Shaped<typeof deliveredShape>,
  request: MethodRequest,
): ParsedEntry {
  const refused = refusedOn(channel, user, request);
  if (refused !== undefined) return refused;
  return { outcome: "call", channel, command: { method: "delivered", request: { user } } };
}

function marksEntry(fields: Shaped<typeof marksShape>, request: MethodRequest): ParsedEntry {
  const { channel, cursor, limit, offset } = fields;
  const checked = checkCursors(channel, request);
  if (checked.outcome === "refused") return checked;
  const page = pageOf({ cursor, limit: limit ?? 0 });
  if ("error" in page) return page;
  const counted = offset ?? undefined;
  // A caller that counts may want no page.
  const most = limit === 0 && counted !== undefined ? 0 : page.limit;
  const query = { cursor: page.after, limit: most, offset: counted };
  return { outcome: "call", channel, command: { method: "marks", request: query } };
}

function forgetEntry(
  { user, publications }: Shaped<typeof forgetShape>,
  request: MethodRequest,
): ParsedEntry {
  const refused = checkAllChannels(request);
  if (refused !== undefined) return refused;
  if (user === "") return refusedRequest("user is required");
  const bad = refusedUser(user);
  if (bad !== undefined) return bad;
  if (
    publications &&
    !everyOptions(request.caller.channels).some(({ changes }) => changes?.erasableByUser)
  )
    return refusedFeature("no namespace has erasable_by_user");
  return { outcome: "question", question: { method: "forget_user", user, publications } };
}

/** Refuses a channel that keeps nothing of its users, and a user that can't be one. */
function refusedOn(channel: string, user: string, request: MethodRequest): Refused | undefined {
  const checked = checkCursors(channel, request);
  if (checked.outcome === "refused") return checked;
  return user === "" ? refusedRequest("user is required") : refusedUser(user);
}

type Checked = { readonly outcome: "cursors"; readonly options: CursorOptions } | Refused;

/** Refuses a channel that keeps nothing of its users. */
export function checkCursors(channel: string, request: MethodRequest): Checked {
  const checked = checkChannel(channel, request);
  if (checked.outcome === "refused") return checked;
  const { cursors } = checked.options;
  return cursors === undefined
    ? refusedFor(channel, refusedFeature("the channel's namespace has no cursors.enabled"))
    : { outcome: "cursors", options: cursors };
}

/** The shapes of all requests of the feature. */
export const requestShapes = shapes(() => ({
  mark: objectOf({
    user: textField(),
    channel: textField(),
    offset: optionalOffsetField(),
    epoch: textField(),
  }),
  unread: objectOf({ user: textField(), channels: textListField() }),
  delivered: objectOf({ user: textField(), channel: textField() }),
  marks: objectOf({
    channel: textField(),
    cursor: textField(),
    limit: optionalOffsetField(),
    offset: optionalOffsetField(),
  }),
  forget: objectOf({ user: textField(), publications: flagField() }),
  members: objectOf({ channel: textField(), users: textListField() }),
  audience: objectOf({ channel: textField(), cursor: textField(), limit: uint32Field() }),
}));

/** A `mark_read` request. */
const markShape = () => requestShapes().mark;
/** An `unread` request. */
const unreadShape = () => requestShapes().unread;

/** A `delivered` request. */
const deliveredShape = () => requestShapes().delivered;

/** A `marks` request. */
const marksShape = () => requestShapes().marks;

/** A `forget_user` request. */
const forgetShape = () => requestShapes().forget;

/** The rows of these methods. */
export const cursorRows = {
  mark_read: { at: "channel", changes: true },
  unread: { at: "question", asksMax: cursorLimits.unreadChannelsMax },
  delivered: { at: "channel" },
  marks: { at: "channel", readsMuch: true },
  forget_user: { at: "question", changes: true },
} as const satisfies Readonly<Record<string, Operation>>;

type CursorRows = typeof cursorRows;

declare module "../../access/operations.ts" {
  interface Operations extends CursorRows {}
}

/** How the requests of these methods are read. */
export const cursorApiMethods = {
  mark_read: { shape: markShape, entry: markEntry },
  unread: { shape: unreadShape, entry: unreadEntry },
  delivered: { shape: deliveredShape, entry: deliveredEntry },
  marks: { shape: marksShape, entry: marksEntry },
  forget_user: { shape: forgetShape, entry: forgetEntry },
} as const;
