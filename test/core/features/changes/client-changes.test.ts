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

describe("a client's change in a namespace with a publish hook", () => {
  const hooked = { ...own, name: "hooked", publish_proxy_enabled: true };
  const channel = {
    proxy: { publish: { endpoint: "https://backend.example/hooks" } },
    namespaces: [hooked],
  };

  /** A client that has asked for a change, and the question about it. */
  function asking(method: string, data: object) {
    const fixture = new ManyChannelsFixture({ channel });
    const connection = fixture.connected("ada");
    connection.takeSent();
    fixture.channels.takeCalls();
    fixture.send(connection, rpc(method, { channel: "hooked:a", offset: 3, ...data }));
    expect(fixture.channels.takeCalls()).toStrictEqual([]);
    return { fixture, connection, question: fixture.backend.takeAsked()[0]?.body };
  }

  it("[ED20] is seen by the backend before it happens, and may be refused", () => {
    const { fixture, connection, question } = asking("dormouse.delete", { reason: "spam" });
    const said = { method: "dormouse.delete", offset: 3, reason: "spam" };
    expect(question).toMatchObject({ user: "ada", channel: "hooked:a", ...said });
    fixture.backend.answer({ error: { code: 1_000, message: "it stays" } });
    expect(connection.takeSent().join("")).toContain("it stays");
    expect(fixture.channels.takeCalls()).toStrictEqual([]);
  });

  it("[ED20] is made as the backend has replaced it", () => {
    const { fixture, question } = asking("dormouse.update", { data: "bad", epoch: "e" });
    const said = { method: "dormouse.update", offset: 3, epoch: "e", data: "bad" };
    expect(question).toMatchObject(said);
    fixture.backend.answer({ result: { data: "good", tags: { checked: "yes" } } });
    expect(fixture.channels.edited("hooked:a")).toMatchObject({
      offset: 3,
      data: '"good"',
      tags: { checked: "yes" },
    });
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
