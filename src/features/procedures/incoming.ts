/** The publications of clients and backends, as `onPublish` gets them and changes them (rule PC5). */
import { acceptsData } from "../../channel/publication-request.ts";
import type { ChannelOptions } from "../../config/config.ts";
import type { ChannelOperation } from "../../contract/channel-call.ts";
import { limits } from "../../limits.ts";
import { utf8Fits } from "../../protocol/bytes.ts";
import { base64, type Payload, payloadText } from "../../protocol/payload.ts";
import { jsonValue } from "../../protocol/wire-value.ts";
import type { RunOnPublish } from "./channel-code.ts";
import type { IncomingPublication } from "./definition.ts";
import { overLimit, unacceptedData } from "./failure.ts";

/** The operations on which `onPublish` decides. */
export type DecidedOperation = Extract<
  ChannelOperation,
  { readonly method: "publish" | "map_publish" | "map_remove" }
>;

/** Whether `onPublish` decides on an operation. */
export function isDecided(operation: ChannelOperation): operation is DecidedOperation {
  const { method } = operation;
  return method === "publish" || method === "map_publish" || method === "map_remove";
}

export function incomingOf(operation: DecidedOperation): IncomingPublication {
  const { request } = operation;
  const tags = request.tags === undefined ? {} : { tags: request.tags };
  switch (operation.method) {
    case "publish":
      return { ...dataOf(operation.request.data), ...tags };
    case "map_publish":
      return { ...dataOf(operation.request.data), key: operation.request.key, ...tags };
    case "map_remove":
      return { data: undefined, key: operation.request.key, removed: true, ...tags };
  }
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
  const { streamData, ...request } = operation.request;
  const kept = streamData === undefined ? {} : { streamData };
  const own = data === undefined ? kept : { data };
  return { ...operation, request: { ...request, ...own, ...ownTags } };
}
