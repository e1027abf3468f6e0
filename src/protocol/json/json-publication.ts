import { payloadJson } from "../payload.ts";
import type { ClientInfo, Publication } from "../publication.ts";

/**
 * A publication as JSON, fields in the order of their numbers (reference 1.3), payload spliced in untouched (rule W2).
 * The text stands on one line. On the way of every publication, so it is written plainly.
 */
export function encodePublication(publication: Publication): string {
  const { data } = publication;
  let json = `{"data":${typeof data === "string" ? data : payloadJson(data)}`;
  if (publication.info !== undefined) json += `,"info":${encodeClientInfo(publication.info)}`;
  if (publication.offset > 0) json += `,"offset":${publication.offset}`;
  if (publication.tags !== undefined) {
    const tags = JSON.stringify(publication.tags);
    if (tags !== "{}") json += `,"tags":${tags}`;
  }
  if (publication.delta === true) json += ',"delta":true';
  if (publication.epoch !== undefined && publication.epoch !== "") {
    json += `,"epoch":${JSON.stringify(publication.epoch)}`;
  }
  return `${json}}`;
}

/** Who a client is, as JSON on one line. `user` and `client` are there even when empty: SDKs rely on both. */
export function encodeClientInfo(info: ClientInfo): string {
  let json = `{"user":${JSON.stringify(info.user)},"client":${JSON.stringify(info.client)}`;
  if (info.connInfo !== undefined) json += `,"conn_info":${info.connInfo}`;
  if (info.chanInfo !== undefined) json += `,"chan_info":${info.chanInfo}`;
  return `${json}}`;
}
