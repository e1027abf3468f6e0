import { describe, expect, it } from "vitest";
import { limits } from "../../../../src/limits.ts";
import { json } from "../../api/channel-config.ts";
import { connect, connected, naming } from "../named-subscriptions.ts";
import { ManyChannelsFixture } from "../many-channels-fixture.ts";

const since = (channel: string): string => `"${channel}":{"recover":true,"epoch":"e","offset":1}`;

const recovered = (channel: string, data: string): string =>
  `"${channel}":{"recoverable":true,"epoch":"e","publications":[{"data":${data},"offset":2}],"recovered":true,"offset":1,"positioned":true,"was_recovering":true}`;
const missed = (channel: string): string =>
  `"${channel}":{"recoverable":true,"epoch":"e","offset":2,"positioned":true,"was_recovering":true}`;

describe("the recovery of the server's subscriptions", () => {
  const options = { history_size: 100, history_ttl: "60s", force_recovery: true };
  const position = { epoch: "e", offset: 2 };
  it("[C9] begins where the connect says", () => {
    const fixture = new ManyChannelsFixture({ options });
    const connection = fixture.open();
    const subs = `{${since("a")},${since("elsewhere")}}`;
    fixture.send(connection, `{"id":1,"connect":{"subs":${subs}}}`, naming("a", "b"));
    const asked = { positioned: true, mode: "stream", orFail: false };
    expect(fixture.channels.optionsOf("a")).toStrictEqual({
      ...asked,
      since: { epoch: "e", offset: 1 },
    });
    expect(fixture.channels.optionsOf("b")).toStrictEqual(asked);
    const publications = [{ data: json("7"), offset: 2 }];
    fixture.channels.acceptSubscribe("a", { position, recovered: true, publications });
    fixture.channels.acceptSubscribe("b", { position });
    expect(connection.takeSent()).toStrictEqual([
      connected(
        `{${recovered("a", "7")},"b":{"recoverable":true,"epoch":"e","offset":2,"positioned":true}}`,
      ),
    ]);
  });

  it("[R5] that fails is no error: the reply says that it isn't recovered", () => {
    const fixture = new ManyChannelsFixture({ options });
    const connection = fixture.open();
    fixture.send(connection, `{"id":1,"connect":{"subs":{${since("a")}}}}`, naming("a"));
    fixture.channels.acceptSubscribe("a", { position });
    expect(connection.takeSent()).toStrictEqual([connected(`{${missed("a")}}`)]);
  });

  it("[R4] gives as much as a client can be sent at once: the later ones aren't recovered", () => {
    const fixture = new ManyChannelsFixture({ options });
    const connection = fixture.open();
    const subs = ["a", "b", "c", "d"].map(since).join(",");
    fixture.send(connection, `{"id":1,"connect":{"subs":{${subs}}}}`, naming("a", "b", "c", "d"));
    const large = `"${"x".repeat(600_000)}"`;
    for (const [channel, data] of [
      ["a", large],
      ["b", large],
      ["c", "7"],
    ] as const) {
      const publications = [{ data: json(data), offset: 2 }];
      fixture.channels.acceptSubscribe(channel, { position, recovered: true, publications });
    }
    fixture.channels.acceptSubscribe("d", { position, recovered: true, publications: [] });
    const top = `"d":{"recoverable":true,"epoch":"e","recovered":true,"offset":1,"positioned":true,"was_recovering":true}`;
    expect(connection.takeSent()).toStrictEqual([
      connected(`{${recovered("a", large)},${missed("b")},${recovered("c", "7")},${top}}`),
    ]);
  });

  it("[B26] closes with 3013 if it is large and the object is overloaded", () => {
    const fixture = new ManyChannelsFixture({ options });
    const publications = [{ data: json(`"${"x".repeat(10_000)}"`), offset: 2 }];
    const sent = [limits.backlogBytesMax, 0].map((backlogBytes) => {
      fixture.othersBacklogBytes = backlogBytes;
      const connection = fixture.open();
      fixture.send(connection, `{"id":1,"connect":{"subs":{${since("a")}}}}`, naming("a"));
      fixture.channels.acceptSubscribe("a", { position, recovered: true, publications });
      return connection.takeSent().join();
    });
    expect(sent[0]).toBe("close 3013 too many requests");
    expect(sent[1]).toContain('"recovered":true');
  });

  it("[F4] counts the publisher and the tags too", () => {
    const fixture = new ManyChannelsFixture({ options });
    const connection = fixture.open();
    const subs = ["a", "b"].map(since).join(",");
    fixture.send(connection, `{"id":1,"connect":{"subs":{${subs}}}}`, naming("a", "b"));
    const info = { user: "7", client: "c7", connInfo: json(`"${"x".repeat(600_000)}"`) };
    const publications = [{ data: json("1"), offset: 2, info }];
    fixture.channels.acceptSubscribe("a", { position, recovered: true, publications });
    fixture.channels.acceptSubscribe("b", { position, recovered: true, publications });
    const [reply = ""] = connection.takeSent();
    expect(reply.length).toBeGreaterThan(600_000);
    expect(reply.length).toBeLessThan(1_048_576);
    expect(reply).toContain(missed("b"));
  });

  it("[B1] whose reply alone is too large fails the connect, and ends all subscriptions", () => {
    const client = { queue_max_size: 65_536, channel_limit: 1_024 };
    const fixture = new ManyChannelsFixture({ options, client });
    const connection = fixture.open();
    const channels = Array.from({ length: 1_000 }, (_, index) => `news${index}`);
    fixture.send(connection, connect, naming(...channels));
    for (const channel of channels) fixture.channels.acceptSubscribe(channel, { position });
    expect(connection.takeSent()).toStrictEqual([
      `{"id":1,"error":{"code":106,"message":"limit exceeded"}}`,
    ]);
    expect(connection.saved).toMatchObject({ phase: "refused", subscriptions: [] });
    expect(fixture.channels.known).toStrictEqual([]);
  });
});
