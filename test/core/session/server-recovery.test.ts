import { describe, expect, it } from "vitest";
import { json } from "../api/channel-config.ts";
import { connect, connected, naming } from "./named-subscriptions.ts";
import { Switchboard } from "./gateway-fixture.ts";

const since = (channel: string): string => `"${channel}":{"recover":true,"epoch":"e","offset":1}`;

const recovered = (channel: string, data: string): string =>
  `"${channel}":{"recoverable":true,"epoch":"e","publications":[{"data":${data},"offset":2}],"recovered":true,"offset":1,"positioned":true,"was_recovering":true}`;
const missed = (channel: string): string =>
  `"${channel}":{"recoverable":true,"epoch":"e","offset":2,"positioned":true,"was_recovering":true}`;

describe("the recovery of the server's subscriptions", () => {
  const options = { history_size: 100, history_ttl: "60s", force_recovery: true };
  const position = { epoch: "e", offset: 2 };
  it("[C9] begins where the connect says", () => {
    const board = new Switchboard({ options });
    const peer = board.open();
    const subs = `{${since("a")},${since("elsewhere")}}`;
    board.say(peer, `{"id":1,"connect":{"subs":${subs}}}`, naming("a", "b"));
    const wish = { positioned: true, mode: "stream", orFail: false };
    expect(board.channels.wish("a")).toStrictEqual({ ...wish, since: { epoch: "e", offset: 1 } });
    expect(board.channels.wish("b")).toStrictEqual(wish);
    const publications = [{ data: json("7"), offset: 2 }];
    board.channels.joined("a", { position, recovered: true, publications });
    board.channels.joined("b", { position });
    expect(peer.hears()).toStrictEqual([
      connected(
        `{${recovered("a", "7")},"b":{"recoverable":true,"epoch":"e","offset":2,"positioned":true}}`,
      ),
    ]);
  });

  it("[R5] that fails is no error: the client is told that it missed something", () => {
    const board = new Switchboard({ options });
    const peer = board.open();
    board.say(peer, `{"id":1,"connect":{"subs":{${since("a")}}}}`, naming("a"));
    board.channels.joined("a", { position });
    expect(peer.hears()).toStrictEqual([connected(`{${missed("a")}}`)]);
  });

  it("[R4] gives as much as a client can be sent at once: the later ones aren't recovered", () => {
    const board = new Switchboard({ options });
    const peer = board.open();
    const subs = ["a", "b", "c", "d"].map(since).join(",");
    board.say(peer, `{"id":1,"connect":{"subs":{${subs}}}}`, naming("a", "b", "c", "d"));
    const large = `"${"x".repeat(600_000)}"`;
    for (const [channel, data] of [
      ["a", large],
      ["b", large],
      ["c", "7"],
    ] as const) {
      const publications = [{ data: json(data), offset: 2 }];
      board.channels.joined(channel, { position, recovered: true, publications });
    }
    board.channels.joined("d", { position, recovered: true, publications: [] });
    const top = `"d":{"recoverable":true,"epoch":"e","recovered":true,"offset":1,"positioned":true,"was_recovering":true}`;
    expect(peer.hears()).toStrictEqual([
      connected(`{${recovered("a", large)},${missed("b")},${recovered("c", "7")},${top}}`),
    ]);
  });

  it("[F4] counts all of what it gives: who published, and tags", () => {
    const board = new Switchboard({ options });
    const peer = board.open();
    const subs = ["a", "b"].map(since).join(",");
    board.say(peer, `{"id":1,"connect":{"subs":{${subs}}}}`, naming("a", "b"));
    const info = { user: "7", client: "c7", connInfo: json(`"${"x".repeat(600_000)}"`) };
    const publications = [{ data: json("1"), offset: 2, info }];
    board.channels.joined("a", { position, recovered: true, publications });
    board.channels.joined("b", { position, recovered: true, publications });
    const [reply = ""] = peer.hears();
    expect(reply.length).toBeGreaterThan(600_000);
    expect(reply.length).toBeLessThan(1_048_576);
    expect(reply).toContain(missed("b"));
  });

  it("[B1] whose reply alone is too large fails the connect, and everything is left again", () => {
    const client = { queue_max_size: 65_536, channel_limit: 1_024 };
    const board = new Switchboard({ options, client });
    const peer = board.open();
    const channels = Array.from({ length: 1_000 }, (_, index) => `news${index}`);
    board.say(peer, connect, naming(...channels));
    for (const channel of channels) board.channels.joined(channel, { position });
    expect(peer.hears()).toStrictEqual([
      `{"id":1,"error":{"code":106,"message":"limit exceeded"}}`,
    ]);
    expect(peer.saved).toMatchObject({ phase: "refused", subscriptions: [] });
    expect(board.channels.known).toStrictEqual([]);
  });
});
