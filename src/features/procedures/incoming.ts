/** The publications of clients and backends, as `onPublish` gets them and changes them (rule PC5). */
import { acceptsData } from "../../channel/publication-request.ts";
import type { ChannelOptions } from "../../config/config.ts";
import type { ChannelOperation } from "../../contract/channel-call.ts";
import { limits } from "../../limits.ts";
import { withoutChangeTags } from "../../protocol/change-tags.ts";
import type { Publication, Tags } from "../../protocol/publication.ts";
import type { ChangeOperation } from "../changes/change-call.ts";
import { isChange, versionOf } from "../changes/channel-changes.ts";
import { utf8Fits } from "../../protocol/bytes.ts";
import { base64, type Payload, payloadText } from "../../protocol/payload.ts";
import { jsonValue } from "../../protocol/wire-value.ts";
import type { RunOnPublish } from "./channel-code.ts";
import type { IncomingPublication } from "./definition.ts";
import { overLimit, unacceptedData } from "./failure.ts";

/** The operations on which `onPublish` decides. */
export type DecidedOperation =
  | Extract<ChannelOperation, { readonly method: "publish" | "map_publish" | "map_remove" }>
  | ChangeOperation;

/** Whether `onPublish` decides on an operation. */
export function isDecided(operation: ChannelOperation): operation is DecidedOperation {
  const { method } = operation;
  return (
    method === "publish" ||
    method === "map_publish" ||
    method === "map_remove" ||
    isChange(operation)
  );
}

/** @param changed the publication that is edited or deleted; undefined for another operation */
export function incomingOf(
  operation: DecidedOperation,
  changed: Publication | undefined,
): IncomingPublication {
  switch (operation.method) {
    case "publish":
      return { ...dataOf(operation.request.data), ...tagsOf(operation.request) };
    case "map_publish": {
      const { data, key } = operation.request;
      return { ...dataOf(data), key, ...tagsOf(operation.request) };
    }
    case "map_remove": {
      const { key } = operation.request;
      return { data: undefined, key, removed: true, ...tagsOf(operation.request) };
    }
    case "update_publication":
      return {
        ...dataOf(operation.request.data),
        ...tagsOf(operation.request),
        ...beforeOf(changed),
      };
    case "delete_publication":
      return { data: undefined, removed: true, ...beforeOf(changed) };
  }
}

function tagsOf({ tags }: { readonly tags?: Tags }): Pick<IncomingPublication, "tags"> {
  return tags === undefined ? {} : { tags };
}

/** The publication as it is before a change. */
function beforeOf(changed: Publication | undefined): Pick<IncomingPublication, "changes"> {
  if (changed === undefined) return {};
  const { offset, info, tags: allTags = {} } = changed;
  const tags = withoutChangeTags(allTags);
  const user = info?.user ?? "";
  const changes = { offset, user, version: versionOf(allTags), ...dataOf(changed.data) };
  return { changes: tags === undefined ? changes : { ...changes, tags } };
}

function dataOf(data: Payload): Pick<IncomingPublication, "data" | "b64data"> {
  const text = payloadText(data);
  return text === undefined
    ? { data: undefined, b64data: base64(data) }
    : { data: jsonValue(text) };
}

/**
 * The operation with what the code has put in place of data and tags.
 *
 * @throws if the channel doesn't take that
 */
export function changedOperation(
  operation: DecidedOperation,
  { data, tags }: ReturnType<RunOnPublish>,
  options: ChannelOptions,
): DecidedOperation {
  const ownTags = tags === undefined ? {} : { tags };
  if (operation.method === "delete_publication") {
    if (data !== undefined || tags !== undefined)
      throw new TypeError("a publication that is deleted gets no data and no tags");
    return operation;
  }
  if (operation.method === "map_remove") {
    if (data !== undefined) throw new TypeError("a key that is removed has no data");
    return { ...operation, request: { ...operation.request, ...ownTags } };
  }
  if (data !== undefined && !acceptsData(options, data)) throw unacceptedData();
  if (data !== undefined && !utf8Fits(data, limits.publicationBytesMax))
    throw overLimit(`a publication has at most ${limits.publicationBytesMax} bytes`);
  if (operation.method === "publish") {
    const own = data === undefined ? {} : { data };
    return { ...operation, request: { ...operation.request, ...own, ...ownTags } };
  }
  if (operation.method === "update_publication") {
    const own = data === undefined ? {} : { data };
    return { ...operation, request: { ...operation.request, ...own, ...ownTags } };
  }
  const { streamData, ...request } = operation.request;
  const kept = streamData === undefined ? {} : { streamData };
  const own = data === undefined ? kept : { data };
  return { ...operation, request: { ...request, ...own, ...ownTags } };
}
