import type { Message } from "../codec.ts";
import { writeClientInfo, writePublication } from "./protobuf-publication.ts";
import { ProtobufWriter } from "./writer.ts";
import type { Push } from "../reply.ts";

/** A push as a Reply after its length (reference 1.2 and 1.3). */
export function encodePush(push: Push): Message {
  const writer = new ProtobufWriter();
  writer.begin(4);
  writeContent(writer, push);
  writer.end();
  return writer.delimited();
}

function writeContent(writer: ProtobufWriter, push: Push): void {
  if (push.type !== "disconnect") writer.text(2, push.channel);
  switch (push.type) {
    case "publication":
      writer.begin(4);
      writePublication(writer, push.publication);
      break;
    case "join":
      writer.begin(5);
      writeClientInfo(writer, 1, push.info);
      break;
    case "leave":
      writer.begin(6);
      writeClientInfo(writer, 1, push.info);
      break;
    case "unsubscribe":
      writer.begin(7);
      writer.unsigned(2, push.code.code);
      writer.text(3, push.code.reason);
      break;
    case "disconnect":
      writer.begin(11);
      writer.unsigned(1, push.code.code);
      writer.text(2, push.code.reason);
      break;
  }
  writer.end();
}
