import { describe, expect, it } from "vitest";
import { mayChange } from "../../../../src/features/changes/may.ts";
import { channelOptions } from "../../../support/configured.ts";
import { ManyChannelsFixture } from "../../session/many-channels-fixture.ts";

const history = { history_size: 5, history_ttl: "60s" };
const own = {
  ...history,
  allow_change: true,
  allow_change_own_for_client: true,
  allow_publish_for_client: true,
};

const rpc = (method: string, data: object) => JSON.stringify({ id: 2, rpc: { method, data } });

describe("a client's change", () => {
  it.each([
    ["dormouse.update", { channel: "a", offset: 1, data: 2 }, "update_publication a"],
    ["dormouse.delete", { channel: "a", offset: 1 }, "delete_publication a"],
  ])("[ED13] is an operation on the channel: %s", (method, data, call) => {
    const fixture = new ManyChannelsFixture({ options: own });
    const connection = fixture.connected("ada");
    connection.takeSent();
    fixture.channels.takeCalls();
    fixture.send(connection, rpc(method, data));
    expect(fixture.channels.takeCalls()).toStrictEqual([call]);
  });

  it.each([
    ["dormouse.update", { channel: "a", offset: 1 }],
    ["dormouse.update", { channel: "a", offset: 0, data: 1 }],
    ["dormouse.delete", { channel: "a", offset: 1, reason: "x".repeat(257) }],
    ["dormouse.delete", { channel: "a", offset: 1, if_version: "1" }],
  ])("[ED13] is answered 107 if it isn't one: %s %o", (method, data) => {
    const fixture = new ManyChannelsFixture({ options: own });
    const connection = fixture.connected("ada");
    connection.takeSent();
    fixture.send(connection, rpc(method, data));
    expect(connection.takeSent().join("")).toContain('"code":107');
  });
});

describe("who may change publications", () => {
  it.each([
    ["nobody where they can't be changed", history, { capabilities: ["chg"] }, false],
    ["no client by default", { ...history, allow_change: true }, {}, false],
    [
      "one with the capability",
      { ...history, allow_change: true },
      { capabilities: ["chg"] },
      true,
    ],
    ["one changes its own", own, {}, "own"],
    ["no anonymous one", own, { user: "" }, false],
    ["none that may not publish", { ...own, allow_publish_for_client: false }, {}, false],
  ] as const)("[ED13] %s", (_, options, caller, allowed) => {
    expect(asked(options, caller)).toBe(allowed);
  });
});

function asked(options: object, caller: object) {
  const channel = { options: channelOptions(options), private: false };
  return mayChange(channel, { user: "ada", subscribed: true, ...caller }).allowed;
}
