import { describe, expect, it } from "vitest";
import { execute, executeAll } from "../../../../src/api/execute.ts";
import type { ChannelAnswer, ChannelOperation } from "../../../../src/contract/channel-call.ts";
import { plainMapPublish } from "../../../../src/features/maps/map-call.ts";
import { limits } from "../../../../src/limits.ts";
import { openChannel, publishing, withHistory } from "../../../contract/open-channel.ts";
import { openMap, set } from "../../../contract/open-map.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";

const newEpoch = () => "epoch";

describe("the commands of the API on a map", () => {
  it("[W1] answer what a change did, or why it did nothing", () => {
    const { channel } = openMap(new NodeSql(), {}, { newEpoch });
    const publish = (more: object = {}): ChannelAnswer =>
      execute(channel, { method: "map_publish", request: { ...request, ...more } }, 0);
    const request = plainMapPublish("a", publishing("1").data);
    expect(publish()).toEqual({ result: '{"offset":1,"epoch":"epoch"}' });
    expect(publish({ keyMode: "if_new" })).toEqual({
      result:
        '{"offset":1,"epoch":"epoch","suppressed":true,"suppress_reason":"key_exists","current_offset":1}',
    });
    const remove = { method: "map_remove", request: { key: "a", idempotencyKey: "" } } as const;
    expect(execute(channel, remove, 0)).toEqual({ result: '{"offset":2,"epoch":"epoch"}' });
    expect(execute(channel, remove, 0)).toEqual({
      result:
        '{"offset":2,"epoch":"epoch","suppressed":true,"suppress_reason":"key_not_found","current_offset":0}',
    });
  });

  it("[W1] read the state, as a whole, in pages, by key, and as of a position", () => {
    const { channel, map } = openMap(new NodeSql(), {}, { newEpoch });
    set(map, "b", 1, { tags: { room: "x" }, score: -2, nowMs: 5_000 });
    set(map, "a", 2, { nowMs: 6_000 });
    set(map, "c", 3, { nowMs: 7_000 });
    const read = (more: object): ChannelAnswer => {
      const query = { key: "", cursor: "", limit: -1, asc: false, ...more };
      return execute(channel, { method: "map_read_state", request: query }, 7_000);
    };
    const [a, b, c] = [
      '{"key":"a","data":2,"offset":2,"time":6000}',
      '{"key":"b","data":1,"tags":{"room":"x"},"offset":1,"score":-2,"time":5000}',
      '{"key":"c","data":3,"offset":3,"time":7000}',
    ];
    const at = '"offset":3,"epoch":"epoch"';
    expect(read({})).toEqual({ result: `{"entries":[${a},${b},${c}],${at}}` });
    expect(read({ limit: 0 })).toEqual({ result: `{"entries":[],${at}}` });
    expect(read({ limit: 2 })).toEqual({ result: `{"entries":[${a},${b}],${at},"cursor":"b"}` });
    expect(read({ limit: 2, cursor: "b" })).toEqual({ result: `{"entries":[${c}],${at}}` });
    expect(read({ key: "b" })).toEqual({ result: `{"entries":[${b}],${at}}` });
    expect(read({ key: "none" })).toEqual({ result: `{"entries":[],${at}}` });
    const revision = { offset: 2, epoch: "epoch" };
    expect(read({ revision })).toEqual({
      result: `{"entries":[${a},${b}],"offset":2,"epoch":"epoch"}`,
    });
    expect(read({ revision, key: "c" })).toEqual({
      result: '{"entries":[],"offset":2,"epoch":"epoch"}',
    });
    expect(read({ revision: { offset: 2, epoch: "other" } })).toMatchObject({
      error: { code: 112 },
    });
  });

  it("[W1] read the stream, count the keys and clear the map", () => {
    const { channel, map } = openMap(new NodeSql(), {}, { newEpoch });
    set(map, "b", 1);
    execute(channel, { method: "map_remove", request: { key: "b", idempotencyKey: "" } }, 0);
    set(map, "a", 2);
    const stream = (more: object): ChannelAnswer =>
      execute(
        channel,
        { method: "map_read_stream", request: { limit: -1, reverse: false, ...more } },
        0,
      );
    expect(stream({})).toEqual({
      result:
        '{"entries":[{"key":"b","data":1,"offset":1},{"key":"b","offset":2,"removed":true},{"key":"a","data":2,"offset":3}],"offset":3,"epoch":"epoch"}',
    });
    expect(stream({ limit: 1, since: { offset: 1, epoch: "epoch" } })).toEqual({
      result: '{"entries":[{"key":"b","offset":2,"removed":true}],"offset":3,"epoch":"epoch"}',
    });
    expect(stream({ since: { offset: 1, epoch: "other" } })).toMatchObject({
      error: { code: 112 },
    });
    expect(execute(channel, { method: "map_stats" }, 0)).toEqual({ result: '{"num_keys":1}' });
    expect(execute(channel, { method: "map_clear" }, 0)).toEqual({ result: "{}" });
    expect(execute(channel, { method: "map_stats" }, 0)).toEqual({ result: '{"num_keys":0}' });
  });

  it("[W1] are answered 108 on a channel that is no map, and history and publish are refused on a map", () => {
    const plain = openChannel(new NodeSql(), { options: withHistory });
    expect(execute(plain, { method: "map_stats" }, 0)).toMatchObject({ error: { code: 108 } });
    const { channel } = openMap(new NodeSql());
    const codes = (command: ChannelOperation) => execute(channel, command, 0);
    expect(codes({ method: "publish", request: publishing("1") })).toMatchObject({
      error: { code: 107 },
    });
    const query = { limit: 1, reverse: false };
    expect(codes({ method: "history", request: query })).toMatchObject({ error: { code: 108 } });
    expect(codes({ method: "history_remove" })).toMatchObject({ error: { code: 108 } });
  });

  it("[Z13] tell a publish whose if_offset isn't that of the top where the top is", () => {
    const channel = openChannel(new NodeSql(), { options: withHistory, newEpoch });
    const publish = (ifOffset: number): ChannelAnswer =>
      execute(channel, { method: "publish", request: publishing("1", { ifOffset }) }, 0);
    expect(publish(0)).toEqual({ result: '{"offset":1,"epoch":"epoch"}' });
    expect(publish(0)).toEqual({
      result:
        '{"offset":1,"epoch":"epoch","suppressed":true,"suppress_reason":"position_mismatch"}',
    });
  });

  it("[B1] bound the answers of one call, and always tell what a change did", () => {
    const { channel, map } = openMap(new NodeSql());
    const large = new Uint8Array(limits.publicationBytesMax).fill(65);
    for (let number = 0; number < 5; number++) set(map, `key${number}`, 0, { data: large });
    const request = { key: "", cursor: "", limit: -1, asc: false };
    const reading: ChannelOperation = { method: "map_read_state", request };
    const change = plainMapPublish("a", publishing("1").data);
    const answers = executeAll(
      channel,
      [reading, reading, { method: "map_publish", request: change }],
      0,
    );
    expect(answers).toMatchObject([
      { result: expect.stringContaining('"cursor":"key2"') },
      { error: { code: 106 } },
      { result: expect.stringContaining('"offset":6') },
    ]);
  });
});
