import { describe, expect, it } from "vitest";
import {
  type GatheredPresence,
  PresenceListing,
  presentClients,
} from "../../../../src/channel/presence.ts";
import type { ClientInfo } from "../../../../src/protocol/publication.ts";
import { openChannel, unpositioned } from "../../../contract/open-channel.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";
import { RecordingSubscriber } from "../../hub/recording-subscriber.ts";

describe("presence", () => {
  it("[P1] is the present subscribers, without a row written", () => {
    const sql = new NodeSql();
    const channel = openChannel(sql, { options: { presence: true } });
    const [alice, bob] = [new RecordingSubscriber("alice"), new RecordingSubscriber("bob")];
    expect(presentClients(channel.hub.subscribers)).toEqual([]);
    channel.subscribe(alice, unpositioned, 0);
    channel.subscribe(bob, unpositioned, 0);
    expect(presentClients(channel.hub.subscribers)).toEqual([alice.info, bob.info]);
    channel.unsubscribe(alice);
    expect(presentClients(channel.hub.subscribers)).toEqual([bob.info]);
    expect([...sql.rows("SELECT name FROM sqlite_master")]).toEqual([]);
  });
});

describe.each([1, 2, 100])("a listing in slices of %i", (size) => {
  it("[P1] has every client once, here or on a gateway", () => {
    const [alice, bob] = [member("alice"), member("bob")];
    const moved = { ...alice, user: "as it was before" };
    const carol = member("carol");
    const others = { clients: [carol, moved, carol], complete: true };
    const { result, stats } = listed(size, [alice, bob], others);
    expect(result.parts.flat()).toEqual([alice, bob, carol]);
    expect(stats).toEqual({ clientCount: 3, userCount: 3 });
  });

  it("[G6] is incomplete when a gateway didn't answer", () => {
    const { result, stats } = listed(size, [member("alice")], { clients: [], complete: false });
    expect(result.incomplete).toBe(true);
    expect(stats).toEqual({ clientCount: 1, userCount: 1, incomplete: true });
  });

  it("[P1] counts connections and different users", () => {
    const users = ["alice", "bob", "alice", "", ""];
    const here = users.map((user, index) => ({ user, client: `c${index}` }));
    expect(listed(size, here).stats).toEqual({ clientCount: 5, userCount: 3 });
    expect(listed(size, []).stats).toEqual({ clientCount: 0, userCount: 0 });
  });
});

function member(user: string): ClientInfo {
  return { user, client: `client of ${user}` };
}

/** The clients, after all slices. */
function listed(
  size: number,
  here: readonly ClientInfo[],
  others: GatheredPresence = { clients: [], complete: true },
): PresenceListing {
  const listing = new PresenceListing(here, others);
  while (!listing.over) expect(listing.next(size).length).toBeLessThanOrEqual(size);
  return listing;
}
