import type { Message } from "../codec.ts";
import { writeClientInfo, writePublication } from "./messagepack-publication.ts";
import { MessagePackWriter } from "./writer.ts";
import type { Push } from "../reply.ts";

/** A push as a map (reference 1.2 and 1.3). */
export function encodePush(push: Push): Message {
  // A payload is written into room that was made for it; all else is small as a rule.
  const payloadUnits = push.type === "publication" ? push.publication.data.length : 0;
  const writer = new MessagePackWriter(payloadUnits + restBytesExpected);
  const root = writer.openMap();
  writer.key(root, "push");
  writeBare(writer, push);
  return writer.finish();
}

function writeBare(writer: MessagePackWriter, push: Push): void {
  const map = writer.openMap();
  if (push.type !== "disconnect") {
    writer.key(map, "channel");
    writer.text(push.channel);
  }
  switch (push.type) {
    case "publication":
      writer.key(map, "pub");
      return writePublication(writer, push.publication);
    case "unsubscribe":
    case "disconnect":
      writer.key(map, push.type);
      return writeCode(writer, push.code);
    case "join":
    case "leave": {
      writer.key(map, push.type);
      const content = writer.openMap();
      writer.key(content, "info");
      return writeClientInfo(writer, push.info);
    }
  }
}

function writeCode(
  writer: MessagePackWriter,
  { code, reason }: { readonly code: number; readonly reason: string },
): void {
  const map = writer.openMap();
  writer.key(map, "code");
  writer.unsigned(code);
  writer.key(map, "reason");
  writer.text(reason);
}

const restBytesExpected = 256;
