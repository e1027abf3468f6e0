import { describe, expect, it } from "vitest";
import { limits } from "../../../../src/limits.ts";
import { filterNode } from "../../protocol/any-filter.ts";
import { ChannelFixture } from "../channel-fixture.ts";

const open = { allow_subscribe_for_client: true };
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
    const fixture = new ChannelFixture({ options: filtering });
    const connection = fixture.connected();
    expect(fixture.ask(connection, subscribe(`"channel":"room","tf":${eq}`))).toStrictEqual([
      granted,
    ]);
    expect(connection.saved.subscriptions).toMatchObject([{ channel: "room", filter }]);
    fixture.hibernate();
    expect(connection.saved.subscriptions).toMatchObject([{ channel: "room", filter }]);
  });

  it("[D4] without a tags filter has none where one is allowed", () => {
    const fixture = new ChannelFixture({ options: filtering });
    for (const tf of ["", `,"tf":null`]) {
      const connection = fixture.connected();
      expect(fixture.ask(connection, subscribe(`"channel":"room"${tf}`))).toStrictEqual([granted]);
      expect(connection.saved.subscriptions[0]).not.toHaveProperty("filter");
    }
  });

  it.each([["{}"], [`{"key":"k"}`], [`{"op":"and"}`], [`{"op":"not","nodes":[${eq},${eq}]}`]])(
    "[D4] with a tags filter that makes no sense is answered 107: %s",
    (tf) => {
      const fixture = new ChannelFixture({ options: filtering });
      const connection = fixture.connected();
      const request = subscribe(`"channel":"room","tf":${tf}`);
      expect(fixture.ask(connection, request)).toStrictEqual([badRequest]);
      expect(fixture.channel.hub.size).toBe(0);
    },
  );

  it("[B2] with a tags filter that doesn't fit an attachment is answered 106", () => {
    const fixture = new ChannelFixture({ options: filtering });
    const long = `{"key":"k","cmp":"in","vals":["${"v".repeat(limits.attachmentBytesMax)}"]}`;
    expect(
      fixture.ask(fixture.connected(), subscribe(`"channel":"room","tf":${long}`)),
    ).toStrictEqual([`{"id":2,"error":{"code":106,"message":"limit exceeded"}}`]);
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
    const fixture = new ChannelFixture({ options });
    const connection = fixture.connected();
    const more = fields === "" ? "" : `,${fields}`;
    const received = fixture.ask(connection, subscribe(`"channel":"room","delta":"fossil"${more}`));
    expect(received).toHaveLength(1);
    expect(received[0]?.includes("error")).toBe(false);
    expect(connection.saved.subscriptions[0]?.delta).toBe(given ? true : undefined);
    expect(connection.saved.subscriptions[0]?.filter).toStrictEqual(
      fields.startsWith(`"tf"`) ? filter : undefined,
    );
  });
});
