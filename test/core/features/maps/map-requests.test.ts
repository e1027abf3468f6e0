import { describe, expect, it } from "vitest";
import type { OperationReply } from "../../../../src/contract/channel-call.ts";
import { plainMapPublish } from "../../../../src/features/maps/map-call.ts";
import type { RelayReply } from "../../../../src/contract/relay-request.ts";
import { errorCodes } from "../../../../src/protocol/codes.ts";
import { json } from "../../api/channel-config.ts";
import { at, following, publication, said } from "../../gateway/support/followed-channel.ts";
import { GatewayFixture } from "../../gateway/support/gateway-fixture.ts";

const map = { mode: "ephemeral", key_ttl: "1m", remove_client_on_unsubscribe: true };
const channel = {
  namespaces: [{ name: "own", subscription_type: "map", map }],
};
const query = { cursor: "", limit: 10 };
const page: RelayReply & { outcome: "page" } = {
  outcome: "page",
  publications: [{ key: "k", data: json("1"), offset: 3 }],
  cursor: "k",
  position: at(3),
};
const failure: RelayReply = { outcome: "failed", error: errorCodes.unrecoverablePosition };
const lost = { outcome: "failed", error: errorCodes.unrecoverablePosition };

function read(fixture: GatewayFixture, answers: OperationReply[], cursor = ""): void {
  const done = (answer: OperationReply): void => void answers.push(answer);
  const request = { ...query, cursor };
  const operation = { method: "map_state", request, bytesMax: 1_000 } as const;
  fixture.gateway.request("news", operation, undefined, fixture.nowMs, done);
}

describe("a page of a map's state", () => {
  it("[Z3] is read by the channel's object, which may refuse it", () => {
    const fixture = new GatewayFixture();
    const answers: OperationReply[] = [];
    read(fixture, answers);
    expect(fixture.port.requests).toStrictEqual([
      { method: "map_state", request: query, bytesMax: 1_000 },
    ]);
    fixture.port.answer(page);
    read(fixture, answers);
    fixture.port.answer(failure);
    expect(answers).toStrictEqual([page, lost]);
  });

  it("[L6] is read once for all clients who ask for it while it waits, and again for later ones", () => {
    const fixture = new GatewayFixture();
    const answers: OperationReply[] = [];
    read(fixture, answers);
    read(fixture, answers);
    read(fixture, answers, "k");
    read(fixture, answers);
    fixture.port.answer(page);
    expect(answers).toHaveLength(1);
    expect(fixture.port.calls).toStrictEqual(["map_state", "map_state map_state"]);
    read(fixture, answers);
    fixture.port.answer({ ...page, position: at(4) }, page);
    expect(answers.map((answer) => "position" in answer && answer.position)).toStrictEqual(
      [3, 4, 4, 3].map((offset) => at(offset)),
    );
    fixture.port.answer(failure);
    expect(answers).toHaveLength(5);
  });

  it("[L6] is read once more for all of them if the object was overloaded", () => {
    const fixture = new GatewayFixture();
    const answers: OperationReply[] = [];
    read(fixture, answers);
    read(fixture, answers);
    read(fixture, answers);
    fixture.port.answer(page);
    fixture.port.refuse();
    fixture.settle();
    fixture.nowMs += 2_000;
    fixture.settle();
    fixture.port.answer(page);
    expect(answers).toHaveLength(3);
    expect(fixture.port.calls).toStrictEqual(["map_state", "map_state", "map_state"]);
  });
});

describe("a page of a map's stream", () => {
  it("[Z4] is what the channel's object recovers, or 112", () => {
    const fixture = new GatewayFixture();
    const answers: object[] = [];
    const request = { since: at(1), limit: 5 };
    const operation = { method: "map_stream", request, bytesMax: 1_000 } as const;
    const stream = (): void =>
      fixture.gateway.request("news", operation, undefined, fixture.nowMs, (answer) =>
        answers.push(answer),
      );
    stream();
    expect(fixture.port.requests).toStrictEqual([operation]);
    const changes = { outcome: "history", publications: [], position: at(1) } as const;
    fixture.port.answer(changes);
    stream();
    fixture.port.answer(failure);
    expect(answers).toStrictEqual([changes, lost]);
  });
});

describe("a client that has missed many publications", () => {
  it.each([
    ["own:a", true],
    ["news", false],
  ])("[Z15] [R4] recovers as many as the channel's namespace allows: %s", (name, recovered) => {
    const fixture = new GatewayFixture(undefined, { channel });
    const subscriber = fixture.subscribe(name, {}, at(0));
    const publications = Array.from({ length: 400 }, (_, index) => publication(index + 1));
    const position = at(publications.length);
    const missed: RelayReply = { outcome: "recovered", publications, position };
    fixture.port.answer(following(position), missed);
    expect(subscriber.answers).toMatchObject([{ outcome: "subscribed", recovered }]);
  });
});

describe("a change of a map", () => {
  it("[O4] is answered once the client, if it is subscribed, can be sent it", () => {
    const fixture = new GatewayFixture();
    const subscriber = fixture.subscribed("news");
    const answers: string[] = [];
    const change = { method: "map_publish", request: plainMapPublish("k", json("1")) } as const;
    const { subscription } = subscriber;
    const { info } = subscription;
    const operation = { ...change, info };
    fixture.gateway.request("news", operation, subscription, fixture.nowMs, ({ outcome }) =>
      answers.push(outcome),
    );
    expect(fixture.port.requests).toStrictEqual([operation]);
    fixture.port.answer({ outcome: "published", instance: 1, sequence: 1 });
    expect(answers).toStrictEqual([]);
    fixture.take("news", [said("1")]);
    expect(answers).toStrictEqual(["published"]);
  });

  it("[Z20] takes the key of a client with its subscription, and with that of no other map", () => {
    const fixture = new GatewayFixture(undefined, { channel });
    const [own, news] = [fixture.subscribed("own:a"), fixture.subscribed("news")];
    own.subscription.begin();
    news.subscription.begin();
    fixture.gateway.unsubscribe(news.subscription);
    expect(fixture.port.open).toBe(0);
    fixture.gateway.unsubscribe(own.subscription);
    const { info } = own.subscription;
    expect(fixture.port.requests).toStrictEqual([
      { method: "announce", entries: [{ type: "gone", info }] },
    ]);
  });

  it("[Z20] takes no key with a subscription that didn't begin", () => {
    const fixture = new GatewayFixture(undefined, { channel });
    const own = fixture.subscribe("own:a");
    fixture.gateway.unsubscribe(own.subscription);
    fixture.port.answer(following());
    expect(fixture.port.open).toBe(0);
  });
});
