import { describe, expect, it } from "vitest";
import { presence, presenceStats } from "../../../src/channel/presence.ts";
import { openChannel } from "../../contract/open-channel.ts";
import { NodeSql } from "../../support/node-sql.ts";
import { RecordingRecipient } from "../hub/recording-recipient.ts";

const unwished = { positioned: false, orFail: false };

describe("presence", () => {
  it("[P1] is who listens at this moment, without a row written", () => {
    const sql = new NodeSql();
    const channel = openChannel(sql, { options: { presence: true } });
    const [alice, bob] = [new RecordingRecipient("alice"), new RecordingRecipient("bob")];
    expect(presence(channel.hub.recipients)).toEqual({ clients: [] });
    channel.join(alice, unwished, 0);
    channel.join(bob, unwished, 0);
    expect(presence(channel.hub.recipients)).toEqual({ clients: [alice.info, bob.info] });
    channel.leave(alice);
    expect(presence(channel.hub.recipients)).toEqual({ clients: [bob.info] });
    expect([...sql.rows("SELECT name FROM sqlite_master")]).toEqual([]);
  });

  it("[P1] leaves out who isn't to be seen", () => {
    const hidden = new RecordingRecipient("hidden", { present: false });
    const seen = new RecordingRecipient("seen");
    expect(presence([hidden, seen])).toEqual({ clients: [seen.info] });
    expect(presenceStats([hidden, seen])).toEqual({ clientCount: 1, userCount: 1 });
  });

  it("[P1] counts connections and different users", () => {
    const users = ["alice", "bob", "alice", "", ""];
    expect(presenceStats(users.map((user) => new RecordingRecipient(user)))).toEqual({
      clientCount: 5,
      userCount: 3,
    });
    expect(presenceStats([])).toEqual({ clientCount: 0, userCount: 0 });
  });
});
