import { describe, expect, it } from "vitest";
import { namedSecretNames } from "../../../../src/config/secret-uses.ts";
import { targetsOf } from "../../../../src/features/sections.ts";
import { configOf, problemsOf } from "../../config/parsed.ts";

const shop = { id: "shop", key: "shop-key", secret: "PUSHER_SECRET_SHOP", namespace: "shop" };
const channel = {
  namespaces: [
    { name: "shop", presence: true },
    { name: "bare" },
    { name: "map", subscription_type: "map", map: { mode: "ephemeral", key_ttl: "30s" } },
  ],
};

const off = {
  enableClientMessages: false,
  enableSubscriptionCount: false,
  enableWatchlistEvents: false,
  requireSignin: false,
};
const hook = { url: "https://shop.example/pusher", event_types: ["client_event"] };

function problems(apps: unknown, others: object = {}): readonly string[] {
  return problemsOf({ channel, pusher: { apps }, ...others });
}

describe("[A8] the section pusher", () => {
  it("is absent by default, and takes applications, whose secrets are needed", () => {
    expect(configOf({}).pusher).toBeUndefined();
    expect(configOf({ pusher: {} }).pusher).toBeUndefined();
    const config = configOf({ channel, pusher: { apps: [shop] } });
    expect(config.pusher).toEqual({
      apps: [{ ...shop, ...off, webhooks: [] }],
    });
    expect(namedSecretNames(config)).toContain("PUSHER_SECRET_SHOP");
  });

  it.each([
    [{ ...shop, id: "" }, "id is missing"],
    [{ ...shop, id: "a/b" }, "is not at most 64 of"],
    [{ ...shop, key: "a:b" }, "is not at most 64 of"],
    [{ ...shop, secret: "the-secret-itself" }, "is not the name of a secret"],
    [{ ...shop, namespace: "other" }, "is not the name of a namespace"],
    [{ ...shop, namespace: "bare" }, "is a namespace without presence"],
    [{ ...shop, namespace: "map" }, "is not a namespace of the subscription_type"],
    [{ ...shop, capacity: 5 }, "capacity is unknown"],
    [{ ...shop, webhooks: [{ url: "ftp://hush" }] }, 'is neither "service:BINDING" nor an https'],
    [{ ...shop, webhooks: [{ url: "https://a.example/" }] }, "event_types is missing"],
    [{ ...shop, webhooks: [{ ...hook, event_types: ["connected"] }] }, "is not one of channel_"],
    [
      { ...shop, webhooks: [{ ...hook, event_types: ["member_added"] }] },
      'without "member_removed"',
    ],
    [{ ...shop, webhooks: Array.from({ length: 5 }, () => hook) }, "more than 4 entries"],
  ])("refuses %j: %s", (app, problem) => {
    expect(problems([app]).join("\n")).toContain(problem);
  });

  it("takes webhooks, whose binding is a target and whose URL is never quoted", () => {
    const service = { url: "service:BACKEND", event_types: ["cache_miss"] };
    const config = configOf({
      channel,
      pusher: { apps: [{ ...shop, webhooks: [hook, service] }] },
    });
    expect(config.pusher?.apps[0]?.webhooks[0]?.eventTypes).toEqual(new Set(["client_event"]));
    expect(targetsOf(config)).toContainEqual({
      key: "pusher.apps[0].webhooks[1].url",
      endpoint: { kind: "service", binding: "BACKEND" },
    });
    const wrong = problems([{ ...shop, webhooks: [{ ...hook, url: "https://u:hush@a.example" }] }]);
    expect(wrong.join("\n")).not.toContain("hush");
  });

  it("refuses two applications with one id, key or secret, and never quotes a secret", () => {
    const again = problems([shop, shop]);
    for (const name of ["id", "key", "secret"])
      expect(again.join("\n")).toContain(`${name} is already the ${name} of pusher.apps[0]`);
    expect(problems([{ ...shop, secret: "hush hush" }]).join("\n")).not.toContain("hush");
  });
});
