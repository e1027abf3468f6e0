import { describe, expect, it } from "vitest";
import { parseTraceparent } from "../../../src/contract/traceparent.ts";

const trace = "0af7651916cd43dd8448eb211c80319c";
const parent = "b7ad6b7169203331";

describe("a traceparent", () => {
  it.each([
    ["sampled", `00-${trace}-${parent}-01`, `00-${trace}-${parent}-01`],
    ["not sampled", `00-${trace}-${parent}-00`, `00-${trace}-${parent}-00`],
    ["with flags that aren't known", `00-${trace}-${parent}-ff`, `00-${trace}-${parent}-ff`],
    ["between spaces", ` 00-${trace}-${parent}-01\t`, `00-${trace}-${parent}-01`],
    ["of a later version", `01-${trace}-${parent}-03`, `00-${trace}-${parent}-01`],
    ["of a later version with more", `fe-${trace}-${parent}-02-what`, `00-${trace}-${parent}-00`],
  ])("[X4] is read if it is %s", (_, header, read) => {
    expect(parseTraceparent(header)).toBe(read);
  });

  it.each([
    ["empty", ""],
    ["any text", "trace me"],
    ["in upper case", `00-${trace.toUpperCase()}-${parent}-01`],
    ["of version ff", `ff-${trace}-${parent}-01`],
    ["of version 00 with more", `00-${trace}-${parent}-01-what`],
    ["of a later version with more, not parted", `01-${trace}-${parent}-01what`],
    ["of a trace of zeros", `00-${"0".repeat(32)}-${parent}-01`],
    ["of a parent of zeros", `00-${trace}-${"0".repeat(16)}-01`],
    ["too short", `00-${trace.slice(1)}-${parent}-01`],
    ["without flags", `00-${trace}-${parent}`],
    ["two in one", `00-${trace}-${parent}-01, 00-${trace}-${parent}-01`],
  ])("[X4] is ignored if it is %s", (_, header) => {
    expect(parseTraceparent(header)).toBeUndefined();
  });

  it("[X1] may be absent", () => {
    expect([parseTraceparent(null), parseTraceparent(undefined)]).toEqual([undefined, undefined]);
  });
});
