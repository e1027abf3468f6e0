import { describe, expect, it } from "vitest";
import {
  parseConnectResult,
  parseHookResponse,
  parseMapPublishResult,
  parseMapRemoveResult,
  parsePublishResult,
  parseRefreshResult,
  parseRpcResult,
  parseSubscribeResult,
  resultFields,
} from "../../../../src/features/hooks/response.ts";
import { trustedJsonText, type JsonText } from "../../../../src/protocol/json/text.ts";
import { json } from "../../api/channel-config.ts";

const parsers: Readonly<Record<string, (text: JsonText) => { readonly outcome: string }>> = {
  connect: parseConnectResult,
  refresh: parseRefreshResult,
  subscribe: parseSubscribeResult,
  publish: (text) => parsePublishResult(text, json("1")),
  rpc: parseRpcResult,
  sub_refresh: parseRefreshResult,
  map_publish: (text) => parseMapPublishResult(text, { key: "k", data: json("1") }),
  map_remove: (text) => parseMapRemoveResult(text, "k"),
};

/** Values that a field can't have; fields without a row are any JSON. */
const wrong: Readonly<Record<string, readonly unknown[]>> = {
  user: [7, true, {}, [], "\ud800"],
  expire_at: ["soon", true, {}, []],
  expired: ["yes", 1, {}, []],
  b64info: [7, true, {}, [], "!"],
  b64data: [7, true, {}, [], "!"],
  channels: ["news", 7, {}, [7], [{}]],
  subs: ["news", 7, ["news"], { news: 7 }],
  caps: ["all", 7, {}, [7]],
  override: ["all", 7, [], { presence: true }],
  server_tags_filter: ["all", 7, []],
  members: ["ann", 7, {}, [7]],
  skip_history: ["yes", 1, {}, []],
  tags: ["t", 7, [], { t: 7 }],
  idempotency_key: [7, true, {}, []],
  delta: ["yes", 1, {}, []],
  version: ["x", -1, {}, [], 1.5],
  version_epoch: [7, true, {}, []],
  key: [7, true, {}, []],
  score: ["x", 1.5, {}, []],
  key_mode: ["other", 7, {}, []],
};

const ofMaps = {
  sub_refresh: ["expired", "expire_at", "b64info"],
  map_publish: [
    "key",
    "b64data",
    "tags",
    "score",
    "key_mode",
    "idempotency_key",
    "delta",
    "version",
    "version_epoch",
  ],
  map_remove: ["key", "tags", "idempotency_key"],
};

const rows = Object.entries({ ...resultFields, ...ofMaps }).flatMap(([hook, fields]) =>
  fields.flatMap((field) => (wrong[field] ?? []).map((value) => [hook, field, value] as const)),
);

describe("a hook's result with a value that a field can't have", () => {
  it.each(rows)("[Q5] is no result of %s: %s is %j", (hook, field, value) => {
    const base = hook === "connect" ? { user: "7" } : {};
    const text = trustedJsonText(JSON.stringify({ ...base, [field]: value }));
    expect(parsers[hook]?.(text)).toMatchObject({ outcome: "invalid" });
  });

  it.each(["7", '"ann"', "true", "[]"])("[Q5] is none at all: %s", (result) => {
    for (const name of ["result", "error", "disconnect"])
      expect(parseHookResponse(`{"${name}":${result}}`)).toMatchObject({ outcome: "invalid" });
  });

  it("[OW11] names no user beside a field that a connect's result doesn't have", () => {
    for (const text of ['{"user":"","id":7}', '{"id":7}', '{"user":"","name":"ann"}'])
      expect(parseConnectResult(trustedJsonText(text))).toMatchObject({ outcome: "invalid" });
    for (const text of ['{"user":"","info":7}', '{"user":"7","id":7}', "{}"])
      expect(parseConnectResult(trustedJsonText(text))).toMatchObject({ outcome: "read" });
  });
});
