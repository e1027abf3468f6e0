import { describe, expect, it } from "vitest";
import { parseEntry } from "../../../../src/api/methods.ts";
import { limits } from "../../../../src/limits.ts";
import { errorCodes } from "../../../../src/protocol/codes.ts";
import { caller } from "../../api/channel-config.ts";

const backend = caller();
const parse = (request: object | string, from = backend) =>
  parseEntry(
    "shared_poll_publish",
    typeof request === "string" ? request : JSON.stringify(request),
    from,
  );

const told = { channel: "votes:a", key: "k", data: { n: 1 }, version: 7 };

describe("a shared_poll_publish request", () => {
  it("[W1] comes to a command with every option that it has", () => {
    const request = `{"channel":"votes:a","key":"k","data":{"n":1.0},"version":18446744073709551615,"epoch":"e"}`;
    expect(parse(request)).toStrictEqual({
      outcome: "call",
      channel: "votes:a",
      command: {
        method: "shared_poll_publish",
        key: "API_KEY",
        request: { key: "k", data: '{"n":1.0}', version: 18_446_744_073_709_551_615n, epoch: "e" },
      },
    });
    expect(parse({ ...told, data: undefined, b64data: "AP8=" })).toMatchObject({
      command: { request: { data: Uint8Array.of(0, 255), epoch: "" } },
    });
  });

  it.each<[object, string]>([
    [{ key: "" }, "key is required"],
    [{ key: "x".repeat(limits.mapKeyBytesMax + 1) }, `key exceeds ${limits.mapKeyBytesMax} bytes`],
    [{ data: undefined }, "data is required"],
    [{ version: 0 }, "version is required"],
    [{ version: undefined }, "version is required"],
    [
      { epoch: "x".repeat(limits.versionEpochBytesMax + 1) },
      `epoch exceeds ${limits.versionEpochBytesMax} bytes`,
    ],
    [{ channel: "" }, "channel is required"],
    [{ channel: "news" }, "the channel's namespace is not one of shared polls"],
    [{ channel: "scores:a" }, "the channel's namespace is not one of shared polls"],
  ])("[W1] [B2] is refused with 107: %j", (change, detail) => {
    const error = errorCodes.badRequest;
    expect(parse({ ...told, ...change })).toMatchObject({ outcome: "refused", error, detail });
  });

  it("[W1] is refused with 108 where the namespace doesn't let backends publish", () => {
    expect(parse({ ...told, channel: "polls:a" })).toStrictEqual({
      outcome: "refused",
      channel: "polls:a",
      error: errorCodes.notAvailable,
      detail: "shared_poll.publish_enabled is off in the channel's namespace",
    });
  });

  it("[A14] is refused by a key that doesn't admit it", () => {
    const publisher = caller({ methods: ["publish"], channels: ["*"] });
    expect(parse(told, publisher)).toMatchObject({ error: errorCodes.permissionDenied });
    const admitted = caller({ methods: ["shared_poll_publish"], channels: ["votes:*"] });
    expect(parse(told, admitted)).toMatchObject({ outcome: "call" });
  });

  it("[W4] is malformed with a version that is none", () => {
    expect(parse({ ...told, version: "7" })).toStrictEqual({
      outcome: "malformed",
      detail: "the field version must be an unsigned 64 bit integer",
    });
  });
});
