import { describe, expect, it } from "vitest";
import { ManyChannelsFixture } from "../many-channels-fixture.ts";
import { connectionToken } from "../verified-tokens.ts";

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const endpoint = "https://backend.example/hooks";

/** A fixture whose namespace `asked` asks a backend about publishes, with the handshake's header `traceparent` or not. */
function newFixture(named: boolean) {
  const more = named ? { http_headers: ["traceparent"] } : {};
  return new ManyChannelsFixture({
    channel: {
      proxy: { publish: { endpoint, ...more } },
      namespaces: [{ name: "asked", publish_proxy_enabled: true }],
    },
  });
}

const publish = (id: number, channel: string) =>
  `{"id":${id},"publish":{"channel":"${channel}","data":1}}`;

describe("a session whose handshake belongs to a trace", () => {
  it("[X1] [X3] publishes in it, and a session without one publishes as before", () => {
    const fixture = newFixture(false);
    for (const more of [{ traceparent }, {}]) {
      const connection = fixture.open(more);
      fixture.send(connection, `{"id":1,"connect":{}}`, connectionToken("42"));
      fixture.send(connection, publish(2, "news"));
      const request = fixture.channels.published("news");
      expect(request.traceparent).toBe(more.traceparent);
      fixture.channels.answerPublish("news");
    }
  });

  it.each([false, true])("[X1] has its backends told, once: header configured %s", (named) => {
    const fixture = newFixture(named);
    const http = [["traceparent", "invalid"]] as const;
    const headers = { http };
    const connection = fixture.open(named ? { traceparent, headers } : { traceparent });
    fixture.send(connection, `{"id":1,"connect":{}}`, connectionToken("42"));
    fixture.send(connection, publish(2, "asked:a"));
    expect(fixture.backend.takeAsked()).toMatchObject([
      { hook: "publish", headers: [["traceparent", traceparent]] },
    ]);
    const other = fixture.open();
    fixture.send(other, `{"id":1,"connect":{}}`, connectionToken("42"));
    fixture.send(other, publish(2, "asked:b"));
    expect(fixture.backend.takeAsked()).toStrictEqual([
      expect.not.objectContaining({ headers: expect.anything() }),
    ]);
  });
});
