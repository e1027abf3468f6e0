import { describe, expect, it } from "vitest";
import { PusherCodec } from "../../../../src/features/pusher/codec.ts";
import { payloadOfText } from "../../../../src/features/pusher/event-data.ts";
import { Hub } from "../../../../src/hub/hub.ts";
import { errorCodes } from "../../../../src/protocol/codes.ts";
import { trustedJsonText } from "../../../../src/protocol/json/text.ts";
import { bareSubscribeResult } from "../../../../src/protocol/reply.ts";
import { RecordingSubscriber } from "../../hub/recording-subscriber.ts";
import { configured } from "../../../support/configured.ts";

const app = {
  id: "shop",
  key: "key",
  secret: "PUSHER_SECRET_SHOP",
  namespace: "shop",
  enableClientMessages: true,
  enableSubscriptionCount: false,
  enableWatchlistEvents: false,
  requireSignin: false,
  webhooks: [],
};
const codec = new PusherCodec(app, configured().channel);

/** The commands of a frame. */
function commands(frame: object): readonly object[] {
  return codec.decodeFrame(JSON.stringify(frame)).commands;
}

describe("frames of clients", () => {
  it("[PU2] [PU4] subscribe and unsubscribe in the application's namespace, with data as object or text", () => {
    const data = { channel: "private-a", auth: "key:ab" };
    for (const given of [data, JSON.stringify(data)])
      expect(commands({ event: "pusher:subscribe", data: given })).toMatchObject([
        {
          method: "subscribe",
          request: { channel: "shop:private-a", token: JSON.stringify(data) },
        },
      ]);
    expect(commands({ event: "pusher:unsubscribe", data })).toMatchObject([
      { method: "unsubscribe", request: { channel: "shop:private-a" } },
    ]);
  });

  it("[PU5] publish a client's event with its data as it came, for the others alone", () => {
    const frame = `{"event":"client-a","channel":"private-a","data":{"n":9007199254740993}}`;
    expect(codec.decodeFrame(frame).commands).toMatchObject([
      {
        method: "publish",
        request: {
          channel: "shop:private-a",
          data: `{"n":9007199254740993}`,
          passing: { event: "client-a" },
        },
      },
    ]);
  });

  it("[PU8] ask for the newest publication of cache channels alone", () => {
    expect(subscribed("cache-a")).toMatchObject([{ request: { newest: true } }]);
    expect(subscribed("a")[0]).not.toHaveProperty("request.newest");
  });

  it("[PU1] are answered where the platform doesn't know the bytes of a ping, and pongs are not", () => {
    expect(commands({ event: "pusher:ping" })).toMatchObject([{ method: "rpc" }]);
    expect(codec.encodeReply({ id: 1, method: "rpc" })).toBe('{"event":"pusher:pong","data":{}}');
    expect(commands({ event: "pusher:pong", data: {} })).toEqual([]);
  });

  it.each(["", "no JSON", "[]", "7", "{}", `{"event":7}`])("[PU9] are malformed: %j", (frame) => {
    expect(codec.decodeFrame(frame)).toMatchObject({ commands: [], malformed: expect.any(String) });
  });
});

describe("frames of the server", () => {
  const info = {
    user: "",
    client: "c",
    chanInfo: trustedJsonText(`{"user_id":"7","user_info":{"a":1}}`),
  };

  it.each([
    [`{"id":1}`, `{"event":"e","channel":"a","data":"{\\"id\\":1}"}`],
    ["plain", `{"event":"e","channel":"a","data":"plain"}`],
  ])("[PU2] carry the text %s of an event", (text, frame) => {
    const push = { type: "publication", channel: "shop:a", publication: eventOf(text) } as const;
    expect(codec.encodePush(push)).toBe(frame);
  });

  it("[PU5] carry a client's data as it came, with the member on a presence channel", () => {
    const data = trustedJsonText(`{"x":1}`);
    const publication = { data, offset: 0, tags: { event: "client-a" }, info };
    const push = { type: "publication", channel: "shop:presence-a", publication } as const;
    expect(codec.encodePush(push)).toBe(
      `{"event":"client-a","channel":"presence-a","data":{"x":1},"user_id":"7"}`,
    );
  });

  it("[PU6] say who comes and goes on presence channels alone", () => {
    const channel = "shop:presence-a";
    expect(codec.encodePush({ type: "join", channel, info })).toBe(
      `{"event":"pusher_internal:member_added","channel":"presence-a","data":"{\\"user_id\\":\\"7\\",\\"user_info\\":{\\"a\\":1}}"}`,
    );
    expect(codec.encodePush({ type: "leave", channel, info })).toBe(
      `{"event":"pusher_internal:member_removed","channel":"presence-a","data":"{\\"user_id\\":\\"7\\"}"}`,
    );
    expect(codec.encodePush({ type: "join", channel: "shop:a", info })).toBe("");
  });

  it("[PU8] say that a cache channel has no event, after the success", () => {
    const reply = {
      id: 1,
      method: "subscribe",
      result: bareSubscribeResult,
      channel: "shop:cache-a",
    } as const;
    expect(codec.encodeReply(reply)).toBe(
      `{"event":"pusher_internal:subscription_succeeded","channel":"cache-a","data":"{}"}\n` +
        `{"event":"pusher:cache_miss","channel":"cache-a","data":"{}"}`,
    );
  });

  it("[PU4] [PU5] refuse with the channel that was named", () => {
    const [subscribe] = codec.decodeFrame(
      `{"event":"pusher:subscribe","data":{"channel":"private-a"}}`,
    ).commands;
    const [publish] = codec.decodeFrame(`{"event":"client-a","channel":"a","data":{}}`).commands;
    const error = errorCodes.permissionDenied;
    for (const to of [subscribe, publish])
      expect(to && codec.encodeReply({ id: 1, error, to })).toContain(
        to === subscribe
          ? `{"event":"pusher:subscription_error","channel":"private-a","data":{"type":"AuthError"`
          : `{"event":"pusher:error","channel":"a","data":{"code":4301`,
      );
  });
});

describe("[PU3] a publication with an exception", () => {
  it("reaches all other subscribers, in the frame that they would get anyway", () => {
    const hub = new Hub<RecordingSubscriber>("room", 1_000_000);
    const [one, two, three] = ["1", "2", "3"].map((user) => new RecordingSubscriber(user));
    for (const each of [one, two, three]) if (each !== undefined) hub.add(each);
    hub.publish({ data: trustedJsonText(`"first"`), offset: 1, except: "client-of-2" });
    hub.publish({ data: trustedJsonText(`"second"`), offset: 2 });
    hub.begin();
    const [frame = ""] = one?.frames ?? [];
    expect(frame).toContain("first");
    expect(three?.frames).toEqual([frame]);
    expect(two?.frames).toHaveLength(1);
    expect(two?.frames[0]).toContain("second");
    expect(two?.frames[0]).not.toContain("first");
    expect(frame).not.toContain("except");
  });

  it("leaves its connection with what it has been sent, for the next delta", () => {
    const hub = new Hub<RecordingSubscriber>("room", 1_000_000);
    const one = new RecordingSubscriber("1", { delta: true });
    hub.add(one);
    const [first, second] = [trustedJsonText(`"first"`), trustedJsonText(`"second"`)];
    hub.publish({ data: first, offset: 1 });
    hub.publish({ data: second, offset: 2, except: "client-of-1" });
    hub.begin();
    expect(one.frames).toHaveLength(1);
    expect(one.deltaBase).toBe(first);
  });
});

/** The commands of a subscribe. */
function subscribed(channel: string): readonly object[] {
  return commands({ event: "pusher:subscribe", data: { channel } });
}

/** The publication of an event. */
function eventOf(text: string) {
  return { data: payloadOfText(text), offset: 1, tags: { event: "e" } };
}
