import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CodecName } from "../../../src/protocol/codec.ts";
import { codecNamed } from "../../../src/protocol/codecs.ts";
import { disconnectCodes, errorCodes } from "../../../src/protocol/codes.ts";
import type { ConnectResult } from "../../../src/protocol/reply.ts";
import { isConnected } from "../../../src/transport/stream.ts";

const result: ConnectResult = {
  client: "c",
  version: "1",
  pingSeconds: 25,
  pong: false,
  ttlSeconds: 0,
  session: "s",
  node: "n",
};
const ids = [1, 127, 128, 4_294_967_295];

describe.each<CodecName>(["json", "protobuf", "one_way"])("the first frame in %s", (name) => {
  const codec = codecNamed(name);

  it.each(ids)("[T5] says that the client is connected: command %i", (id) => {
    const reply = codec.encodeReply({ id, method: "connect", result });
    expect(isConnected(reply)).toBe(true);
    const more = codec.encodeReply({ id: 9, method: "unsubscribe" });
    expect(isConnected(codec.joinFrame([reply, more]))).toBe(true);
  });

  it("[T5] says that it ends", () => {
    const push = codec.encodePush({ type: "disconnect", code: disconnectCodes.badRequest });
    expect(isConnected(push)).toBe(false);
    expect(isConnected(codec.ping)).toBe(false);
  });
});

describe.each(["json", "protobuf"] as const)("the first frame in %s", (name) => {
  it.each(ids)("[T5] names the fault of the connect: command %i", (id) => {
    const reply = codecNamed(name).encodeReply({ id, error: errorCodes.expired });
    expect(isConnected(reply)).toBe(false);
  });
});

it("[T5] bytes of any kind are looked at in their length at most", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      expect(typeof isConnected(bytes)).toBe("boolean");
    }),
  );
});
