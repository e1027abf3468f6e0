import { beforeEach, describe, expect, it } from "vitest";
import { CommitSharing } from "../../../src/channel/commit-sharing.ts";
import { limits } from "../../../src/limits.ts";

const { commitWaitMs, commitWaitBehindMs, commitSharersMax } = limits;

const hub = { size: 1_000, sendsLong: true, isBehind: false };
const relay = { size: 1, calling: true };
let sharing: CommitSharing;

beforeEach(() => {
  Object.assign(hub, { size: 1_000, sendsLong: true, isBehind: false });
  Object.assign(relay, { size: 1, calling: true });
  sharing = new CommitSharing({ hub, relay });
});

describe("[F7] a publish", () => {
  it("waits for as many as came together lately, and not longer than it may", () => {
    sharing.came(3);
    expect([1, 2, 3].map((waiting) => sharing.waitMs(waiting, 1))).toEqual([
      commitWaitMs - 1,
      commitWaitMs - 1,
      0,
    ]);
    expect(sharing.waitMs(2, commitWaitMs)).toBe(0);
    // From then on it waits for two.
    expect(sharing.waitMs(1, 0)).toBe(commitWaitMs);
    expect(sharing.waitMs(2, 0)).toBe(0);
  });

  it("that is alone doesn't wait, nor does one that has waited in vain", () => {
    sharing.came(1);
    expect(sharing.waitMs(1, 0)).toBe(0);
    sharing.came(2);
    expect(sharing.waitMs(1, commitWaitMs + 1)).toBe(0);
    expect(sharing.waitMs(1, 0)).toBe(0);
  });

  it("waits for no more than may share a commit", () => {
    sharing.came(commitSharersMax + 1);
    expect(sharing.waitMs(commitSharersMax - 1, 0)).toBe(commitWaitMs);
    expect(sharing.waitMs(commitSharersMax, 0)).toBe(0);
  });

  it("[F11] waits for a while behind many batches, with as many as come together", () => {
    sharing.came(2);
    hub.isBehind = true;
    expect(sharing.waitMs(1, 0)).toBe(commitWaitMs);
    expect(sharing.waitMs(2, 0)).toBe(commitWaitBehindMs);
    expect(sharing.waitMs(2, commitWaitBehindMs)).toBe(0);
  });

  it.each([
    { where: "nobody is subscribed", hubSize: 0, gateways: 0, waits: false },
    { where: "the frame is nearly sent", sendsLong: false, waits: false },
    { where: "a gateway could be told at once", calling: false, waits: false },
    { where: "only gateways are subscribed", hubSize: 0, sendsLong: false, waits: true },
    { where: "only sockets are subscribed", gateways: 0, waits: true },
  ])("waits where nothing is sent sooner without: $where", (given) => {
    sharing.came(2);
    Object.assign(hub, { size: given.hubSize ?? 1_000, sendsLong: given.sendsLong ?? true });
    Object.assign(relay, { size: given.gateways ?? 1, calling: given.calling ?? true });
    expect(sharing.waitMs(1, 0) > 0).toBe(given.waits);
  });
});
