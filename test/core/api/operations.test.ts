import { describe, expect, it } from "vitest";
import { isCommandName, operationNames } from "../../../src/api/operations.ts";

describe("the table of operations", () => {
  it("[M1] says which operations a queue's messages may hold", () => {
    const changing = operationNames(({ changes }) => changes === true);
    expect(changing).toContain("publish");
    expect(changing).toContain("map_clear");
    expect(changing).not.toContain("history");
    expect(changing).not.toContain("get_user_status");
  });

  it.each(["events", "batch", "rpc", "toString", "__proto__", ""])(
    "[W4] has no command of the name %j",
    (name) => {
      expect(isCommandName(name)).toBe(false);
    },
  );
});
