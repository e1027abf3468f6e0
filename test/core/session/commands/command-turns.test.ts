import { describe, expect, it } from "vitest";
import { limits } from "../../../../src/limits.ts";
import { ManyChannelsFixture } from "../many-channels-fixture.ts";

const most = limits.frameTurnCommands;
const endpoint = "https://backend.example/hooks";
const connect = '{"id":1,"connect":{}}';
const subscribe = '{"id":2,"subscribe":{"channel":"a"}}';
const publish = (data: number) => `{"id":2,"publish":{"channel":"a","data":${data}}}`;
const history = '{"id":3,"history":{"channel":"b"}}';
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
const published = (data: number) => `publish a ${data}`;

describe("commands that waited for another one", () => {
  it("[B17] are carried out in turns after a subscribe, before those that come between", () => {
    const { fixture, turns } = inTurns();
    const connection = fixture.connected();
    const waiting = numbers(2 * most + 1).map(publish);
    fixture.send(connection, [subscribe, ...waiting].join("\n"));
    fixture.channels.takeCalls();
    fixture.channels.acceptSubscribe("a");
    expect(publishes(fixture)).toStrictEqual(numbers(most).map(published));
    fixture.send(connection, publish(2 * most + 1));
    expect(publishes(fixture)).toStrictEqual([]);
    turns.shift()?.();
    expect(publishes(fixture)).toStrictEqual(numbers(most).map((one) => published(most + one)));
    turns.shift()?.();
    expect(publishes(fixture)).toStrictEqual([published(2 * most), published(2 * most + 1)]);
    fixture.send(connection, publish(2 * most + 2));
    expect(publishes(fixture)).toStrictEqual([published(2 * most + 2)]);
    expect(turns).toStrictEqual([]);
  });

  it("[B17] are carried out in turns after a connect, with commands of all kinds behind them", () => {
    const { fixture, turns } = inTurns();
    const connection = fixture.open();
    fixture.send(connection, [connect, ...numbers(most + 1).map(publish)].join("\n"));
    fixture.backend.answer({ result: { user: "7" } });
    expect(publishes(fixture)).toStrictEqual(numbers(most).map(published));
    fixture.send(connection, history);
    expect(fixture.channels.takeCalls()).toStrictEqual([]);
    turns.shift()?.();
    expect(fixture.channels.takeCalls()).toStrictEqual([published(most), "history b"]);
  });

  it("[B17] are carried out in turns although some of them wait again, for reads that end together", () => {
    const { fixture, turns } = inTurns();
    const connection = fixture.connected();
    const reads = numbers(limits.readsUnderWayMax + 1).map(() => history);
    const waiting = numbers(most - 2).map(publish);
    const after = numbers(most).map((one) => publish(most + one));
    fixture.send(connection, [...reads, ...waiting, history, ...after].join("\n"));
    fixture.channels.takeCalls();
    for (const _ of numbers(3)) fixture.channels.answerHistory("b");
    expect(publishes(fixture)).toHaveLength(most - 2);
    turns.shift()?.();
    expect(publishes(fixture)).toHaveLength(most - 1);
    turns.shift()?.();
    expect(publishes(fixture)).toHaveLength(1);
    expect(turns).toStrictEqual([]);
  });

  it("[O6] [B17] keep their order where the first of them wait for reads, and the rest for a turn", () => {
    const { fixture, turns } = inTurns();
    const connection = fixture.connected();
    const reads = numbers(limits.readsUnderWayMax + 1).map(
      () => `{"id":3,"history":{"channel":"a"}}`,
    );
    const waiting = numbers(2 * most).map(publish);
    fixture.send(connection, [subscribe, ...reads, ...waiting].join("\n"));
    fixture.channels.acceptSubscribe("a");
    fixture.channels.answerHistory("a");
    for (let turn = turns.shift(); turn !== undefined; turn = turns.shift()) turn();
    expect(publishes(fixture)).toStrictEqual(numbers(2 * most).map(published));
  });

  it("[O6] come before those of their channel that came later and wait for reads", () => {
    const { fixture, turns } = inTurns();
    const connection = fixture.connected();
    fixture.send(connection, [subscribe, publish(0), publish(1)].join("\n"));
    const reads = numbers(limits.readsUnderWayMax + 1).map(() => history);
    fixture.send(connection, [...reads, publish(2)].join("\n"));
    fixture.channels.acceptSubscribe("a");
    expect(publishes(fixture)).toStrictEqual([]);
    fixture.channels.answerHistory("b");
    for (let turn = turns.shift(); turn !== undefined; turn = turns.shift()) turn();
    expect(publishes(fixture)).toStrictEqual(numbers(3).map(published));
  });

  it.each(["ends", "is refused"])("[B29] are dropped if their connection %s", (how) => {
    const { fixture, turns } = inTurns();
    const connection = fixture.open();
    fixture.send(connection, [connect, ...numbers(most + 1).map(publish)].join("\n"));
    if (how === "ends") {
      fixture.backend.answer({ result: { user: "7" } });
      connection.session.ended();
    } else fixture.backend.answer({ error: { code: 1_000, message: "no" } });
    fixture.channels.takeCalls();
    turns.shift()?.();
    expect(turns).toStrictEqual([]);
    expect(fixture.channels.takeCalls()).toStrictEqual([]);
  });
});

function publishes({ channels }: ManyChannelsFixture): readonly string[] {
  return channels.takeCalls().filter((call) => call.startsWith("publish"));
}

/** Clients of a gateway, and the turns that are awaited. */
function inTurns() {
  const turns: (() => void)[] = [];
  const fixture = new ManyChannelsFixture({
    client: { proxy: { connect: { enabled: true, endpoint } } },
    options: { allow_history_for_client: true, history_size: 5, history_ttl: "60s" },
    later: (_, work) => turns.push(work),
  });
  return { fixture, turns };
}
