import { describe, expect, it } from "vitest";
import { parseCallFailure } from "../../../workers/platform/object-call.ts";

describe("the error of a call to an object", () => {
  it("[B4] is an overload only when the platform's flag says so", () => {
    const flagged = Object.assign(new Error("too much"), { overloaded: true, retryable: true });
    expect(parseCallFailure(flagged)).toStrictEqual({
      overloaded: true,
      summary: "error=Error overloaded retryable",
    });
    const unsure = Object.assign(new Error("overloaded"), { overloaded: "yes" });
    expect(parseCallFailure(unsure).overloaded).toBe(false);
  });

  it("[A7] is summed up without its message, which may quote a payload", () => {
    const error = Object.assign(new TypeError("secret"), {
      remote: true,
      durableObjectReset: true,
    });
    expect(parseCallFailure(error).summary).toBe("error=TypeError remote durableObjectReset");
  });

  it("[A7] keeps a name out of the log that is no name", () => {
    const error = new Error("secret");
    error.name = "a secret\nin the name";
    expect(parseCallFailure(error).summary).toBe("error=unnamed");
  });

  it.each([[undefined], [null], ["secret"], [{ overloaded: false }]])(
    "[A7] need not be an error: %j",
    (thrown) => {
      expect(parseCallFailure(thrown)).toStrictEqual({
        overloaded: false,
        summary: "error=unnamed",
      });
    },
  );
});
