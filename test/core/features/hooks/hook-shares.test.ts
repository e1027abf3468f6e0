import { describe, expect, it } from "vitest";
import { hookLimits } from "../../../../src/features/hooks/limits.ts";
import { ManyChannelsFixture } from "../../session/many-channels-fixture.ts";

const rpc = {
  proxy: { endpoint: "https://backend.example/hooks" },
  without_namespace: { proxy_enabled: true },
};

describe("a share of the questions to a backend", () => {
  it.each([
    ["connections of one user", "42", "42", 1],
    ["users", "42", "43", 2],
    ["connections without a user", "", "", 2],
  ])("[Q11] is what two %s have (%j, %j): %i", (_, one, other, shares) => {
    const fixture = new ManyChannelsFixture({ rpc });
    for (const user of [one, other]) {
      const connection = fixture.connected(user);
      for (let count = 0; count <= hookLimits.hooksInFlightShareMax; count++)
        fixture.send(connection, `{"id":2,"rpc":{"method":"a"}}`);
    }
    expect(fixture.backend.pending).toBe(shares * hookLimits.hooksInFlightShareMax);
  });
});
