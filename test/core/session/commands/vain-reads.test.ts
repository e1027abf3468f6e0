import { describe, expect, it, vi } from "vitest";
import { limits } from "../../../../src/limits.ts";
import { json } from "../../api/channel-config.ts";
import { ChannelFixture } from "../channel-fixture.ts";
import { ManyChannelsFixture } from "../many-channels-fixture.ts";
import { ask } from "../../features/maps/map-fixture.ts";
import type { TestConnection } from "../test-connection.ts";

const options = {
  allow_subscribe_for_client: true,
  allow_history_for_client: true,
  allow_presence_for_client: true,
  presence: true,
  history_size: 20,
  history_ttl: "60s",
  force_recovery: true,
};
const allowed = limits.vainReadsBurst;
const large = `"${"x".repeat(100_000)}"`;

describe("a client that isn't sent what was read for it", () => {
  it("[B16] has eight answers read in vain, and then one each 250 ms", () => {
    const fixture = new ChannelFixture({ options });
    for (let number = 0; number < 9; number++) fixture.publish(large);
    const connection = fixture.connected();
    connection.backlog = 200_000;
    const reads = vi.spyOn(fixture.channel, "subscribe");
    const frame = Array.from({ length: 400 }, (_, index) => recover(index + 2, "room")).join("\n");
    const answers = fixture.ask(connection, frame);
    expect(answers).toStrictEqual(answers.map((_, index) => tooMany(index + 2)));
    expect(answers).toHaveLength(400);
    expect(reads).toHaveBeenCalledTimes(allowed);
    fixture.nowMs += 250;
    fixture.ask(connection, `${recover(2, "room")}\n${recover(3, "room")}`);
    expect(reads).toHaveBeenCalledTimes(allowed + 1);
    connection.backlog = 0;
    expect(fixture.ask(connection, recover(4, "room"))).toStrictEqual([tooMany(4)]);
    fixture.nowMs += 250;
    expect(fixture.ask(connection, recover(5, "room"))[0]).toContain('"recovered":true');
  });

  it.each([
    ["is larger than its queue", 11, 0, 106],
    ["finds the object overloaded", 2, 70, 111],
  ])("[B16] counts history that %s", (_, publications, strangers, code) => {
    const fixture = new ChannelFixture({ options });
    for (let number = 0; number < publications; number++) fixture.publish(large);
    const connection = fixture.connected();
    for (let number = 0; number < strangers; number++) fixture.connected("7").backlog = 1_000_000;
    const reads = vi.spyOn(fixture.channel, "history");
    const command = `{"id":3,"history":{"channel":"room","limit":-1}}`;
    const answers = fixture.ask(connection, Array.from({ length: 40 }, () => command).join("\n"));
    expect(answers[allowed - 1]).toContain(`"code":${code}`);
    expect(answers.slice(allowed)).toStrictEqual(answers.slice(allowed).map(() => tooMany(3)));
    expect(reads).toHaveBeenCalledTimes(allowed);
  });

  it("[B16] counts a recovery that is too large in the client's format", () => {
    const fixture = new ChannelFixture({
      options: { ...options, allowed_delta_types: ["fossil"] },
      client: { queue_max_size: 100_000 },
    });
    fixture.publish(`"${'\\"'.repeat(30_000)}"`);
    const connection = fixture.connected();
    const again = `${recover(2, "room").replace('{"channel', '{"delta":"fossil","channel')}
{"id":3,"unsubscribe":{"channel":"room"}}`;
    const answers = fixture.ask(connection, Array.from({ length: 20 }, () => again).join("\n"));
    const subscribed = answers.filter((answer) => answer.includes(`"was_recovering":true`));
    expect(subscribed).toHaveLength(allowed);
    expect(answers.filter((answer) => answer === tooMany(2))).toHaveLength(20 - allowed);
  });

  it("[B16] counts presence that is larger than its queue", () => {
    const fixture = new ChannelFixture({ options, client: { queue_max_size: 65_536 } });
    const user = "u".repeat(1_000);
    for (let number = 0; number < 70; number++) fixture.subscribed(`${user}${number}`);
    const connection = fixture.connected();
    const asked = () => fixture.ask(connection, `{"id":3,"presence":{"channel":"room"}}`);
    for (let number = 0; number < allowed; number++) expect(asked()[0]).toContain(`"code":106`);
    expect(asked()).toStrictEqual([tooMany(3)]);
  });

  it.each([
    ["history", `{"id":3,"history":{"channel":"b","limit":-1}}`, "history b"],
    ["presence", `{"id":3,"presence":{"channel":"b"}}`, "presence b"],
    ["a recovery", recover(3, "b"), "join b"],
    ["a page of a map", ask(3, "map:b"), "page map:b"],
  ])("[B16] on a gateway isn't read %s any more", (_, command, call) => {
    const { fixture, connection } = inVain();
    expect(fixture.ask(connection, command)).toStrictEqual([tooMany(3)]);
    expect(fixture.channels.takeCalls()).toStrictEqual([]);
    // A subscribe that recovers nothing reads nothing.
    fixture.send(connection, `{"id":4,"subscribe":{"channel":"c"}}`);
    expect(fixture.channels.takeCalls()).toStrictEqual(["join c"]);
    fixture.nowMs += 250;
    fixture.send(connection, command);
    expect(fixture.channels.takeCalls()).toStrictEqual([call]);
  });
});

describe("a client that asks for much at once", () => {
  const most = limits.readsUnderWayMax;
  const recovered = { position: { epoch: "e", offset: 1 }, recovered: true };
  const other = `{"id":4,"unsubscribe":{"channel":"nothing"}}`;

  it.each([
    ["history", `{"id":3,"history":{"channel":"b","limit":-1}}`, "history b"],
    ["presence", `{"id":3,"presence":{"channel":"b"}}`, "presence b"],
    ["a recovery", recover(3, "b"), "join b"],
    ["a page of a map", ask(3, "map:b"), "page map:b"],
  ])("[B16] waits with %s, and with what comes behind it", (_, command, call) => {
    const fixture = onGateway();
    const connection = fixture.connected();
    const names = Array.from({ length: most }, (_none, index) => `a${index}`);
    fixture.send(connection, names.map((name) => recover(2, name)).join("\n"));
    expect(fixture.channels.takeCalls()).toStrictEqual(names.map((name) => `join ${name}`));
    expect(fixture.ask(connection, `${command}\n${other}`)).toStrictEqual([]);
    expect(fixture.channels.takeCalls()).toStrictEqual([]);
    // What the server asks of the client doesn't wait.
    connection.session.tick(true, fixture.nowMs + 25_000);
    fixture.send(connection, "{}");
    expect(connection.session.identity.awaitingPong).toBe(false);
    connection.takeSent();
    fixture.channels.acceptSubscribe("a1", recovered);
    expect(fixture.channels.takeCalls()).toStrictEqual(["announce a1", call]);
    expect(connection.takeSent().at(-1)).toBe(`{"id":4,"unsubscribe":{}}`);
  });

  it("[B16] goes on in the order of its commands, as many at a time", () => {
    const fixture = onGateway();
    const connection = fixture.connected();
    const names = Array.from({ length: 2 * most }, (_, index) => `a${index}`);
    fixture.send(connection, names.map((name) => recover(2, name)).join("\n"));
    const joined: string[] = [];
    for (const name of names) {
      joined.push(...fixture.channels.takeCalls().filter((call) => call.startsWith("join")));
      expect(joined.length - names.indexOf(name)).toBeLessThanOrEqual(most);
      fixture.channels.acceptSubscribe(name, recovered);
    }
    expect(joined).toStrictEqual(names.map((name) => `join ${name}`));
  });
});

/** A client of a gateway that has used up what may be read in vain. */
function inVain(): { readonly fixture: ManyChannelsFixture; readonly connection: TestConnection } {
  const fixture = onGateway();
  const connection = fixture.connected();
  connection.backlog = 900_000;
  const names = Array.from({ length: allowed }, (_, index) => `a${index}`);
  fixture.send(connection, names.map((name) => recover(2, name)).join("\n"));
  const publications = [{ data: json(`"${"x".repeat(600_000)}"`), offset: 1 }];
  const position = { epoch: "e", offset: 1 };
  for (const name of names)
    fixture.channels.acceptSubscribe(name, { position, recovered: true, publications });
  expect(connection.takeSent()).toStrictEqual(names.map(() => tooMany(2)));
  fixture.channels.takeCalls();
  return { fixture, connection };
}

function onGateway(): ManyChannelsFixture {
  const map = { subscription_type: "map", allow_subscribe_for_client: true };
  const namespaces = [{ ...map, name: "map", map: { mode: "recoverable", key_ttl: "1m" } }];
  return new ManyChannelsFixture({ options, channel: { namespaces } });
}

function recover(id: number, channel: string): string {
  return `{"id":${id},"subscribe":{"channel":"${channel}","recover":true}}`;
}

function tooMany(id: number): string {
  return `{"id":${id},"error":{"code":111,"message":"too many requests","temporary":true}}`;
}
