import type { Codec, CodecName } from "./codec.ts";
import { jsonCodec, unidirectionalCodec } from "./json/codec.ts";
import { messagePackCodec } from "./messagepack/codec.ts";
import { protobufCodec } from "./protobuf/codec.ts";

/** Whether a codec has that name. A session that another release stored may name one that this release doesn't have. */
export function isCodecName(name: unknown): name is CodecName {
  return name === "json" || name === "protobuf" || name === "msgpack" || name === "one_way";
}

/** The codec of that name; that of JSON if there is no name. */
export function codecNamed(name: CodecName = "json"): Codec {
  switch (name) {
    case "json":
      return jsonCodec;
    case "protobuf":
      return protobufCodec;
    case "msgpack":
      return messagePackCodec;
    case "one_way":
      return unidirectionalCodec;
  }
}
