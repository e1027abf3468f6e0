import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { filterNode } from "../hub/any-filter.ts";
import { Room } from "./channel-fixture.ts";
import { subscriptionToken } from "./verified-tokens.ts";

const open = { allow_subscribe_for_client: true };
const denied = `{"id":2,"error":{"code":103,"message":"permission denied"}}`;
const badRequest = `{"id":2,"error":{"code":107,"message":"bad request"}}`;
const granted = `{"id":2,"subscribe":{}}`;

function subscribe(fields: string): string {
  return `{"id":2,"subscribe":{${fields}}}`;
}

describe("a subscribe", () => {
  const eq = `{"key":"k","cmp":"eq","val":"v"}`;
  const filtering = { ...open, allow_tags_filter: true };
  const filter = filterNode({ key: "k", cmp: "eq", val: "v" });

  it("[D4] with a tags filter gets it where the namespace allows that, and keeps it", () => {
    const room = new Room({ options: filtering });
    const peer = room.connected();
    expect(room.ask(peer, subscribe(`"channel":"room","tf":${eq}`))).toStrictEqual([granted]);
    expect(peer.saved.subscriptions).toMatchObject([{ channel: "room", filter }]);
    room.sleep();
    expect(peer.saved.subscriptions).toMatchObject([{ channel: "room", filter }]);
  });

  it("[D4] without a tags filter has none where one is allowed", () => {
    const room = new Room({ options: filtering });
    for (const tf of ["", `,"tf":null`]) {
      const peer = room.connected();
      expect(room.ask(peer, subscribe(`"channel":"room"${tf}`))).toStrictEqual([granted]);
      expect(peer.saved.subscriptions[0]).not.toHaveProperty("filter");
    }
  });

  it.each([["{}"], [`{"key":"k"}`], [`{"op":"and"}`], [`{"op":"not","nodes":[${eq},${eq}]}`]])(
    "[D4] with a tags filter that makes no sense is answered 107: %s",
    (tf) => {
      const room = new Room({ options: filtering });
      const peer = room.connected();
      const request = subscribe(`"channel":"room","tf":${tf}`);
      expect(room.ask(peer, request)).toStrictEqual([badRequest]);
      expect(room.channel.hub.size).toBe(0);
    },
  );

  it("[D4] that isn't allowed is refused as such, whatever its tags filter", () => {
    const room = new Room({ options: { allow_tags_filter: true } });
    const peer = room.connected();
    expect(room.ask(peer, subscribe(`"channel":"room","tf":{}`))).toStrictEqual([denied]);
    const request = subscribe(`"channel":"room","token":"t","tf":{}`);
    expect(room.ask(peer, request, subscriptionToken())).toStrictEqual([badRequest]);
  });

  it("[B2] with a tags filter that doesn't fit what survives sleep is answered 106", () => {
    const room = new Room({ options: filtering });
    const long = `{"key":"k","cmp":"in","vals":["${"v".repeat(limits.attachmentBytesMax)}"]}`;
    expect(room.ask(room.connected(), subscribe(`"channel":"room","tf":${long}`))).toStrictEqual([
      `{"id":2,"error":{"code":106,"message":"limit exceeded"}}`,
    ]);
  });

  const history = { history_size: 10, history_ttl: "60s" };
  const patching = { ...open, ...history, allowed_delta_types: ["fossil"] };
  const positioning = { ...patching, force_positioning: true };

  it.each<[string, object, string, boolean]>([
    ["a position", positioning, "", true],
    ["recovery", { ...patching, force_recovery: true }, "", true],
    ["a position it asks for", { ...patching, allow_positioning: true }, `"positioned":true`, true],
    ["no position", patching, "", false],
    ["no position, though one may be had", { ...patching, allow_positioning: true }, "", false],
    ["no leave", { ...positioning, allowed_delta_types: [] }, "", false],
    ["a tags filter", { ...positioning, allow_tags_filter: true }, `"tf":${eq}`, false],
  ])("[D1] with the fossil delta and %s: %j {%s} -> %j", (_, options, fields, given) => {
    const room = new Room({ options });
    const peer = room.connected();
    const more = fields === "" ? "" : `,${fields}`;
    const heard = room.ask(peer, subscribe(`"channel":"room","delta":"fossil"${more}`));
    expect(heard).toHaveLength(1);
    expect(heard[0]?.includes("error")).toBe(false);
    expect(peer.saved.subscriptions[0]?.delta).toBe(given ? true : undefined);
    expect(peer.saved.subscriptions[0]?.filter).toStrictEqual(
      fields.startsWith(`"tf"`) ? filter : undefined,
    );
  });

  it("[D1] without a delta gets none where it is allowed", () => {
    const room = new Room({ options: positioning });
    const peer = room.subscribed();
    expect(peer.saved.subscriptions[0]).not.toHaveProperty("delta");
  });
});
