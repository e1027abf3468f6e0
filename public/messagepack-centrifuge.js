/**
 * Centrifugo's JavaScript client with MessagePack over WebSocket, for a Dormouse server.
 *
 *   import { MessagePackCentrifuge } from "./messagepack-centrifuge.js";
 *   const client = new MessagePackCentrifuge(address, options);
 *
 * This is the class of the `centrifuge` package with another codec, like the package's own Protobuf build. As there,
 * the data of publications are bytes (`Uint8Array`) both ways. It needs `centrifuge` 5.8 and `@msgpack/msgpack` 3.
 */

import { decodeMulti, encode } from "@msgpack/msgpack";
import { Centrifuge } from "centrifuge";

export class MessagePackCentrifuge extends Centrifuge {
  constructor(endpoint, options) {
    const websocket = binary(options?.websocket ?? globalThis.WebSocket);
    super(endpoint, { ...options, websocket });
  }

  /** The method that the package's Protobuf build overrides to set its codec. */
  _formatOverride() {
    this._codec = { name: () => "msgpack", encodeCommands, decodeReplies, applyDeltaIfNeeded };
  }
}

/** Adds the subprotocol and the binary type, which the package sets for Protobuf only. */
function binary(Base) {
  return class MessagePackWebSocket extends Base {
    constructor(address) {
      super(address, "centrifuge-msgpack");
      this.binaryType = "arraybuffer";
    }
  };
}

function encodeCommands(commands) {
  const pieces = commands.map((command) => encode(command, { ignoreUndefined: true }));
  const frame = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    frame.set(piece, at);
    at += piece.length;
  }
  return frame;
}

function decodeReplies(frame) {
  return [...decodeMulti(frame)];
}

function applyDeltaIfNeeded(publication, previous) {
  const { data, delta } = publication;
  const full = delta ? applyDelta(previous, data) : data;
  return {
    newData: full,
    newPrevValue: full,
    isDelta: Boolean(delta),
    wireBytes: data.length,
    fullBytes: full.length,
  };
}

/** Applies a delta in Fossil's format. The package has the same function, but doesn't export it. */
function applyDelta(source, delta) {
  let at = 0;
  const integer = () => {
    let value = 0;
    for (; ; at++) {
      const digit = digits.indexOf(String.fromCharCode(delta[at]));
      if (digit < 0) return value;
      value = value * 64 + digit;
    }
  };
  const target = new Uint8Array(integer());
  let length = 0;
  at++; // The line break after the length.
  while (at < delta.length) {
    const number = integer();
    const command = String.fromCharCode(delta[at++]);
    if (command === "@") {
      const from = integer();
      at++; // The comma.
      target.set(source.subarray(from, from + number), length);
      length += number;
    } else if (command === ":") {
      target.set(delta.subarray(at, at + number), length);
      length += number;
      at += number;
    } else if (command === ";" && length === target.length && number === checksum(target)) {
      return target;
    } else {
      break;
    }
  }
  throw new Error("The delta does not apply to the previous data");
}

function checksum(bytes) {
  let sum = 0;
  for (const [index, byte] of bytes.entries()) sum += byte * 2 ** (24 - 8 * (index % 4));
  return sum % 2 ** 32;
}

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~";
