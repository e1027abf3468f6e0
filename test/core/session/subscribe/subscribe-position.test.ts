import { describe, expect, it } from "vitest";
import { json } from "../../api/channel-config.ts";
import { ChannelFixture, startMs } from "../channel-fixture.ts";
import { subscriptionToken } from "../verified-tokens.ts";

const stream = { allow_subscribe_for_client: true, history_size: 5, history_ttl: "60s" };
const recovering = { ...stream, force_recovery: true };

function subscribe(fields: string): string {
  return `{"id":2,"subscribe":{"channel":"room",${fields}}}`;
}

/** A channel in which 1, 2 and so on were published, each as its own number. */
function published(
  count: number,
  options: object = recovering,
  client: object = {},
): ChannelFixture {
  const fixture = new ChannelFixture({ options, client });
  for (let number = 1; number <= count; number++) fixture.publish(`${number}`);
  return fixture;
}

describe("a requested position", () => {
  const plain = `{"id":2,"subscribe":{}}`;
  const positioned = `{"id":2,"subscribe":{"epoch":"epoch1","offset":2,"positioned":true}}`;
  const recoverable = `{"id":2,"subscribe":{"recoverable":true,"epoch":"epoch1","offset":2,"positioned":true}}`;

  it.each([
    [`"flag":1`, stream, plain],
    [`"positioned":true`, stream, plain],
    [`"recoverable":true`, stream, plain],
    [`"positioned":true`, { ...stream, allow_positioning: true }, positioned],
    [`"recoverable":true`, { ...stream, allow_positioning: true }, plain],
    [`"recoverable":true`, { ...stream, allow_recovery: true }, recoverable],
    [`"positioned":true`, { ...stream, allow_recovery: true }, plain],
    [`"positioned":true`, { ...stream, allow_history_for_client: true }, positioned],
    [`"recoverable":true`, { ...stream, allow_history_for_subscriber: true }, recoverable],
    [`"recoverable":true`, { ...stream, allow_history_for_anonymous: true }, plain],
    [`"flag":1`, { ...stream, allow_recovery: true, allow_history_for_client: true }, plain],
    [`"flag":1`, { ...stream, force_positioning: true }, positioned],
    [`"flag":1`, { ...stream, force_recovery: true }, recoverable],
  ])("[W1] %s is weighed against %j", (requested, options, answer) => {
    const fixture = published(2, options);
    expect(fixture.ask(fixture.connected(), subscribe(requested))).toStrictEqual([answer]);
  });

  it("[W1] has no effect in a channel without history", () => {
    const fixture = new ChannelFixture({
      options: { allow_subscribe_for_client: true, allow_history_for_client: true },
    });
    const requested = `"positioned":true,"recoverable":true,"recover":true,"epoch":"x"`;
    expect(fixture.ask(fixture.connected(), subscribe(requested))).toStrictEqual([
      `{"id":2,"subscribe":{"was_recovering":true}}`,
    ]);
  });

  it("[W1] at offset 0 is answered with the epoch alone", () => {
    const fixture = new ChannelFixture({ options: recovering });
    expect(fixture.ask(fixture.connected(), subscribe(`"flag":1`))).toStrictEqual([
      `{"id":2,"subscribe":{"recoverable":true,"epoch":"epoch1","positioned":true}}`,
    ]);
  });

  it("[O3] is followed by every later publication, once, and by no earlier one", () => {
    const fixture = published(2);
    const connection = fixture.connected();
    fixture.send(connection, subscribe(`"flag":1`));
    fixture.publish("3");
    fixture.publish("4");
    expect(connection.takeSent()).toStrictEqual([
      `{"id":2,"subscribe":{"recoverable":true,"epoch":"epoch1","offset":2,"positioned":true}}`,
      `{"push":{"channel":"room","pub":{"data":3,"offset":3}}}`,
      `{"push":{"channel":"room","pub":{"data":4,"offset":4}}}`,
    ]);
  });

  it("[W1] learns the epoch from the first publication of a stream", () => {
    const fixture = new ChannelFixture({ options: recovering });
    const connection = fixture.subscribed();
    fixture.publish("1");
    expect(connection.takeSent()).toStrictEqual([
      `{"push":{"channel":"room","pub":{"data":1,"offset":1,"epoch":"epoch1"}}}`,
    ]);
  });
});

describe("a recovering subscribe", () => {
  it("[R2] gets what it missed in the answer, which echoes the offset it asked from", () => {
    const fixture = published(4);
    const ask = subscribe(`"recover":true,"offset":2,"epoch":"epoch1"`);
    expect(fixture.ask(fixture.connected(), ask)).toStrictEqual([
      `{"id":2,"subscribe":{"recoverable":true,"epoch":"epoch1","publications":[{"data":3,"offset":3},{"data":4,"offset":4}],"recovered":true,"offset":2,"positioned":true,"was_recovering":true}}`,
    ]);
  });

  const tooMany = { recovery_max_publication_limit: 3 };

  describe("that can't be brought up to date", () => {
    const failed = `{"id":2,"subscribe":{"recoverable":true,"epoch":"epoch1","offset":8,"positioned":true,"was_recovering":true}}`;
    it.each([
      ["another epoch", `"offset":8,"epoch":"other"`, {}],
      ["beyond the top", `"offset":9,"epoch":"epoch1"`, {}],
      ["older than what is kept", `"offset":2,"epoch":"epoch1"`, {}],
      ["as many as the limit", `"offset":5,"epoch":"epoch1"`, tooMany],
    ])("[R5] gets the top position and no publications: %s", (_, position, client) => {
      const fixture = published(8, recovering, client);
      const connection = fixture.connected();
      expect(
        fixture.ask(connection, subscribe(`"recover":true,"flag":1,${position}`)),
      ).toStrictEqual([failed]);
      fixture.publish("9");
      expect(connection.takeSent()).toStrictEqual([
        `{"push":{"channel":"room","pub":{"data":9,"offset":9}}}`,
      ]);
    });

    it.each([[2], [3]])("[R5] with flag %i is answered 112 and not subscribed", (flag) => {
      const fixture = published(8);
      const connection = fixture.connected();
      const ask = subscribe(`"recover":true,"offset":8,"epoch":"other","flag":${flag}`);
      expect(fixture.ask(connection, ask)).toStrictEqual([
        `{"id":2,"error":{"code":112,"message":"unrecoverable position"}}`,
      ]);
      expect(connection.saved.subscriptions).toStrictEqual([]);
      fixture.publish("9");
      expect(connection.takeSent()).toStrictEqual([]);
      expect(fixture.ask(connection, subscribe(`"flag":2`))).toStrictEqual([
        `{"id":2,"subscribe":{"recoverable":true,"epoch":"epoch1","offset":9,"positioned":true}}`,
      ]);
    });
  });

  it("[R5] with flag 2 is subscribed when it recovers", () => {
    const fixture = published(1);
    const ask = subscribe(`"recover":true,"offset":1,"epoch":"epoch1","flag":2`);
    const connection = fixture.connected();
    expect(fixture.ask(connection, ask)).toStrictEqual([
      `{"id":2,"subscribe":{"recoverable":true,"epoch":"epoch1","recovered":true,"offset":1,"positioned":true,"was_recovering":true}}`,
    ]);
  });

  it("[W1] that may not recover is said to have tried", () => {
    const fixture = published(2, { ...stream, force_positioning: true });
    expect(
      fixture.ask(fixture.connected(), subscribe(`"recover":true,"offset":1,"flag":2`)),
    ).toStrictEqual([
      `{"id":2,"subscribe":{"epoch":"epoch1","offset":2,"positioned":true,"was_recovering":true}}`,
    ]);
  });

  it("[R2] takes the data of its token along", () => {
    const fixture = published(1);
    const connection = fixture.connected();
    const ask = subscribe(`"recover":true,"offset":1,"epoch":"epoch1","token":"t"`);
    const token = subscriptionToken({ expireAtSeconds: startMs / 1000 + 9, data: json("[1.0]") });
    expect(fixture.ask(connection, ask, token)).toStrictEqual([
      `{"id":2,"subscribe":{"expires":true,"ttl":9,"recoverable":true,"epoch":"epoch1","recovered":true,"offset":1,"positioned":true,"data":[1.0],"was_recovering":true}}`,
    ]);
  });
});
