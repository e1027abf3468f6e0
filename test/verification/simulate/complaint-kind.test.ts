import { describe, expect, it } from "vitest";
import { kindOf } from "./complaint-kind.ts";

describe("the kind of a complaint", () => {
  it("doesn't depend on the client, the channel or the offsets", () => {
    const one = kindOf("c1 on keep:a is at epoch1:7 and not at epoch2:13");
    expect(kindOf("c12 on tell:e is at epoch3:0 and not at epoch1:1")).toBe(one);
    expect(kindOf("few:b is followed by g/1,g/2, needed by g/3")).toBe(
      kindOf("last:c is followed by g/2, needed by g/1,g/3,g/2"),
    );
  });

  it("depends on the fault", () => {
    expect(kindOf("c1 was closed with 3000")).not.toBe(kindOf("c1 was unsubscribed with 3000"));
  });

  it("is the first line of an exception", () => {
    expect(kindOf("threw Error: bad\n    at run.ts:7")).toBe("threw Error: bad");
  });
});
