import type { Operation } from "../../access/operations.ts";
import {
  type Entry,
  overLimit,
  type ParsedEntry,
  type Refused,
  refusedFeature,
  refusedIdempotencyKey,
  refusedRequest,
} from "../../api/command.ts";
import { formatProblem, parsePublication, takesEmpty } from "../../api/publish.ts";
import {
  checkChannel,
  flagField,
  type MethodRequest,
  objectField,
  objectOf,
  optionalOffsetField,
  type Shaped,
  textField,
} from "../../api/shape.ts";
import { acceptsData } from "../../channel/publication-request.ts";
import type { ChannelOptions } from "../../config/config.ts";
import { utf8Fits } from "../../protocol/bytes.ts";
import type { ChangeRequest } from "./change-call.ts";
import { changeLimits } from "./limits.ts";

/** The methods that change publications (docs/protocol.md 6.2). */

function updateEntry(fields: Shaped<typeof updateShape>, asked: MethodRequest): ParsedEntry {
  const checked = checkChanged(fields, asked);
  if (checked.outcome === "refused") return checked;
  const { options, request } = checked;
  const given = { ...fields, skip_history: false, version_epoch: "" };
  const parsed = parsePublication(asked.params, given, 0n, () => takesEmpty(options));
  if (parsed.outcome === "refused") return parsed;
  const { data, tags = {} } = parsed.request;
  if (!acceptsData(options, data)) return refusedRequest(formatProblem(options));
  const hasTags = fields.tags !== undefined && fields.tags !== null;
  const update = { ...request, data, ...(hasTags && { tags }), delta: fields.delta };
  const { key } = asked.caller;
  const command = { method: "update_publication", request: update, key: key.name } as const;
  return { outcome: "call", channel: fields.channel, command };
}

function deleteEntry(fields: Shaped<typeof deleteShape>, asked: MethodRequest): Entry {
  const checked = checkChanged(fields, asked);
  if (checked.outcome === "refused") return checked;
  const { channel, reason } = fields;
  const refused = refusedReason(reason);
  if (refused !== undefined) return refused;
  const request = { ...checked.request, reason };
  const { key } = asked.caller;
  const command = { method: "delete_publication", request, key: key.name } as const;
  return { outcome: "call", channel, command };
}

function eraseEntry(fields: Shaped<typeof eraseShape>, asked: MethodRequest): Entry {
  const { channel, offset, epoch, user } = fields;
  const refused = checkNamespace(channel, asked);
  if (refused.outcome === "refused") return refused;
  if (offset === 0) return refusedRequest("offset must be above 0");
  const hasOffset = typeof offset === "number";
  if (!hasOffset && user === "") return refusedRequest("offset or user is required");
  const request = { ...(hasOffset && { offset }), epoch, user };
  const { key } = asked.caller;
  return { outcome: "call", channel, command: { method: "erase", request, key: key.name } };
}

/** Refuses a reason of a deletion that is too long, or that can't be a tag; undefined if it can be one. */
export function refusedReason(reason: string): Refused | undefined {
  if (!reason.isWellFormed()) return refusedRequest("reason has half of a surrogate pair");
  const { reasonBytesMax } = changeLimits;
  return utf8Fits(reason, reasonBytesMax) ? undefined : overLimit("reason", reasonBytesMax);
}

/** The fields of a change that say which publication is meant. */
interface ChangeFields {
  readonly channel: string;
  readonly offset?: number | null | undefined;
  readonly epoch: string;
  readonly if_version?: number | null | undefined;
  readonly idempotency_key: string;
}

type CheckedChange =
  | {
      readonly outcome: "change";
      readonly options: ChannelOptions;
      readonly request: ChangeRequest;
    }
  | Refused;

/** Refuses a channel whose publications can't be changed. */
function checkNamespace(channel: string, asked: MethodRequest): ReturnType<typeof checkChannel> {
  const checked = checkChannel(channel, asked);
  if (checked.outcome === "refused") return checked;
  const { subscriptionType, changes } = checked.options;
  if (subscriptionType !== "stream")
    return refusedRequest("the channel's namespace is not one of streams: its keys are changed");
  return changes === undefined
    ? refusedFeature("the channel's namespace has no allow_change")
    : checked;
}

/** Refuses a channel whose publications can't be changed, and a publication that isn't named. */
function checkChanged(fields: ChangeFields, asked: MethodRequest): CheckedChange {
  const { channel, offset, epoch, if_version: ifVersion, idempotency_key: idempotencyKey } = fields;
  const checked = checkNamespace(channel, asked);
  if (checked.outcome === "refused") return checked;
  const { options } = checked;
  if (typeof offset !== "number" || offset === 0) return refusedRequest("offset is required");
  const refused = refusedIdempotencyKey(idempotencyKey);
  if (refused !== undefined) return refused;
  const condition = typeof ifVersion === "number" && { ifVersion };
  return {
    outcome: "change",
    options,
    request: { offset, epoch, idempotencyKey, ...condition },
  };
}

/** Makes the shapes of the requests; `data` is read from the text. */
function newShapes() {
  const changed = {
    channel: textField(),
    offset: optionalOffsetField(),
    epoch: textField(),
    if_version: optionalOffsetField(),
    idempotency_key: textField(),
  };
  return {
    update: objectOf({
      ...changed,
      b64data: textField(),
      tags: objectField(),
      delta: flagField(),
    }),
    delete: objectOf({ ...changed, reason: textField() }),
    erase: objectOf({
      channel: textField(),
      offset: optionalOffsetField(),
      epoch: textField(),
      user: textField(),
    }),
  };
}

/** Built when the first request is parsed. */
let requestShapes: ReturnType<typeof newShapes> | undefined;
const updateShape = () => (requestShapes ??= newShapes()).update;
const deleteShape = () => (requestShapes ??= newShapes()).delete;

const eraseShape = () => (requestShapes ??= newShapes()).erase;

/** The rows of these methods. */
export const changeRows = {
  update_publication: { at: "channel", changes: true },
  delete_publication: { at: "channel", changes: true },
  erase: { at: "channel", changes: true },
} as const satisfies Readonly<Record<string, Operation>>;

type ChangeRows = typeof changeRows;

declare module "../../access/operations.ts" {
  interface Operations extends ChangeRows {}
}

/** How the requests of these methods are read. */
export const changeMethods = {
  update_publication: { shape: updateShape, entry: updateEntry, texts: ["data"] },
  delete_publication: { shape: deleteShape, entry: deleteEntry },
  erase: { shape: eraseShape, entry: eraseEntry },
} as const;
