import { describe, expect, it } from "vitest";
import { ChannelFixture } from "../channel-fixture.ts";

const cache = {
  allow_subscribe_for_client: true,
  history_size: 3,
  history_ttl: "60s",
  force_recovery: true,
  force_recovery_mode: "cache",
};
const automatic = { ...cache, auto_cache_recover: true };

function subscribe(fields: string): string {
  return `{"id":2,"subscribe":{"channel":"room"${fields}}}`;
}

/** A channel in which 1, 2 and so on were published, each as its own number. */
function published(count: number, options: object = cache): ChannelFixture {
  const fixture = new ChannelFixture({ options });
  for (let number = 1; number <= count; number++) fixture.publish(`${number}`);
  return fixture;
}

/** The reply of a channel with so many publications. */
function reply(top: number, more: string): string {
  const offset = top === 0 ? "" : `,"offset":${top}`;
  return `{"id":2,"subscribe":{"recoverable":true,"epoch":"epoch1"${offset},"positioned":true${more}}}`;
}

/** The reply with the newest publication, to a client at an offset. */
function newest(number: number, asked: number, more: string): string {
  const offset = asked === 0 ? "" : `,"offset":${asked}`;
  const publications = `[{"data":${number},"offset":${number}}]`;
  return `{"id":2,"subscribe":{"recoverable":true,"epoch":"epoch1","publications":${publications},"recovered":true${offset},"positioned":true${more}}}`;
}

const tried = `,"was_recovering":true`;

describe("a recovery of the newest publication only", () => {
  it.each([
    ["from nowhere", ``, 0],
    ["from somewhere", `,"epoch":"epoch1","offset":1`, 1],
    ["from before what is kept", `,"epoch":"epoch1","offset":2`, 2],
    ["from beyond the top", `,"epoch":"epoch1","offset":99`, 99],
    ["from another epoch", `,"epoch":"other","offset":5`, 5],
  ])("[R2] gives exactly that one %s, and echoes where it was asked from", (_, position, asked) => {
    const fixture = published(5);
    expect(fixture.ask(fixture.connected(), subscribe(`,"recover":true${position}`))).toStrictEqual(
      [newest(5, asked, tried)],
    );
  });

  it("[R6] gives nothing to somebody who has it, also when it has ended or was removed", () => {
    const fixture = published(5);
    const connection = fixture.connected();
    const ask = subscribe(`,"recover":true,"epoch":"epoch1","offset":5,"flag":2`);
    const unsubscribe = `{"id":3,"unsubscribe":{"channel":"room"}}`;
    for (const end of [() => (fixture.nowMs += 61_000), () => fixture.hibernate()]) {
      end();
      expect(fixture.ask(connection, ask)).toStrictEqual([
        `{"id":2,"subscribe":{"recoverable":true,"epoch":"epoch1","recovered":true,"offset":5,"positioned":true,"was_recovering":true}}`,
      ]);
      fixture.ask(connection, unsubscribe);
    }
  });

  it("[R5] is answered 112 with flag 2 when it can't be, and isn't a subscription", () => {
    const fixture = published(0);
    const connection = fixture.connected();
    expect(fixture.ask(connection, subscribe(`,"recover":true,"flag":2`))).toStrictEqual([
      `{"id":2,"error":{"code":112,"message":"unrecoverable position"}}`,
    ]);
    expect(connection.saved.subscriptions).toStrictEqual([]);
  });

  it("[W1] isn't given to a client that doesn't ask for it", () => {
    const fixture = published(5);
    expect(fixture.ask(fixture.connected(), subscribe(``))).toStrictEqual([reply(5, "")]);
  });

  it("[O3] is followed by every later publication, once", () => {
    const fixture = published(5);
    const connection = fixture.connected();
    fixture.send(connection, subscribe(`,"recover":true`));
    connection.takeSent();
    fixture.publish("6");
    expect(connection.takeSent()).toStrictEqual([
      `{"push":{"channel":"room","pub":{"data":6,"offset":6}}}`,
    ]);
  });
});

describe("the newest publication, given unasked", () => {
  it("[R2] comes to everybody who subscribes, and isn't called an attempt to recover", () => {
    const fixture = published(5, automatic);
    expect(fixture.ask(fixture.connected(), subscribe(``))).toStrictEqual([newest(5, 0, "")]);
  });

  it.each([[0], [1], [2], [3]])(
    "[R5] doesn't cause an error if there is none, with flag %i",
    (flag) => {
      const fixture = published(0, automatic);
      expect(fixture.ask(fixture.connected(), subscribe(`,"flag":${flag}`))).toStrictEqual([
        reply(0, ""),
      ]);
    },
  );

  it("[W1] is a matter of cache recovery only", () => {
    const stream = { ...automatic, force_recovery_mode: "stream" };
    expect(() => published(0, stream)).toThrow("auto_cache_recover");
  });
});
