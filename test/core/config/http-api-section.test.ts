import { describe, expect, it } from "vitest";
import { configOf, problemsOf } from "./parsed.ts";

describe("[A8] the http_api section", () => {
  it.each(["", "transport"])("takes the error_mode %j", (mode) => {
    expect(configOf({ http_api: { error_mode: mode } }).httpApi).toMatchObject({ errorMode: mode });
  });

  it.each([
    ["error_mode", "result", ': "result" is not one of "", "transport"'],
    ["error_mode", false, ' must be one of "", "transport", found a boolean'],
    ["eror_mode", "", " is unknown; did you mean error_mode?"],
  ])("refuses %s: %j", (key, value, predicate) => {
    expect(problemsOf({ http_api: { [key]: value } })).toEqual([`http_api.${key}${predicate}`]);
  });
});
