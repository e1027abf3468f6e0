import { describe, expect, it } from "vitest";
import type { Codec } from "../../../src/protocol/codec.ts";
import { jsonCodec } from "../../../src/protocol/json/codec.ts";
import { messagePackCodec } from "../../../src/protocol/messagepack/codec.ts";
import { protobufCodec } from "../../../src/protocol/protobuf/codec.ts";
import type { ClientInfo } from "../../../src/protocol/publication.ts";
import { valid } from "./valid-json-text.ts";

describe.each([jsonCodec, protobufCodec, messagePackCodec])("presence in $name", (codec) => {
  const all = Array.from({ length: 40 }, (_, index) => ({
    user: `ü${index}`,
    client: `c"${index}`,
    connInfo: valid(`{"n":${index}}`),
  }));

  it("[P5] is the same bytes in whatever parts it comes", () => {
    const whole = encoded(codec, [all]);
    const cuts = [
      [all.slice(0, 1), all.slice(1)],
      [[], all.slice(0, 20), [], all.slice(20), []],
      all.map((one) => [one]),
    ];
    for (const parts of cuts) expect(encoded(codec, parts)).toEqual(whole);
    expect(encoded(codec, [[], []])).toEqual(encoded(codec, []));
  });

  it("[P5] is encoded once, and each reply has its own id", () => {
    let reads = 0;
    const counted: ClientInfo = {
      client: "c",
      get user() {
        reads++;
        return "u";
      },
    };
    const parts = [[counted]];
    const first = encoded(codec, parts, 1);
    const second = encoded(codec, parts, 2);
    expect(reads).toBe(1);
    expect(second).toEqual(encoded(codec, [[{ user: "u", client: "c" }]], 2));
    expect(second).not.toEqual(first);
  });
});

function encoded(codec: Codec, parts: readonly (readonly ClientInfo[])[], id = 1) {
  return codec.encodeReply({ id, method: "presence", result: { parts, incomplete: true } });
}
