import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeEmulation } from "../../../../src/transport/emulation.ts";
import { bytes, hex, proto, sdkCodec } from "./peers.ts";

const emulationType = proto.lookupType("EmulationRequest");

describe("decoding a Protobuf emulation request", () => {
  it("[W5] reads what the official SDK writes", () => {
    const request = { node: "n1", session: "s", data: bytes("0408015a00 00") };
    const golden = "0a026e31 120173 1a06 0408015a0000".replaceAll(" ", "");
    expect(hex(sdkCodec.encodeEmulationRequest(request))).toBe(golden);
    expect(hex(emulationType.encode(request).finish())).toBe(golden);
    expect(decodeEmulation(bytes(golden))).toStrictEqual(request);
  });

  it("[W5] takes absent fields for empty ones, as Protobuf can't tell them apart", () => {
    const nothing = { node: "", session: "", data: new Uint8Array() };
    expect(decodeEmulation(new Uint8Array())).toStrictEqual(nothing);
    expect(decodeEmulation(bytes("0a00 1200 1a00"))).toStrictEqual(nothing);
    expect(decodeEmulation(bytes("2201ff"))).toStrictEqual(nothing);
  });

  it.each([
    ["0a02 6e", "a field is cut off"],
    ["0a01ff", "the node isn't UTF-8"],
    ["1201ff", "the session isn't UTF-8"],
    ["0801", "the node is a number"],
    ["1001", "the session is a number"],
    ["1801", "the data are a number"],
    ["7b7d", "JSON came instead"],
  ])("[W5] refuses %s, where %s", (request) => {
    expect(decodeEmulation(bytes(request))).toBeUndefined();
  });

  it("[W5] never throws, whatever is posted", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (request) => {
        const decoded = decodeEmulation(request);
        expect(decoded === undefined || typeof decoded.session === "string").toBe(true);
      }),
      { seed: 9, numRuns: 3_000 },
    );
  });
});
