import { describe, expect, it } from "vitest";
import { replyToRequests } from "../../../../src/channel/relay-replies.ts";
import { PresenceTeller } from "../../../../src/features/presence/presence-teller.ts";
import { openChannel } from "../../../contract/open-channel.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";
import { following } from "../../gateway/support/followed-channel.ts";
import { GatewayFixture } from "../../gateway/support/gateway-fixture.ts";

const map = { mode: "ephemeral", key_ttl: "1m" };
const channel = {
  namespaces: [
    { name: "chat", map_clients_presence_channel_prefix: "clients:" },
    { name: "clients", subscription_type: "map_clients", map },
    { name: "kept", subscription_type: "map", map },
  ],
};

const newFixture = (): GatewayFixture => new GatewayFixture(undefined, { channel });

describe("a gateway's client of a channel with presence maps", () => {
  it("[Z27] is told to the channel's object when its subscription has begun and when it ends", () => {
    const fixture = newFixture();
    const { subscription } = fixture.subscribed("chat:a", { announced: true });
    subscription.begin();
    fixture.gateway.announce(subscription);
    const { info } = subscription;
    expect(fixture.port.requests).toStrictEqual([
      {
        method: "announce",
        entries: [
          { type: "join", info },
          { type: "here", info },
        ],
      },
    ]);
    fixture.port.answer({ outcome: "announced" });
    fixture.gateway.unsubscribe(subscription);
    expect(fixture.port.requests).toStrictEqual([
      {
        method: "announce",
        entries: [
          { type: "leave", info },
          { type: "away", info },
        ],
      },
    ]);
  });

  it("[Z35] isn't told of if it is hidden, hasn't begun, or has another channel", () => {
    const fixture = newFixture();
    for (const [name, hidden] of [
      ["chat:a", true],
      ["kept:a", false],
    ] as const) {
      const { subscription } = fixture.subscribed(name, hidden ? { hidden: true } : {});
      subscription.begin();
      fixture.gateway.announce(subscription);
      fixture.gateway.unsubscribe(subscription);
    }
    const pending = fixture.subscribe("chat:b");
    fixture.gateway.unsubscribe(pending.subscription);
    fixture.port.answer(following());
    expect(fixture.port.open).toBe(0);
  });

  it("[Z35] is listed for the map, whether presence lists it or not, unless it is hidden", () => {
    const fixture = newFixture();
    const one = fixture.subscribed("chat:a", { present: false });
    fixture.subscribed("chat:a", { present: false, hidden: true });
    const both = fixture.subscribed("chat:a", { present: true });
    expect(fixture.gateway.present("chat:a", true).clients).toStrictEqual([
      one.subscription.info,
      both.subscription.info,
    ]);
    expect(fixture.gateway.present("chat:a").clients).toStrictEqual([both.subscription.info]);
  });
});

describe("a gateway without subscribers to a presence map any more", () => {
  it("[Z22] says so at once, because the map's object counts for as long as it has some", () => {
    const fixture = newFixture();
    for (const name of ["kept:a", "clients:chat:a"]) {
      const { subscription } = fixture.subscribed(name);
      fixture.gateway.unsubscribe(subscription);
    }
    expect(fixture.port.requests).toStrictEqual([{ method: "check" }]);
  });
});

describe("the channel's object", () => {
  it("[Z27] passes on who comes and goes on gateways, and to nobody without a presence map", () => {
    const maps = [{ kind: "clients", channel: "clients:room" }] as const;
    const teller = new PresenceTeller("room", maps);
    const info = { user: "42", client: "c1" };
    const entries = [
      { type: "here", info },
      { type: "away", info: { ...info, client: "c2" } },
    ] as const;
    const request = { method: "announce", entries } as const;
    const room = openChannel(new NodeSql(), { parts: [teller] });
    expect(replyToRequests(room, "eu/1", [request], 0)).toEqual([{ outcome: "announced" }]);
    expect(teller.calls(0).map(({ told }) => told.changes)).toEqual([entries]);
    const plain = openChannel(new NodeSql());
    expect(replyToRequests(plain, "eu/1", [request], 0)).toEqual([{ outcome: "announced" }]);
    expect(plain.relay.sequence).toBe(0);
  });
});
