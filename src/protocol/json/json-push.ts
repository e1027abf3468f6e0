import type { Message } from "../codec.ts";
import { encodeClientInfo, encodePublication } from "./json-publication.ts";
import { type JsonText, trustedJsonText } from "./text.ts";
import type { Push } from "../reply.ts";

/** A push as JSON on one line (reference 1.2 and 1.3). */
export function encodePush(push: Push): Message {
  return `{"push":${encodeBare(push)}}`;
}

/** The same without the wrapper that tells pushes from replies. */
export function encodeBare(push: Push): JsonText {
  if (push.type === "disconnect") {
    const { code, reason } = push.code;
    return trustedJsonText(`{"disconnect":{"code":${code},"reason":${JSON.stringify(reason)}}}`);
  }
  return trustedJsonText(`{"channel":${JSON.stringify(push.channel)},${encodeContent(push)}}`);
}

function encodeContent(push: Exclude<Push, { readonly type: "disconnect" }>): string {
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
