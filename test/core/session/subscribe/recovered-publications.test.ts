import { describe, expect, it } from "vitest";
import { jsonCodec } from "../../../../src/protocol/json/codec.ts";
import { publishing } from "../../../contract/open-channel.ts";
import { SdkDecoder } from "../../delta/sdk-decoder.ts";
import type { TestConnection } from "../test-connection.ts";
import { ChannelFixture, type ChannelFixtureSetup, startMs } from "../channel-fixture.ts";
import { subscriptionToken } from "../verified-tokens.ts";

const options = {
  allow_subscribe_for_client: true,
  history_size: 10,
  history_ttl: "600s",
  allow_recovery: true,
  allowed_delta_types: ["fossil"],
  delta_publish: true,
  allow_tags_filter: true,
};

const recovering = `"recoverable":true,"recover":true,"epoch":"epoch1"`;
const deltas = `"delta":"fossil"`;
const wantsA = `"tf":{"key":"t","cmp":"eq","val":"a"}`;

describe("recovered publications, for a delta subscriber", () => {
  it("[D2] are one in full and then deltas, and live publications continue from the last", () => {
    const fixture = published(4);
    const client = new Client(fixture, `${recovering},"offset":1,${deltas}`);
    expect(client.recovered).toBe(true);
    expect(client.patched).toStrictEqual([false, true, true]);
    send(fixture, 5);
    send(fixture, 6);
    client.listen();
    expect(client.patched).toStrictEqual([false, true, true, true, true]);
    expect(client.received).toStrictEqual([2, 3, 4, 5, 6].map(document));
  });

  it.each([
    ["none was missed", `${recovering},"offset":4`, true],
    ["they can't be had", `"recoverable":true,"recover":true,"epoch":"other","offset":2`, false],
    ["they weren't asked for", `"recoverable":true`, false],
  ])("[D2] are no base if %s: the next publication is in full", (_, asked, recovered) => {
    const fixture = published(4);
    const client = new Client(fixture, `${asked},${deltas}`);
    expect(client.recovered).toBe(recovered);
    expect(client.patched).toStrictEqual([]);
    send(fixture, 5);
    send(fixture, 6);
    client.listen();
    expect(client.patched).toStrictEqual([false, true]);
    expect(client.received).toStrictEqual([5, 6].map(document));
  });

  it("[D2] are deltas of each other, even if live publications may not be deltas", () => {
    const fixture = published(4, { options: { ...options, delta_publish: false } });
    const client = new Client(fixture, `${recovering},"offset":1,${deltas}`);
    send(fixture, 5);
    client.listen();
    expect(client.patched).toStrictEqual([false, true, true, false]);
    expect(client.received).toStrictEqual([2, 3, 4, 5].map(document));
  });

  it("[D2] [S2] are remembered in hibernation, and later publications continue from the last", () => {
    const fixture = published(4);
    const client = new Client(fixture, `${recovering},"offset":1,${deltas}`);
    const live = new Client(fixture, `"recoverable":true,${deltas}`);
    for (const number of [5, 6, 7]) {
      fixture.hibernate();
      send(fixture, number);
    }
    client.listen();
    live.listen();
    expect(client.patched).toStrictEqual([false, true, true, true, true, true]);
    expect(client.received).toStrictEqual([2, 3, 4, 5, 6, 7].map(document));
    expect(live.patched).toStrictEqual([false, true, true]);
    expect(live.received).toStrictEqual([5, 6, 7].map(document));
  });

  const gone: readonly [string, (fixture: ChannelFixture) => void][] = [
    ["the history was removed", (fixture) => fixture.channel.removeHistory(fixture.nowMs)],
    [
      "the subscriber was sent something else after it",
      (fixture) => {
        const aside = publishing(JSON.stringify(document(99)), { skipHistory: true });
        fixture.channel.publish(aside, undefined, fixture.nowMs);
        fixture.channel.hub.begin();
      },
    ],
  ];
  it.each(gone)("[D2] [S2] are no base after hibernation if %s", (_, happens) => {
    const fixture = published(4);
    const client = new Client(fixture, `${recovering},"offset":3,${deltas}`);
    happens(fixture);
    fixture.hibernate();
    send(fixture, 5);
    send(fixture, 6);
    client.listen();
    expect(client.patched.slice(-2)).toStrictEqual([false, true]);
    expect(client.received.slice(-2)).toStrictEqual([5, 6].map(document));
  });

  it("[D2] [S2] are no base after hibernation for a subscriber that got none of them", () => {
    const fixture = published(4);
    const client = new Client(fixture, `"recoverable":true,${deltas}`);
    fixture.hibernate();
    send(fixture, 5);
    client.listen();
    expect(client.patched).toStrictEqual([false]);
    expect(client.received).toStrictEqual([document(5)]);
  });

  it("[D2] begin anew for a client that left and subscribes again", () => {
    const fixture = published(2);
    const client = new Client(fixture, `${recovering},"offset":1,${deltas}`);
    fixture.send(client.connection, `{"id":3,"unsubscribe":{"channel":"room"}}`);
    client.connection.takeSent();
    send(fixture, 3);
    expect(client.connection.takeSent()).toStrictEqual([]);
    const again = new Client(fixture, `"recoverable":true,${deltas}`, client.connection);
    send(fixture, 4);
    again.listen();
    expect(again.patched).toStrictEqual([false]);
    expect(again.received).toStrictEqual([document(4)]);
  });

  it("[D1] are strings only where deltas were granted", () => {
    const fixture = published(3);
    const plain = new Client(fixture, `${recovering},"offset":1`);
    expect(plain.received).toStrictEqual([document(2), document(3)]);
    const closed = published(3, {
      options: { ...options, allowed_delta_types: [], delta_publish: false },
    });
    const refused = new Client(closed, `${recovering},"offset":1,${deltas}`);
    expect(refused.received).toStrictEqual([document(2), document(3)]);
  });
});

describe("recovered publications that take more as strings than the channel measured", () => {
  /** 60,000 bytes, of which two in three have to be escaped. */
  const quotes = Array.from({ length: 20_000 }, () => "");
  const setup: ChannelFixtureSetup = { options, client: { queue_max_size: 100_000 } };

  function full(): ChannelFixture {
    const fixture = new ChannelFixture(setup);
    for (const data of [[], quotes]) fixture.publish(JSON.stringify(data));
    return fixture;
  }

  it("[R4] aren't recovered, and the next one is in full", () => {
    const fixture = full();
    const plain = new Client(fixture, `${recovering},"offset":1`);
    expect(plain.received).toStrictEqual([quotes]);
    const client = new Client(fixture, `${recovering},"offset":1,${deltas}`);
    expect([client.recovered, client.patched]).toStrictEqual([false, []]);
    fixture.publish(JSON.stringify([...quotes, 3]));
    client.listen();
    expect(client.patched).toStrictEqual([false]);
    expect(client.received).toStrictEqual([[...quotes, 3]]);
  });
});

describe("recovered publications, for a subscriber with a filter", () => {
  it("[D3] [R2] take it to the top also when none of them gets through", () => {
    const fixture = published(6);
    const none = `"tf":{"key":"t","cmp":"eq","val":"never"}`;
    const request = `{"channel":"room",${recovering},"offset":1,${none}}`;
    expect(fixture.ask(fixture.connected(), `{"id":2,"subscribe":${request}}`)).toStrictEqual([
      `{"id":2,"subscribe":{"recoverable":true,"epoch":"epoch1","recovered":true,"offset":6,"positioned":true,"was_recovering":true}}`,
    ]);
  });

  it("[D3] are never deltas, because there may be others between them", () => {
    const fixture = published(6);
    const client = new Client(fixture, `${recovering},"offset":1,${wantsA},${deltas}`);
    send(fixture, 7);
    client.listen();
    expect(client.patched).toStrictEqual([false, false, false]);
    expect(client.received).toStrictEqual([3, 5, 7].map(document));
  });

  it("[D3] [S2] keep the filter after a renewed token and hibernation, and another subscriber's deltas", () => {
    const fixture = published(2);
    const token = subscriptionToken({ expireAtSeconds: startMs / 1000 + 60 });
    const filtering = new Client(fixture, wantsA, fixture.connected(), token);
    const patched = new Client(fixture, `"recoverable":true,${deltas}`, fixture.connected(), token);
    const later = subscriptionToken({ expireAtSeconds: startMs / 1000 + 600 });
    for (const { connection } of [filtering, patched]) {
      fixture.send(connection, `{"id":4,"sub_refresh":{"channel":"room","token":"t"}}`, later);
      expect(connection.takeSent()).toHaveLength(1);
    }
    fixture.hibernate();
    for (const number of [3, 4, 5]) send(fixture, number);
    for (const client of [filtering, patched]) client.listen();
    expect(filtering.received).toStrictEqual([3, 5].map(document));
    expect(patched.received).toStrictEqual([3, 4, 5].map(document));
    expect(patched.patched).toStrictEqual([false, true, true]);
  });
});

/** A subscriber that decodes its frames with JSON.parse and the SDK. */
class Client {
  readonly connection: TestConnection;
  readonly recovered: boolean;
  /** Payloads, and whether each came as a delta. */
  readonly received: unknown[] = [];
  readonly patched: boolean[] = [];
  readonly #decoder: SdkDecoder | undefined;

  constructor(
    fixture: ChannelFixture,
    fields: string,
    connection = fixture.connected(),
    tokens = {},
  ) {
    this.connection = connection;
    fixture.send(connection, `{"id":2,"subscribe":{"channel":"room",${fields}}}`, tokens);
    const [answer = ""] = connection.takeSent();
    const reply: Answer = JSON.parse(answer);
    const { recovered = false, publications = [], delta = false } = reply.subscribe;
    this.recovered = recovered;
    this.#decoder = delta ? new SdkDecoder(jsonCodec.deltaForm) : undefined;
    for (const publication of publications) this.#receive(publication);
  }

  /** Decodes the frames since the last call. */
  listen(): void {
    for (const frame of this.connection.takeSent().flatMap((one) => one.split("\n"))) {
      const { push }: { push: { pub: Publication } } = JSON.parse(frame);
      this.#receive(push.pub);
    }
  }

  #receive({ data, delta = false }: Publication): void {
    this.patched.push(delta);
    this.received.push(
      this.#decoder === undefined ? data : this.#decoder.receive({ data: String(data), delta }),
    );
  }
}

interface Publication {
  readonly data: unknown;
  readonly delta?: boolean;
}

interface Answer {
  readonly subscribe: {
    readonly recovered?: boolean;
    readonly delta?: boolean;
    readonly publications?: readonly Publication[];
  };
}

/** A channel with so many publications. */
function published(count: number, setup: ChannelFixtureSetup = { options }): ChannelFixture {
  const fixture = new ChannelFixture(setup);
  for (let number = 1; number <= count; number++) send(fixture, number);
  return fixture;
}

/** Publishes the document of this number; the odd ones are tagged a, the others b. */
function send(fixture: ChannelFixture, number: number): void {
  const tags = { t: number % 2 === 1 ? "a" : "b" };
  const request = publishing(JSON.stringify(document(number)), { tags });
  fixture.channel.publish(request, undefined, fixture.nowMs);
  fixture.channel.hub.begin();
}

/** Payloads that all differ a little, with their parts at different places: a delta fits only its own base. */
function document(number: number): unknown {
  const shift = "z".repeat(number);
  return { shift, title: "The quick brown fox jumps over the lazy dog", n: number };
}
