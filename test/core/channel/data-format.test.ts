import { describe, expect, it } from "vitest";
import { acceptsData } from "../../../src/channel/data-format.ts";
import { publishing } from "../../contract/open-channel.ts";
import { channelOptions } from "../../support/configured.ts";

const texts = ["{}", ' {"a":1} ', "\n{}", "[]", '[{"a":1}]', '"{}"', "1", "true", "null"];

describe("the data format of a namespace", () => {
  it.each(["", "json"])("[A1] takes any JSON as %j", (format) => {
    const options = channelOptions({ publication_data_format: format });
    for (const text of texts) expect(acceptsData(options, publishing(text).data)).toBe(true);
  });

  it("[A1] takes only objects as json_object", () => {
    const options = channelOptions({ publication_data_format: "json_object" });
    const accepted = texts.filter((text) => acceptsData(options, publishing(text).data));
    expect(accepted).toEqual(["{}", ' {"a":1} ', "\n{}"]);
  });
});
