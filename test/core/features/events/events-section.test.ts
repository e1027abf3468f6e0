import { describe, expect, it } from "vitest";
import { eventLimits } from "../../../../src/features/events/limits.ts";
import { configOf, problemsOf } from "../../config/parsed.ts";

const target = "https://backend.example.com/events?from=dormouse";
const given = { target, types: ["publication"] };

describe("[A8] the events section", () => {
  it("[E1] is off by default", () => {
    expect(configOf({}).events).toBeUndefined();
    expect(configOf({ events: {} }).events).toBeUndefined();
  });

  it("[E6] has bounds of its own unless they are set", () => {
    expect(configOf({ events: given }).events).toStrictEqual({
      target: { kind: "url", url: target },
      types: new Set(["publication"]),
      batchMax: eventLimits.eventsBatchDefault,
      keepMs: eventLimits.eventsKeepMsDefault,
      keepMax: eventLimits.eventsKeepDefault,
    });
    const set = { batch_max: 1_000, keep: "336h", keep_max: 100, namespaces: ["", "chat"] };
    const channel = { namespaces: [{ name: "chat" }] };
    expect(configOf({ channel, events: { ...given, ...set } }).events).toMatchObject({
      batchMax: 1_000,
      keepMs: eventLimits.eventsKeepMsMax,
      keepMax: 100,
      namespaces: new Set(["", "chat"]),
    });
    const shortest = configOf({ events: { ...given, keep: "60s" } });
    expect(shortest.events?.keepMs).toBe(eventLimits.eventsKeepMsMin);
    expect(configOf({ events: { ...given, namespaces: [] } }).events?.namespaces?.size).toBe(0);
  });

  it.each([
    ["http://localhost:3000/events", { kind: "url", url: "http://localhost:3000/events" }],
    ["service:BACKEND", { kind: "service", binding: "BACKEND" }],
    ["service:BACKEND#Taker", { kind: "service", binding: "BACKEND", entrypoint: "Taker" }],
    ["queue:EVENTS", { kind: "queue", binding: "EVENTS" }],
  ])("takes the target %s", (text, expected) => {
    expect(configOf({ events: { ...given, target: text } }).events?.target).toStrictEqual(expected);
  });

  it.each([
    "http://backend.example.com/",
    "https://user:hunter2@backend.example.com/",
    "backend.example.com",
    "queue:",
    "queue:EVENTS#entry",
    "service:has space",
    "ftp://localhost/",
  ])("refuses the target %s, and doesn't quote it", (text) => {
    const problems = problemsOf({ events: { ...given, target: text } });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^events\.target is neither "queue:BINDING"/);
    expect(problems[0]).not.toContain("hunter2");
  });

  it("[E8] [E11] takes all types, and wants those together that undo each other", () => {
    const pairs = ["connected", "subscribed", "user_online", "channel_occupied"];
    const ends = ["disconnected", "unsubscribed", "user_offline", "channel_vacated"];
    const types = ["publication", ...pairs, ...ends];
    expect(configOf({ events: { target, types } }).events?.types).toStrictEqual(new Set(types));
    for (const [index, type] of pairs.entries()) {
      expect(problemsOf({ events: { target, types: [type] } })).toEqual([
        `events.types has "${type}" without "${ends[index]}": the two belong together`,
      ]);
    }
    const client = { users: { enabled: false } };
    expect(problemsOf({ client, events: { target, types } })).toEqual([
      "events.types requires client.users.enabled for user_online and user_offline",
    ]);
  });

  it.each<[object, string]>([
    [{ types: ["publicatoin"] }, 'events.types[0]: "publicatoin" is not one of'],
    [{ types: [] }, "events.types is missing: list what the target is told of"],
    [{ target: undefined }, "events.types requires target"],
    [{ keep: "59s" }, 'events.keep: "59s" is shorter'],
    [{ keep: "337h" }, 'events.keep: "337h" is longer'],
    [{ namespaces: ["chta"] }, 'events.namespaces: "chta" is not the name of a namespace'],
  ])("[B1] refuses %j", (more, problem) => {
    const [first = "", ...others] = problemsOf({ events: { ...given, ...more } });
    expect(first).toContain(problem);
    expect(others).toEqual([]);
  });
});
