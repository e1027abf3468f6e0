import { describe, expect, it } from "vitest";
import type { ConnectionClaims } from "../../../../src/access/claims.ts";
import type { SessionSnapshot } from "../../../../src/contract/session-snapshot.ts";
import { limits } from "../../../../src/limits.ts";
import { NamedChannels } from "../../../../src/session/named-channels.ts";
import { json } from "../../api/channel-config.ts";
import { startMs } from "../channel-fixture.ts";
import { tooMany } from "../frames.ts";
import { ManyChannelsFixture } from "../many-channels-fixture.ts";
import type { TestConnection } from "../test-connection.ts";
import { connectionToken } from "../verified-tokens.ts";

const anybody = { allow_anonymous_connect_without_token: true };
const burst = 128 + limits.newChannelsBurst;

/** What is known of a client: the claims of its token, if it has one, and its address. */
type Known = Partial<ConnectionClaims> & Pick<SessionSnapshot, "address">;

function connect(fixture: ManyChannelsFixture, { address, ...claims }: Known): TestConnection {
  const connection = fixture.open(address === undefined ? {} : { address });
  const isByToken = Object.keys(claims).length > 0;
  const token = isByToken ? connectionToken(claims.user ?? "", claims) : {};
  fixture.send(connection, `{"id":1,"connect":{}}`, token);
  connection.takeSent();
  return connection;
}

/** How many of so many channels, with names of their own, a client is answered for. */
function named(
  fixture: ManyChannelsFixture,
  connection: TestConnection,
  name: string,
  count = burst,
): number {
  const ask = (index: number) => `{"id":3,"presence":{"channel":"${name}${index}"}}`;
  const frames = Array.from({ length: count }, (_, index) => ask(index));
  return fixture.ask(connection, frames.join("\n")).filter((frame) => frame !== tooMany(3)).length;
}

describe("the channels that a client names anew", () => {
  it.each<[string, Known, Known]>([
    ["user", { user: "42", uid: "1", address: "a" }, { user: "42", uid: "2", address: "b" }],
    ["token, by its ID", { uid: "1", issuedAtSeconds: 1 }, { uid: "1", issuedAtSeconds: 2 }],
    ["token without an ID", { issuedAtSeconds: 1, address: "a" }, { issuedAtSeconds: 1 }],
    ["address, without a token", { address: "a" }, { address: "a" }],
    ["address, with a token that claims nothing", { user: "", address: "a" }, { address: "a" }],
  ])("[B8] count together with those of its other connections: %s", (_, one, again) => {
    const fixture = new ManyChannelsFixture({ client: anybody });
    const first = connect(fixture, one);
    expect(named(fixture, first, "a")).toBe(burst);
    first.session.ended();
    const second = connect(fixture, again);
    expect(named(fixture, second, "b")).toBe(0);
    expect(second.session.closed).toBe(false);
    // Those that it named before are none more.
    expect(named(fixture, second, "a")).toBe(burst);
    fixture.nowMs += 2_000;
    expect(named(fixture, second, "c", 20)).toBe(2 * limits.newChannelsPerSecond);
  });

  it.each<[string, Known, Known]>([
    ["users", { user: "42", address: "a" }, { user: "43", address: "a" }],
    ["tokens, by their IDs", { uid: "1" }, { uid: "2" }],
    ["tokens without an ID", { info: json("1") }, { info: json("2") }],
    ["addresses", { address: "a" }, { address: "b" }],
    ["connections, if nothing is known", {}, {}],
  ])("[B8] count for themselves with other %s", (_, one, other) => {
    const fixture = new ManyChannelsFixture({ client: anybody });
    expect(named(fixture, connect(fixture, one), "a")).toBe(burst);
    expect(named(fixture, connect(fixture, other), "b")).toBe(burst);
  });

  it("[B8] count for the user also if a backend names it after the commands came", () => {
    const endpoint = "https://backend.example/hooks";
    const fixture = new ManyChannelsFixture({
      client: { proxy: { connect: { enabled: true, endpoint } } },
    });
    for (const expected of [burst, 0]) {
      const connection = fixture.open();
      fixture.send(connection, `{"id":1,"connect":{}}`);
      expect(named(fixture, connection, `x${expected}-`)).toBe(0);
      fixture.backend.answer({ result: { user: "7" } });
      const [, ...answers] = connection.takeSent();
      expect(answers.filter((frame) => frame !== tooMany(3))).toHaveLength(expected);
    }
  });

  it("[B8] count for the address also after the object has hibernated", () => {
    const fixture = new ManyChannelsFixture({ client: anybody });
    const first = connect(fixture, { address: "a" });
    fixture.wake(first);
    expect(named(fixture, first, "a")).toBe(burst);
    expect(named(fixture, connect(fixture, { address: "a" }), "b")).toBe(0);
    expect(connect(fixture, { user: "42", address: "a" }).saved.address).toBeUndefined();
  });
});

describe("the names that an object remembers", () => {
  it("[B1] [B8] are forgotten of clients who may name as many as new ones, and else of the first", () => {
    const channels = new NamedChannels(1);
    const [most, clients] = [1 + limits.newChannelsBurst, 1_000];
    let number = 0;
    const use = (namer: string, nowMs: number): number => {
      let taken = 0;
      for (let index = 0; index < most; index++)
        if (channels.admit(namer, `${number++}`, nowMs)) taken++;
      return taken;
    };
    for (let index = 0; index < clients; index++) use(`a${index}`, startMs);
    // All names that an object remembers are of these clients, so the first ones have been forgotten.
    expect(use("a0", startMs)).toBe(most);
    expect(use(`a${clients - 1}`, startMs)).toBe(0);
    const laterMs = startMs + 60_000;
    for (let index = 0; index < clients / 2; index++) use(`b${index}`, laterMs);
    expect(use("b0", laterMs)).toBe(0);
  });
});
