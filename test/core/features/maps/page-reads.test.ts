import { describe, expect, it } from "vitest";
import type { OperationReply } from "../../../../src/contract/channel-call.ts";
import type { MapPageQuery } from "../../../../src/features/maps/map-call.ts";
import type { RelayReply } from "../../../../src/contract/relay-request.ts";
import { mapLimits } from "../../../../src/features/maps/limits.ts";
import { errorCodes } from "../../../../src/protocol/codes.ts";
import { GatewayFixture } from "../../gateway/support/gateway-fixture.ts";

const position = { epoch: "e", offset: 5 };
const first: MapPageQuery = { cursor: "", limit: 10 };
const second: MapPageQuery = { cursor: "k", limit: 10, since: position };
const page = (): RelayReply => ({ outcome: "page", publications: [], cursor: "k", position });

/** Reads a page of the map "m", and gives the list into which the reply comes. */
function read(fixture: GatewayFixture, query: MapPageQuery, bytesMax = 1_000): OperationReply[] {
  const replies: OperationReply[] = [];
  const done = (reply: OperationReply): number => replies.push(reply);
  const operation = { method: "map_state", request: query, bytesMax } as const;
  fixture.gateway.request("m", operation, undefined, fixture.nowMs, done);
  return replies;
}

describe("[Z3] [Z26] pages of a map for the clients of a gateway", () => {
  it("cross to it once for all who want the same one while it is on its way", () => {
    const fixture = new GatewayFixture();
    const all = [second, second, second].map((query) => read(fixture, query));
    expect(fixture.port.calls).toEqual(["map_state"]);
    fixture.port.answer(page());
    const [one, ...others] = all.flat();
    expect(one).toMatchObject({ outcome: "page", cursor: "k", position });
    expect(others).toHaveLength(2);
    for (const other of others) expect(other).toBe(one);
    expect(fixture.port.open).toBe(0);
  });

  it("are the asked ones: of another size, cursor or position they are others", () => {
    const fixture = new GatewayFixture();
    read(fixture, first);
    read(fixture, second);
    read(fixture, second, 999);
    read(fixture, { ...second, limit: 9 });
    read(fixture, { ...second, cursor: "l" });
    read(fixture, { ...second, since: { epoch: "e", offset: 6 } });
    fixture.port.answer(page());
    expect(fixture.port.requests).toHaveLength(5);
  });

  it("stay for a moment, but for the first one, which is as new as the request for it", () => {
    const fixture = new GatewayFixture();
    for (const query of [first, second]) {
      read(fixture, query);
      fixture.port.answer(page());
    }
    expect(read(fixture, second)).toHaveLength(1);
    expect(fixture.port.open).toBe(0);
    expect(read(fixture, first)).toHaveLength(0);
    fixture.port.answer(page());
    fixture.nowMs += mapLimits.mapPageSharedMs;
    expect(read(fixture, second)).toHaveLength(0);
    expect(fixture.port.open).toBe(1);
  });

  it("fail for all who wait, and are asked for again by the next one", () => {
    const fixture = new GatewayFixture();
    const all = [read(fixture, second), read(fixture, second)];
    const lost = { outcome: "failed", error: errorCodes.unrecoverablePosition } as const;
    fixture.port.answer(lost);
    expect(all).toEqual([[lost], [lost]]);
    const next = read(fixture, second);
    fixture.port.answer({ outcome: "failed", error: errorCodes.notAvailable });
    expect(next).toEqual([{ outcome: "failed", error: errorCodes.notAvailable }]);
  });
});
