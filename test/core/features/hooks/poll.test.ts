import { describe, expect, it } from "vitest";
import {
  parsePollResult,
  pollRequestBody,
} from "../../../../src/features/shared-polls/refresh-hook.ts";
import { limits } from "../../../../src/limits.ts";
import { valid } from "../../protocol/valid-json-text.ts";

it("[SP3] a question names the channel, and the keys with the versions that are known", () => {
  const items = [
    { key: 'a"b', version: 0n },
    { key: "c", version: 18_446_744_073_709_551_615n },
  ];
  expect(pollRequestBody("prices:é", items)).toBe(
    '{"channel":"prices:é","items":[{"key":"a\\"b"},{"key":"c","version":18446744073709551615}]}',
  );
});

const ofItem = (item: string) => `{"items":[{"key":"x","data":1,"version":1},${item}]}`;

describe("the answer of a backend", () => {
  it("[SP3] has values as they were written, versions of 64 bits, and removed keys", () => {
    const text = valid(
      `{"epoch":"e","items":[{"key":"a","data":{"n": 1.50},"version":18446744073709551615},{"key":"b","b64data":"/w==","version":1,"prev_data":1},{"key":"c","removed":true}]}`,
    );
    expect(parsePollResult(text, true)).toEqual({
      outcome: "read",
      answer: {
        epoch: "e",
        items: [
          { key: "a", data: '{"n": 1.50}', version: 18_446_744_073_709_551_615n },
          { key: "b", data: new Uint8Array([255]), version: 1n },
          { key: "c", removed: true },
        ],
      },
    });
  });

  it.each([undefined, "{}", '{"items":null,"epoch":null}', '{"items":[]}'])(
    "[SP16] may say that nothing has changed: %s",
    (text) => {
      const given = text === undefined ? undefined : valid(text);
      const answer = { items: [], epoch: "" };
      expect(parsePollResult(given, true)).toEqual({ outcome: "read", answer });
    },
  );

  it("[SP12] needs no versions without the mode, and has none then", () => {
    const text = valid('{"items":[{"key":"a","data":0,"version":7}]}');
    expect(parsePollResult(text, false)).toMatchObject({
      answer: { items: [{ key: "a", data: "0", version: undefined }] },
    });
  });

  it.each([
    ['{"items":{}}', '"items" is not an array'],
    ['{"epoch":1}', '"epoch" is not a string'],
    ['{"epoch":"_"}', '"epoch" is not a string'],
    [`{"epoch":"${"x".repeat(limits.versionEpochBytesMax + 1)}"}`, '"epoch" is not a string'],
    [ofItem("1"), '"items[1]": "key" is not a string'],
    [ofItem('{"data":1,"version":1}'), '"items[1]": "key" is not a string'],
    [ofItem('{"key":"","data":1,"version":1}'), '"items[1]": "key" is not a string, or is empty'],
    [ofItem('{"key":"a","removed":1}'), '"items[1]": "removed" is not true or false'],
    [ofItem('{"key":"a","version":1}'), '"items[1]": "data" is missing'],
    [ofItem('{"key":"a","b64data":"%","version":1}'), '"b64data" is not base64'],
    [ofItem('{"key":"a","data":1}'), '"version" is not an unsigned 64 bit integer above 0'],
    [ofItem('{"key":"a","data":1,"version":0}'), '"version" is not an unsigned 64 bit integer'],
    [ofItem('{"key":"a","data":1,"version":-1}'), '"version" is not an unsigned 64 bit integer'],
    [
      ofItem(`{"key":"a","data":"${"x".repeat(limits.publicationBytesMax)}","version":1}`),
      '"data" has more than',
    ],
  ])("[SP5] can't be used as a whole, and the reason quotes nothing: %s", (text, reason) => {
    expect(parsePollResult(valid(text), true)).toEqual({
      outcome: "invalid",
      reason: expect.stringContaining(reason),
    });
  });
});
