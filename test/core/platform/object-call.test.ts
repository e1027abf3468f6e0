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

  it("[N13] names the object and what SQLite or the runtime says of the cause", () => {
    const object = { id: { toString: () => "3c53" } };
    const full = Object.assign(new Error("database or disk is full: SQLITE_FULL"), {
      durableObjectReset: true,
    });
    expect(parseCallFailure(full, object)).toStrictEqual({
      overloaded: false,
      summary: "error=Error durableObjectReset storage=SQLITE_FULL object=3c53",
      detail: "storage failed: SQLITE_FULL, the disk is full",
    });
    const internal = new Error("internal error; reference = bq2imc2okcg3q9iq8fsite5e");
    expect(parseCallFailure(internal, object)).toStrictEqual({
      overloaded: false,
      summary: "error=Error reference=bq2imc2okcg3q9iq8fsite5e object=3c53",
    });
    const payload = new Error("internal error; reference = a payload: SQLITE_secret");
    expect(parseCallFailure(payload).summary).toBe("error=Error");
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
