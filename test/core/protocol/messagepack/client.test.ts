import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MessagePackCentrifuge } from "../../../../public/messagepack-centrifuge.js";
import { createDelta } from "../../../../src/delta/fossil.ts";
import { messagePackCodec } from "../../../../src/protocol/messagepack/codec.ts";
import { fromHex } from "./hex.ts";

/** What the package calls of its codec, as the file that we ship fills it. */
interface ClientCodec {
  name(): string;
  encodeCommands(commands: readonly object[]): Uint8Array;
  decodeReplies(frame: ArrayBuffer | Uint8Array): readonly object[];
  applyDeltaIfNeeded(publication: object, previous: Uint8Array | undefined): object;
}

/** The sockets that were asked for, none of which ever opens. */
const opened: { readonly address: string; readonly protocol: string }[] = [];

class StillSocket {
  binaryType = "blob";

  constructor(address: string, protocol: string) {
    opened.push({ address, protocol });
    sockets.push(this);
  }

  close(): void {}
}

const sockets: StillSocket[] = [];

class OpenClient extends MessagePackCentrifuge {
  clientCodec(): ClientCodec {
    return this._codec;
  }
}

const client = new OpenClient("ws://localhost/connection/websocket", { websocket: StillSocket });
const codec = client.clientCodec();

describe("the file that makes the JavaScript client speak MessagePack", () => {
  it("[W6] asks for our subprotocol and for bytes", () => {
    client.connect();
    client.disconnect();
    expect(opened).toStrictEqual([
      { address: "ws://localhost/connection/websocket", protocol: "centrifuge-msgpack" },
    ]);
    expect(sockets.map(({ binaryType }) => binaryType)).toStrictEqual(["arraybuffer"]);
  });

  it("[W6] sends commands that the server reads", () => {
    const frame = codec.encodeCommands([
      { id: 1, publish: { channel: "x", data: fromHex("00ff"), key: undefined } },
      {},
    ]);
    expect(messagePackCodec.decodeFrame(frame)).toStrictEqual({
      commands: [
        {
          method: "publish",
          id: 1,
          request: { channel: "x", data: fromHex("00ff"), type: 0, key: "", removed: false },
        },
        { method: "pong" },
      ],
    });
    expect(codec.encodeCommands([{}])).toStrictEqual(messagePackCodec.ping);
  });

  it("[W6] reads what the server sends", () => {
    const frame = messagePackCodec.joinFrame([
      messagePackCodec.encodeReply({ id: 1, method: "publish" }),
      messagePackCodec.ping,
      messagePackCodec.encodePush({
        type: "publication",
        channel: "x",
        publication: { data: fromHex("00ff"), offset: 2 ** 40 },
      }),
    ]);
    const buffer = Uint8Array.from(frame, Number).buffer;
    expect(codec.decodeReplies(buffer)).toStrictEqual([
      { id: 1, publish: {} },
      {},
      { push: { channel: "x", pub: { data: fromHex("00ff"), offset: 2 ** 40 } } },
    ]);
  });

  it("[W6] makes payloads out of deltas", () => {
    const part = fc.uint8Array({ maxLength: 60 });
    const edits = fc.tuple(part, part, part, fc.uint8Array({ minLength: 40, maxLength: 60 }));
    fc.assert(
      fc.property(edits, ([head, old, fresh, tail]) => {
        const [before, after] = [joined(head, old, tail), joined(tail, fresh, head)];
        const data = createDelta(before, after) ?? new Uint8Array();
        fc.pre(data.length > 0);
        expect(codec.applyDeltaIfNeeded({ data, delta: true }, before)).toStrictEqual({
          newData: after,
          newPrevValue: after,
          isDelta: true,
          wireBytes: data.length,
          fullBytes: after.length,
        });
      }),
      { seed: 65, numRuns: 300 },
    );
  });

  it("[W6] takes a payload that is no delta as it is", () => {
    const data = fromHex("00ff");
    expect(codec.applyDeltaIfNeeded({ data }, undefined)).toStrictEqual({
      newData: data,
      newPrevValue: data,
      isDelta: false,
      wireBytes: 2,
      fullBytes: 2,
    });
  });

  it("[W6] refuses a delta of another payload", () => {
    const before = new Uint8Array(100).fill(1);
    const data = createDelta(before, joined(before, fromHex("02"))) ?? new Uint8Array();
    const other = new Uint8Array(100).fill(3);
    expect(() => codec.applyDeltaIfNeeded({ data, delta: true }, other)).toThrow("delta");
  });
});

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => Array.from(part)));
}
