import type { Message } from "./codec.ts";
import { encodeClientInfo, encodePublication } from "./json-publication.ts";
import type { Push } from "./reply.ts";

/** A push as JSON on one line (reference 1.2 and 1.3). */
export function encodePush(push: Push): Message {
  return `{"push":{"channel":${JSON.stringify(push.channel)},${encodeContent(push)}}}`;
}

function encodeContent(push: Push): string {
  switch (push.type) {
    case "publication":
      return `"pub":${encodePublication(push.publication)}`;
    case "unsubscribe":
      return `"unsubscribe":{"code":${push.code.code},"reason":${JSON.stringify(push.code.reason)}}`;
    case "join":
    case "leave":
      break;
  }
  return `"${push.type}":{"info":${encodeClientInfo(push.info)}}`;
}
