import { describe, expect, it } from "vitest";
import type { Rate } from "../../../../src/config/rate-limit.ts";
import { limits } from "../../../../src/limits.ts";
import { configOf, problemsOf } from "../parsed.ts";

const path = "client.rate_limit.client_command";
const everyKind = [
  "total",
  "rpc",
  "send",
  "subscribe",
  "publish",
  "presence",
  "presence_stats",
  "history",
];
const bucket = { interval: "1s", rate: 3 };
const on = { enabled: true, buckets: [bucket] };

/** The configuration with these limits for commands, and the namespaces chat and news. */
const limiting = (commands: object) => ({
  client: { rate_limit: { client_command: { enabled: true, ...commands } } },
  channel: { namespaces: [{ name: "chat" }, { name: "news" }] },
});

const problemsWith = (commands: object) => problemsOf(limiting(commands));

describe("[B21] the rate limits of commands", () => {
  it("are read for all commands, and for each kind, with several rates", () => {
    const buckets = [
      bucket,
      { rate: 20, interval: "10s" },
      { rate: 7 },
      { interval: "2s", rate: 1 },
    ];
    const rates: readonly Rate[] = [
      { burst: 3, perSecond: 3 },
      { burst: 20, perSecond: 2 },
      { burst: 7, perSecond: 7 },
      { burst: 1, perSecond: 0.5 },
    ];
    for (const kind of everyKind) {
      const { client } = configOf(limiting({ [kind]: { enabled: true, buckets } }));
      expect(client.rateLimit).toStrictEqual(new Map([[kind, new Map([["", rates]])]]));
    }
  });

  it("may be of namespaces alone, or differ there", () => {
    const own = { namespace_name: "chat", enabled: true, buckets: [{ rate: 9 }] };
    const alone = { enabled: true, namespace_overrides: [own] };
    const chat: readonly Rate[] = [{ burst: 9, perSecond: 9 }];
    expect(configOf(limiting({ publish: alone })).client.rateLimit).toStrictEqual(
      new Map([["publish", new Map([["chat", chat]])]]),
    );
    const both = { ...on, namespace_overrides: [own] };
    const { rateLimit } = configOf(limiting({ publish: both })).client;
    expect(rateLimit.get("publish")?.get("")).toStrictEqual([{ burst: 3, perSecond: 3 }]);
    expect(rateLimit.get("publish")?.get("chat")).toStrictEqual(chat);
  });

  const enabled = "must be true if there are buckets, and only then";
  it.each<[object, string]>([
    [{ publish: { buckets: [bucket] } }, `publish.enabled ${enabled}`],
    [{ publish: { ...on, buckets: [] } }, `publish.enabled ${enabled}`],
    [
      {
        publish: {
          ...on,
          namespace_overrides: [{ ...on, enabled: false, namespace_name: "chat" }],
        },
      },
      `publish.namespace_overrides[0] ("chat").enabled ${enabled}`,
    ],
    [
      { publish: { ...on, namespace_overrides: [{ enabled: true, namespace_name: "chat" }] } },
      `publish.namespace_overrides[0] ("chat").buckets is missing`,
    ],
    [
      { publish: { ...on, namespace_overrides: [on] } },
      "publish.namespace_overrides[0].namespace_name is missing",
    ],
    [
      {
        history: {
          ...on,
          namespace_overrides: [
            { ...on, namespace_name: "chat" },
            { ...on, namespace_name: "chat" },
          ],
        },
      },
      `history.namespace_overrides[1] ("chat").namespace_name is already the namespace_name of ${path}.history.namespace_overrides[0] ("chat")`,
    ],
    [
      { history: { ...on, namespace_overrides: [{ ...on, namespace_name: "chats" }] } },
      `history.namespace_overrides: "chats" is not the name of a namespace`,
    ],
    [
      { publish: { ...on, buckets: [{ interval: "1s" }] } },
      'publish.buckets[0] ("1s").rate is missing',
    ],
    [
      { publish: { ...on, buckets: Array.from({ length: limits.ratesMax + 1 }, () => bucket) } },
      `publish.buckets has more than ${limits.ratesMax} entries`,
    ],
  ])("are refused where they say nothing, or too much: %j", (commands, problem) => {
    expect(problemsWith({ total: on, ...commands })).toStrictEqual([`${path}.${problem}`]);
  });

  it("must be enabled as a whole, and are those of a connection or of an object", () => {
    expect(problemsWith({ enabled: false, publish: on })).toStrictEqual([
      `${path}.enabled ${enabled}`,
    ]);
    expect(problemsWith({})).toStrictEqual([`${path}.enabled ${enabled}`]);
    const rate_limit = { redis_user_command: { enabled: true, publish: on } };
    expect(problemsOf({ client: { rate_limit } })).toStrictEqual([
      "client.rate_limit.redis_user_command is not supported by Dormouse: a user's connections are in several objects, which share no counter; user_command counts in each",
    ]);
    expect(problemsOf({ client: { rate_limit: { client_error: on } } })).toStrictEqual([
      "client.rate_limit.client_error is not supported by Dormouse",
    ]);
  });
});
