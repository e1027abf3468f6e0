import { describe, expect, it } from "vitest";
import type { RelayEntry } from "../../../../src/contract/relay-batch.ts";
import { Hub } from "../../../../src/hub/hub.ts";
import { eventLimits } from "../../../../src/features/events/limits.ts";
import { limits } from "../../../../src/limits.ts";
import { trustedJsonText } from "../../../../src/protocol/json/text.ts";
import type { Publication } from "../../../../src/protocol/publication.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";
import { publishing } from "../../../contract/open-channel.ts";
import { at, read } from "../../gateway/support/followed-channel.ts";
import { FollowedChannel } from "../../gateway/support/followed-channel.ts";
import { RecordingSubscriber } from "../../hub/recording-subscriber.ts";
import { RecordingSubscription } from "../../gateway/support/recording-subscription.ts";
import { openOutbox } from "../events/outbox-fixture.ts";
import { call, openChanging, publishAll } from "./changed-channel.ts";

const nothing = trustedJsonText("null");
const ada = { user: "ada", client: "c1" };

function secretAt(offset: number, more: Partial<Publication> = {}): RelayEntry {
  const data = trustedJsonText(`"secret ${offset}"`);
  return { type: "publication", publication: { data, offset, ...more } };
}

describe("an erasure, where publications wait for gateways,", () => {
  it("[ED14] blanks them, and their changes, in each batch that a gateway hasn't got", () => {
    const channel = openChanging(new NodeSql());
    channel.relay.follow("na/0", 0);
    channel.publish(publishing('"secret"', { tags: { kind: "private" } }), ada, 0);
    publishAll(channel, "other");
    call(channel, "update_publication", { offset: 1, data: "secret again" });
    call(channel, "erase", { offset: 1 });
    const [delivery] = channel.relay.deliveries(channel.top, 0);
    const entries = delivery?.batch.entries ?? [];
    expect(entries.map(({ type }) => type).join()).toMatch(/^(publication,){4}erased$/);
    expect(JSON.stringify(entries)).not.toMatch(/secret|private|ada/);
    expect(JSON.stringify(entries)).toContain("other");
  });

  it("[ED14] is taken once each gateway has answered for it", () => {
    const channel = openChanging(new NodeSql());
    for (const gateway of ["na/0", "na/1"]) channel.relay.follow(gateway, 0);
    publishAll(channel, "secret");
    call(channel, "erase", { offset: 1 });
    const { sequence } = channel.relay;
    const deliveries = channel.relay.deliveries(channel.top, 0);
    for (const delivery of deliveries) {
      expect(channel.relay.isTaken(sequence)).toBe(false);
      channel.relay.answered(delivery, { outcome: "taken" }, 0);
    }
    expect(channel.relay.isTaken(sequence)).toBe(true);
  });
});

describe("an erasure on a gateway", () => {
  it("[ED14] blanks what waits behind missing publications, before they are there", () => {
    const channel = new FollowedChannel({}, true);
    const subscriber = new RecordingSubscription("live");
    channel.subscribed(subscriber, at(5));
    channel.take(2, [secretAt(7)], { top: at(7) });
    const erased = { type: "erased", offsets: [7], by: 8, data: nothing } as const;
    const hole = { data: nothing, tags: { "dormouse.erase": "7" }, offset: 8 };
    channel.take(3, [{ type: "publication", publication: hole }, erased], { top: at(8) });
    channel.port.answer(read([6], at(6)));
    channel.settle();
    expect(subscriber.received).toHaveLength(3);
    expect(JSON.stringify(subscriber.received)).not.toContain("secret");
  });

  it("[ED14] has sent what was collected before it answers", () => {
    const fanOut = { ...limits, immediateSubscribersMax: 1, sliceSubscribersMax: 1 };
    const hub = new Hub("news", 1_000_000, { fanOut });
    const subscribers = ["a", "b", "c"].map((client) => new RecordingSubscriber(client));
    for (const subscriber of subscribers) hub.add(subscriber);
    hub.publish({ data: trustedJsonText('"secret"'), offset: 1 });
    hub.begin();
    expect(hub.sending).toBe(true);
    hub.publish({ data: trustedJsonText('"later"'), offset: 2 });
    hub.flush();
    expect([hub.sending, hub.collecting]).toStrictEqual([false, false]);
    for (const { frames } of subscribers) expect(frames).toHaveLength(2);
  });
});

describe("an erasure, where events wait or are kept,", () => {
  it("[E20] blanks those of the publications and of their changes, in their places", () => {
    const sql = new NodeSql();
    const outbox = openOutbox(sql);
    const add = (offset: number, text: string, tags = {}) =>
      outbox.append(
        {
          type: "publication",
          channel: "news",
          ...ada,
          data: trustedJsonText(JSON.stringify(text)),
          tags,
          offset,
          epoch: "e",
        },
        1_000_000,
      );
    add(1, "secret");
    add(2, "other");
    add(3, "secret again", { "dormouse.update": "1" });
    const bytes = "SELECT sum(octet_length(body)) AS bytes FROM event";
    const before = sql.rows(bytes);
    outbox.erase({ offsets: [1], by: 4, data: nothing }, 0);
    expect(sql.rows(bytes)).toStrictEqual(before);
    const events = outbox.after(0, 10, 1_000_000).map((text): unknown => JSON.parse(text));
    expect(JSON.stringify(events)).not.toContain("secret");
    expect(events).toMatchObject([
      { offset: 1, epoch: "e", erased: true },
      { offset: 2, data: "other", user: "ada" },
      { offset: 3, epoch: "e", erased: true },
    ]);
    outbox.erase({ offsets: [], user: "ada", by: 4, data: nothing }, 0);
    expect(outbox.after(0, 10, 1_000_000).join()).not.toMatch(/ada|other/);
  });

  it("[E20] looks at no more of them in one slice than it may", () => {
    const sql = new NodeSql();
    const { eventsErasedAtOnce: atOnce } = eventLimits;
    const outbox = openOutbox(sql, { keepMax: 2 * atOnce });
    const event = { type: "publication", channel: "news", ...ada, epoch: "e" } as const;
    const data = trustedJsonText('"secret"');
    for (let offset = 1; offset <= 2 * atOnce; offset++)
      outbox.append({ ...event, data, offset }, 1_000_000);
    const erased = { offsets: [], user: "ada", by: 2 * atOnce, data: nothing };
    const left = () => sql.rows("SELECT 1 FROM event WHERE body LIKE '%secret%'").length;
    const second = outbox.erase(erased, 0);
    expect(left()).toBe(atOnce);
    const third = outbox.erase(erased, second ?? 0);
    expect(left()).toBe(0);
    expect(outbox.erase(erased, third ?? 0)).toBeUndefined();
  });

  it("[E20] leaves those of what a user publishes afterwards", () => {
    const outbox = openOutbox(new NodeSql());
    const data = trustedJsonText('"later"');
    const event = { type: "publication", channel: "news", ...ada, data } as const;
    outbox.append({ ...event, offset: 5, epoch: "e" }, 1_000_000);
    outbox.erase({ offsets: [], user: "ada", by: 4, data: nothing }, 0);
    expect(outbox.after(0, 10, 1_000_000).join()).toContain("later");
  });
});
