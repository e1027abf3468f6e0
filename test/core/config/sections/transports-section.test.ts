import { describe, expect, it } from "vitest";
import { configOf, problemsOf } from "../parsed.ts";

const off = configOf({}).transports;

const sections = [
  ["sse", "sse"],
  ["http_stream", "httpStream"],
  ["uni_sse", "uniSse"],
  ["uni_http_stream", "uniHttpStream"],
  ["uni_websocket", "uniWebsocket"],
  ["long_poll", "longPoll"],
] as const;

describe("[A8] the sections of the transports", () => {
  it("[T7] have all of them off by default", () => {
    expect(Object.values(off)).toStrictEqual(sections.map(() => false));
    const said = Object.fromEntries(sections.map(([name]) => [name, { enabled: false }]));
    expect(configOf(said).transports).toStrictEqual(off);
    expect(configOf({ sse: {}, long_poll: {} }).transports).toStrictEqual(off);
  });

  it.each(sections)("switch on %s, and no other", (name, field) => {
    const { transports } = configOf({ [name]: { enabled: true } });
    expect(transports).toStrictEqual({ ...off, [field]: true });
  });

  it.each(sections)("refuse a value that isn't a boolean: %s", (name) => {
    const type = "must be true or false, found";
    expect(problemsOf({ [name]: { enabled: "true" } })).toEqual([
      `${name}.enabled ${type} a string`,
    ]);
    expect(problemsOf({ [name]: true })).toEqual([`${name} must be an object, found a boolean`]);
    expect(problemsOf({ [name]: { enable: true } })).toEqual([
      `${name}.enable is unknown; did you mean enabled?`,
    ]);
  });

  it("refuse Centrifugo's options everywhere but in their place", () => {
    expect(problemsOf({ long_poll: { handler_prefix: "" } })).toEqual([
      "long_poll.handler_prefix is unknown",
    ]);
  });
});
