import { describe, expect, it } from "vitest";
import { configOf, problemsOf } from "../parsed.ts";

describe("[A8] the section swagger", () => {
  it("[W8] has the description off by default, and switches it on", () => {
    expect(configOf({}).swagger).toStrictEqual({ enabled: false });
    expect(configOf({ swagger: { handler_prefix: "/swagger" } }).swagger.enabled).toBe(false);
    expect(configOf({ swagger: { enabled: true } }).swagger).toStrictEqual({ enabled: true });
  });

  it("refuses another address, and a value that isn't a boolean", () => {
    expect(problemsOf({ swagger: { enabled: true, handler_prefix: "/api-docs" } })).toEqual([
      "swagger.handler_prefix is not supported by Dormouse",
    ]);
    expect(problemsOf({ swagger: { enabled: "true" } })).toEqual([
      "swagger.enabled must be true or false, found a string",
    ]);
  });
});
