import { describe, expect, it } from "vitest";
import { limits } from "../../../../../src/limits.ts";
import { jsonCodec } from "../../../../../src/protocol/json/codec.ts";
import { messagePackCodec } from "../../../../../src/protocol/messagepack/codec.ts";
import { protobufCodec } from "../../../../../src/protocol/protobuf/codec.ts";
import { NodeSql } from "../../../../../package/test/node-sql.ts";
import { growingKey, growingMap } from "./growing-map.ts";

describe("pieces that wait together", () => {
  it("[Z39] tells pieces that share a frame as one publication, in each codec", () => {
    const growing = growingMap(new NodeSql());
    growing.append("a");
    const readers = [jsonCodec, messagePackCodec, protobufCodec].map((codec) =>
      growing.reader(codec),
    );
    growing.appendTogether("b", "ç", "d");
    for (const reader of readers) {
      expect(reader.value()).toBe("abçd");
      expect(reader.count()).toBe(1);
    }
    growing.pass(250);
    growing.appendTogether("e", "f");
    for (const reader of readers) expect(reader.value()).toBe("abçdef");
  });

  it("[Z39] [F5] tells the later pieces alone to a subscriber that was caught up between two", () => {
    const growing = growingMap(new NodeSql());
    growing.append("a");
    const [caughtUp, other] = [growing.reader(), growing.reader()];
    const { map, channel } = growing;
    const tell = (text: string) =>
      map.append({ key: growingKey, text, final: false, idempotencyKey: "" }, undefined, 0);
    tell("b");
    channel.hub.catchUp(caughtUp.subscriber);
    tell("c");
    growing.appendTogether("d");
    for (const reader of [caughtUp, other]) {
      expect(reader.value()).toBe("abcd");
      expect(reader.count()).toBe(2);
    }
  });

  it("[Z39] [F3] joins pieces only up to a length", () => {
    const growing = growingMap(new NodeSql());
    growing.append("a");
    const reader = growing.reader();
    const half = "x".repeat(limits.joinedPieceCharactersMax / 2);
    growing.appendTogether(half, half, half);
    expect(reader.count()).toBe(2);
    expect(reader.value()).toBe(`a${half.repeat(3)}`);
  });
});
