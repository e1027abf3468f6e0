import { describe, expect, it } from "vitest";
import { presence, presenceStats } from "../../../src/channel/presence.ts";
import { openChannel, unpositioned } from "../../contract/open-channel.ts";
import { NodeSql } from "../../support/node-sql.ts";
import { RecordingSubscriber } from "../hub/recording-subscriber.ts";

describe("presence", () => {
  it("[P1] is the present subscribers, without a row written", () => {
    const sql = new NodeSql();
    const channel = openChannel(sql, { options: { presence: true } });
    const [alice, bob] = [new RecordingSubscriber("alice"), new RecordingSubscriber("bob")];
    expect(presence(channel.hub.subscribers)).toEqual({ clients: [] });
    channel.subscribe(alice, unpositioned, 0);
    channel.subscribe(bob, unpositioned, 0);
    expect(presence(channel.hub.subscribers)).toEqual({ clients: [alice.info, bob.info] });
    channel.unsubscribe(alice);
    expect(presence(channel.hub.subscribers)).toEqual({ clients: [bob.info] });
    expect([...sql.rows("SELECT name FROM sqlite_master")]).toEqual([]);
  });

  it("[P1] leaves out subscribers without presence", () => {
    const hidden = new RecordingSubscriber("hidden", { present: false });
    const seen = new RecordingSubscriber("seen");
    expect(presence([hidden, seen])).toEqual({ clients: [seen.info] });
    expect(presenceStats([hidden, seen])).toEqual({ clientCount: 1, userCount: 1 });
  });

  it("[P1] has every client once, here or on a gateway", () => {
    const [alice, bob] = [new RecordingSubscriber("alice"), new RecordingSubscriber("bob")];
    const moved = { ...alice.info, user: "as it was before" };
    const carol = { user: "carol", client: "c3" };
    const others = { clients: [carol, moved, carol], complete: true };
    expect(presence([alice, bob], others)).toEqual({ clients: [alice.info, bob.info, carol] });
    expect(presenceStats([alice, bob], others)).toEqual({ clientCount: 3, userCount: 3 });
  });

  it("[G6] is incomplete when a gateway didn't answer", () => {
    const others = { clients: [], complete: false };
    expect(presence([], others)).toEqual({ clients: [], incomplete: true });
    expect(presenceStats([], others)).toEqual({ clientCount: 0, userCount: 0, incomplete: true });
  });

  it("[P1] counts connections and different users", () => {
    const users = ["alice", "bob", "alice", "", ""];
    expect(presenceStats(users.map((user) => new RecordingSubscriber(user)))).toEqual({
      clientCount: 5,
      userCount: 3,
    });
    expect(presenceStats([])).toEqual({ clientCount: 0, userCount: 0 });
  });
});
