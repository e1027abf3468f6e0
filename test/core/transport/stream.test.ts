import { describe, expect, it } from "vitest";
import { eventFormat, responseFormat } from "../../../src/transport/stream.ts";

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const twoReplies = `{"id":1,"connect":{}}\n{"push":{"channel":"é😀"}}`;

describe("a stream's format", () => {
  it("[T1] makes an event of each reply in a frame", () => {
    expect(eventFormat.contentType).toBe("text/event-stream; charset=utf-8");
    expect(eventFormat.opening).toBe("\r\n");
    expect(text(eventFormat.encode(twoReplies))).toBe(
      `data: {"id":1,"connect":{}}\n\ndata: {"push":{"channel":"é😀"}}\n\n`,
    );
    expect(text(eventFormat.encode("{}"))).toBe("data: {}\n\n");
    expect(text(eventFormat.encode(`{}\n`))).toBe("data: {}\n\n");
  });

  it.each(["json", "one_way"] as const)("[T1] ends each reply with a line break: %s", (codec) => {
    const format = responseFormat(codec);
    expect(format.contentType).toBe("application/json; charset=utf-8");
    expect(format.opening).toBe("");
    expect(text(format.encode(twoReplies))).toBe(`${twoReplies}\n`);
  });

  it("[T1] leaves Protobuf as it is", () => {
    const format = responseFormat("protobuf");
    expect(format.contentType).toBe("application/octet-stream");
    expect(format.opening).toBe("");
    expect(format.encode(new Uint8Array([2, 0x08, 1, 0]))).toStrictEqual(
      new Uint8Array([2, 0x08, 1, 0]),
    );
  });

  it("[T6] has something to write that says nothing", () => {
    expect(text(eventFormat.filler)).toBe(":\n\n");
    expect(JSON.parse(`${text(responseFormat("json").filler)}{"id":1}`)).toStrictEqual({ id: 1 });
    expect(responseFormat("protobuf").filler).toStrictEqual(Uint8Array.of(2, 0x22, 0));
  });
});
