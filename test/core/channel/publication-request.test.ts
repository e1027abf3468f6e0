import { describe, expect, it } from "vitest";
import { acceptsData } from "../../../src/channel/publication-request.ts";
import { payloadOf } from "../../../src/protocol/payload.ts";
import { publishing } from "../../contract/open-channel.ts";
import { channelOptions } from "../../support/configured.ts";

const texts = ["{}", ' {"a":1} ', "\n{}", "[]", '[{"a":1}]', '"{}"', "1", "true", "null"];

describe("the data format of a namespace", () => {
  it.each(["", "json", "binary"])("[A1] takes any JSON as %j", (format) => {
    const options = channelOptions({ publication_data_format: format });
    for (const text of texts) expect(acceptsData(options, publishing(text).data)).toBe(true);
  });

  it("[A1] takes only objects as json_object", () => {
    const options = channelOptions({ publication_data_format: "json_object" });
    const accepted = texts.filter((text) => acceptsData(options, publishing(text).data));
    expect(accepted).toEqual(["{}", ' {"a":1} ', "\n{}"]);
  });

  it.each([
    ["", [true, true, false]],
    ["json", [true, false, false]],
    ["json_object", [false, false, false]],
    ["binary", [true, true, true]],
  ])("[A1] takes JSON on two lines, other bytes and none at all as %j: %j", (format, expected) => {
    const options = channelOptions({ publication_data_format: format });
    const payloads = ["[1,\n2]", "hello", ""].map((text) => payloadOf(Buffer.from(text)));
    for (const payload of payloads) expect(payload).toBeInstanceOf(Uint8Array);
    expect(payloads.map((payload) => acceptsData(options, payload))).toEqual(expected);
  });

  it("[A1] takes an object as json_object, with any whitespace around it", () => {
    const options = channelOptions({ publication_data_format: "json_object" });
    for (const text of ['{"a":1}', ' {"a":\n1} ']) {
      expect(acceptsData(options, payloadOf(Buffer.from(text)))).toBe(true);
    }
  });
});
