import { describe, expect, it } from "vitest";
import {
  encodeChannels,
  encodeInfo,
  namesForPage,
  pageOfChannels,
  pageOfGateways,
} from "../../../src/api/directory-pages.ts";
import type { GatewayInfo } from "../../../src/contract/listing.ts";
import { version } from "../../../src/version.ts";

const page = { after: "", limit: 2 };

const gateway = (name: string): GatewayInfo => ({
  name,
  version: "1",
  clients: 3,
  users: 2,
  channels: 5,
  subscriptions: 7,
  uptimeSeconds: 11,
  left: true,
});

describe("a page of info", () => {
  it("[U23] has the first gateways of all shards, in Centrifugo's shape", () => {
    expect(namesForPage(page)).toBe(3);
    const first = pageOfGateways([["eu/0", "us/0"], [], ["eu/1"]], page);
    expect([...first.asked]).toStrictEqual([
      [0, ["eu/0"]],
      [2, ["eu/1"]],
    ]);
    const infos = [{ gateways: [gateway("eu/1")] }, { gateways: [gateway("eu/0")] }];
    expect(encodeInfo(first, infos)).toBe(
      '{"nodes":[{"uid":"gateway:eu/0","name":"eu/0","version":"1","num_clients":3,"num_users":2,"num_channels":5,"num_subs":7,"uptime":11,"region":"eu"},{"uid":"gateway:eu/1","name":"eu/1","version":"1","num_clients":3,"num_users":2,"num_channels":5,"num_subs":7,"uptime":11,"region":"eu"}],"cursor":"eu/1"}',
    );
  });

  it("[U23] has the edge if there is no gateway at all, and no further page", () => {
    const none = pageOfGateways([[], []], page);
    const edge = `{"uid":"edge","name":"edge","version":"${version}","num_clients":0,"num_users":0,"num_channels":0,"num_subs":0,"uptime":0}`;
    expect(encodeInfo(none, [], true)).toBe(`{"nodes":[${edge}]}`);
    expect(encodeInfo(none, [undefined], true)).toBe(`{"nodes":[${edge}],"incomplete":true}`);
    expect(encodeInfo(none, [])).toBe('{"nodes":[]}');
    const gone = pageOfGateways([["eu/0"], ["us/0", "us/1"]], page);
    expect(encodeInfo(gone, [{ gateways: [] }], true)).toBe('{"nodes":[],"cursor":"us/0"}');
    expect(encodeInfo(none, [{ gateways: [gateway("eu/0")] }], true)).not.toContain("edge");
  });

  it("[U23] has no cursor if no page follows, and says if a shard or a gateway didn't answer", () => {
    const last = pageOfGateways([["eu/0"], ["us/0"]], page);
    expect(encodeInfo(last, [{ gateways: [] }])).toBe('{"nodes":[]}');
    expect(encodeInfo(last, [undefined])).toBe('{"nodes":[],"incomplete":true}');
    const unheard = [{ gateways: [], incomplete: true } as const];
    expect(encodeInfo(last, unheard)).toContain('"incomplete":true');
    expect(encodeInfo(pageOfGateways([undefined, ["us/0"]], page), [])).toContain("incomplete");
  });
});

describe("a page of channels", () => {
  it("[U24] adds up the subscribers of a channel in all its objects", () => {
    const listed = [
      {
        channels: [
          { name: "a", subscribers: 1 },
          { name: "c", subscribers: 9 },
        ] as const,
        own: ["b"],
      },
      { channels: [{ name: "a", subscribers: 2 }], own: ["a", "d"] },
    ];
    const first = pageOfChannels(listed, page);
    expect([...first.asked]).toStrictEqual([
      [0, ["b"]],
      [1, ["a"]],
    ]);
    const counted = [
      { channels: [{ name: "b", subscribers: 4 }] },
      { channels: [{ name: "a", subscribers: 8 }] },
    ];
    expect(encodeChannels(first, counted)).toBe(
      '{"channels":{"a":{"num_clients":11},"b":{"num_clients":4}},"cursor":"b"}',
    );
  });

  it("[U24] leaves out channels without subscribers, and has no cursor if no page follows", () => {
    const found = pageOfChannels(
      [{ channels: [{ name: "__proto__", subscribers: 1 }], own: ["empty"] }],
      page,
    );
    expect(encodeChannels(found, [{ channels: [] }])).toBe(
      '{"channels":{"__proto__":{"num_clients":1}}}',
    );
    expect(encodeChannels(pageOfChannels([], page), [])).toBe('{"channels":{}}');
  });

  it("[U24] says if a shard or an object didn't answer", () => {
    const found = pageOfChannels([{ channels: [], own: ["a"] }], page);
    for (const counted of [undefined, { channels: [], incomplete: true } as const])
      expect(encodeChannels(found, [counted])).toBe('{"channels":{},"incomplete":true}');
    for (const listed of [undefined, { channels: [], own: [], incomplete: true } as const])
      expect(encodeChannels(pageOfChannels([listed], page), [])).toContain('"incomplete":true');
  });
});
