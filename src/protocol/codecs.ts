import type { Codec, CodecName } from "./codec.ts";
import { jsonCodec } from "./json-codec.ts";

/** The codec of that name; JSON where none is named. */
export function codecNamed(_name: CodecName | undefined): Codec {
  return jsonCodec;
}
