import { describe, expect, it } from "vitest";
import type { SessionSnapshot } from "../../../../src/contract/session-snapshot.ts";
import { json } from "../../api/channel-config.ts";
import { startMs } from "../../session/channel-fixture.ts";
import { ManyChannelsFixture } from "../../session/many-channels-fixture.ts";
import { connectionToken, invalidToken } from "../../session/verified-tokens.ts";

const endpoint = "https://backend.example/hooks";
const proxy = { connect: { enabled: true, at: "upgrade", endpoint } };
const connect = '{"id":1,"connect":{}}';

/** What the edge hands over of a client whom a backend has admitted as user 7. */
const admitted = {
  claims: { user: "7", expireAtSeconds: 0, info: json('{"n":1}') },
  byHook: true,
  atUpgrade: { data: json('{"hi":1}') },
} as const satisfies Partial<SessionSnapshot>;

const newFixture = (client: object = {}) =>
  new ManyChannelsFixture({ client: { proxy, ...client } });

describe.each(["awake", "evicted"])(
  "a backend that was asked at the upgrade, object %s",
  (state) => {
    /** A connection that was just opened; in one of the variants its object has hibernated since. */
    function opened(fixture: ManyChannelsFixture, more: Partial<SessionSnapshot>) {
      const connection = fixture.open(more);
      if (state === "evicted") fixture.wake(connection);
      return connection;
    }

    it("[Q10] [Q14] has given the credentials and the data of the connect, and isn't asked again", () => {
      const fixture = newFixture();
      const subscriptions = [{ channel: "news", override: {} }];
      const claims = { ...admitted.claims, subscriptions };
      const connection = opened(fixture, { ...admitted, claims });
      expect(fixture.ask(connection, connect)).toStrictEqual([]);
      fixture.channels.acceptSubscribe("news");
      expect(connection.takeSent()).toStrictEqual([
        '{"id":1,"connect":{"client":"c1","version":"test","data":{"hi":1},"subs":{"news":{}},"ping":25,"pong":true}}',
      ]);
      expect(fixture.backend.takeAsked()).toStrictEqual([]);
      expect(connection.saved).toMatchObject({ claims: admitted.claims, byHook: true });
      expect(connection.saved.atUpgrade).toBeUndefined();
    });

    it("[Q10] may have admitted an anonymous client, whatever tokens may", () => {
      const fixture = newFixture({ disallow_anonymous_connection_tokens: true });
      const claims = { user: "", expireAtSeconds: 0 };
      const connection = opened(fixture, { ...admitted, claims });
      expect(fixture.ask(connection, connect)[0]).toContain('"connect":{"client":"c1"');
    });

    it("[Q10] has given no credentials: 3501, an anonymous connection, or what the token says", () => {
      const strict = newFixture();
      expect(strict.ask(opened(strict, { atUpgrade: {} }), connect)).toStrictEqual([
        "close 3501 bad request",
      ]);
      const byToken = opened(strict, { atUpgrade: {} });
      expect(strict.ask(byToken, connect, connectionToken("42"))[0]).toContain('"connect"');
      expect(byToken.saved.byHook).toBeUndefined();
      const open = newFixture({ allow_anonymous_connect_without_token: true });
      expect(open.ask(opened(open, { atUpgrade: {} }), connect)[0]).toContain('"connect"');
      for (const { backend } of [strict, open]) expect(backend.takeAsked()).toStrictEqual([]);
    });

    it("[Q10] [Q14] gives way to a token of the same user, and to no other one", () => {
      const fixture = newFixture();
      const same = opened(fixture, admitted);
      const token = connectionToken("7", { uid: "t1" });
      const [reply] = fixture.ask(same, connect, token);
      expect(reply).toContain('"connect":{"client":"c1"');
      expect(reply).not.toContain("data");
      // From now on it is a connection with a token (rules U10 and U11).
      expect(same.saved.claims).toStrictEqual({ user: "7", expireAtSeconds: 0, uid: "t1" });
      expect(same.saved.byHook).toBeUndefined();
      for (const tokens of [connectionToken("8"), invalidToken]) {
        const other = opened(fixture, admitted);
        expect(fixture.ask(other, connect, tokens)).toStrictEqual(["close 3500 invalid token"]);
      }
    });

    it("[Q14] has given credentials that have ended since: the client comes back for others", () => {
      const fixture = newFixture();
      const claims = { user: "7", expireAtSeconds: startMs / 1_000 + 2 };
      const connection = opened(fixture, { ...admitted, claims });
      fixture.pass(connection, 2_000);
      expect(fixture.ask(connection, connect)).toStrictEqual(["close 3005 connection expired"]);
      expect(fixture.refusals).toMatchObject([{ rule: "Q14", code: 3005 }]);
    });

    it("[Q9] [Q10] is asked by the server when the connection ends", () => {
      const refresh = { enabled: true, endpoint };
      const fixture = newFixture({ proxy: { ...proxy, refresh } });
      const claims = { user: "7", expireAtSeconds: startMs / 1_000 + 60 };
      const connection = opened(fixture, { ...admitted, claims });
      expect(fixture.ask(connection, connect).join()).not.toContain("expires");
      fixture.pass(connection, 60_000);
      expect(fixture.backend.takeAsked()).toMatchObject([{ hook: "refresh", body: { user: "7" } }]);
    });
  },
);

it("[V1] [Q10] a connect is asked about if the edge hasn't, as during a deploy", () => {
  const fixture = newFixture();
  const connection = fixture.open();
  expect(fixture.ask(connection, connect)).toStrictEqual([]);
  expect(fixture.backend.takeAsked()).toMatchObject([{ hook: "connect" }]);
  fixture.backend.answer({ result: { user: "7" } });
  expect(connection.takeSent()[0]).toContain('"connect"');
});
