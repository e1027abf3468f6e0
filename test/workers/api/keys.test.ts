import { env, exports } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { address, type Answer, answerOf, call } from "../support/api-request.ts";
import { configure } from "../support/configure.ts";
import { newChannel } from "../support/new-channel.ts";
import { testConfig } from "../support/test-config.ts";

const secrets = {
  API_KEY_PREVIOUS: "api-key-before-that-of-worker-tests",
  API_KEY_ROOMS: "api-key-for-rooms-only",
  API_KEY_ROOMS_PREVIOUS: "api-key-for-rooms-before-it",
};
const keys = [
  {
    name: "rooms",
    secret: "API_KEY_ROOMS",
    methods: ["publish", "broadcast", "history"],
    channels: ["room:*"],
  },
];
configure({ ...testConfig, http_api: { keys } });
Object.assign(env, secrets);

let lines: string[] = [];
beforeEach(() => {
  lines = [];
  vi.spyOn(console, "warn").mockImplementation((line) => lines.push(String(line)));
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** The lines of refusals; none may hold a key. */
function said(): readonly object[] {
  for (const key of Object.values(secrets)) expect(lines.join()).not.toContain(key);
  return lines.map((line): object => JSON.parse(line));
}

/** Posts with a key. */
async function postWithKey(
  key: string,
  path: string,
  request: object,
  headers: object = {},
): Promise<Answer & { readonly detail: string | null }> {
  const response = await exports.default.fetch(address(path), {
    method: "POST",
    body: JSON.stringify(request),
    headers: { "X-API-Key": key, ...headers },
  });
  const detail = response.headers.get("X-Dormouse-Error-Detail");
  return { ...(await answerOf(response)), detail };
}

const denied = `{"error":{"code":103,"message":"permission denied"}}`;
const refusal = (what: string) => `the API key "rooms" of http_api.keys doesn't admit ${what}`;
const published = (channel: string) => ({ channel, data: "payload" });

describe("a key of the API", () => {
  it.each([secrets.API_KEY_PREVIOUS, secrets.API_KEY_ROOMS, secrets.API_KEY_ROOMS_PREVIOUS])(
    "[A31] opens it as API_KEY does, a previous one too",
    async (key) => {
      const channel = newChannel("room");
      const { status, body } = await postWithKey(key, "/api/publish", published(channel));
      expect(status).toBe(200);
      expect(body).toContain(`"offset":1`);
      expect((await call("publish", published(channel))).body).toContain(`"offset":2`);
      expect(said()).toEqual([]);
    },
  );

  it("[A14] [A13] is refused what it doesn't admit, and the log names the key", async () => {
    const other = newChannel("");
    const channel = newChannel("room");
    const key = secrets.API_KEY_ROOMS;
    expect(await postWithKey(key, "/api/publish", published(other))).toStrictEqual({
      status: 200,
      body: denied,
      detail: refusal("the channel"),
    });
    expect(await postWithKey(key, "/api/presence", { channel })).toStrictEqual({
      status: 200,
      body: denied,
      detail: refusal("the method presence"),
    });
    expect((await call("history", { channel: other, limit: -1 })).body).toContain(
      `"publications":[]`,
    );
    const about = { rule: "A14", code: 103, key: "rooms" };
    expect(said()).toStrictEqual([
      { refused: "api publish", reason: refusal("the channel"), channel: other, ...about },
      { refused: "api presence", reason: refusal("the method presence"), channel, ...about },
    ]);
  });

  it("[A14] is refused entry by entry in a broadcast, a batch and the legacy form", async () => {
    const channel = newChannel("room");
    const other = newChannel("");
    const key = secrets.API_KEY_ROOMS;
    const broadcast = await postWithKey(key, "/api/broadcast", {
      channels: [channel, other],
      data: 1,
    });
    expect(broadcast.body).toMatch(/^\{"result":\{"responses":\[\{"result":\{"offset":1,.*$/);
    expect(broadcast.body).toContain(`,${denied}]}}`);
    const commands = [
      { publish: published(channel) },
      { publish: published(other) },
      { history_remove: { channel } },
    ];
    const batch = await postWithKey(key, "/api/batch", { commands });
    expect(batch.body).toMatch(/^\{"replies":\[\{"publish":\{"offset":2,[^}]*\}\},/);
    expect(batch.body).toContain(`,${denied},${denied}]}`);
    const line = { id: 7, method: "presence", params: { channel } };
    const legacy = await postWithKey(key, "/api", line);
    expect(legacy.body).toBe(`{"id":7,${denied.slice(1)}\n`);
    expect(said()).toMatchObject([
      { refused: "api broadcast", rule: "A14", key: "rooms", channel: other },
      { refused: "api batch", rule: "A14", key: "rooms", channel: other },
      { refused: "api", rule: "A14", key: "rooms", channel },
    ]);
  });

  it("[A31] [A13] the log names the key of every refusal, the full one by its secret", async () => {
    await postWithKey(secrets.API_KEY_ROOMS, "/api/publish", { channel: 5 });
    await postWithKey(secrets.API_KEY_PREVIOUS, "/api/publish", published("nosuch:x"));
    await call("publish", published("nosuch:x"));
    await postWithKey("hunter2", "/api/publish", published("room:x"));
    expect(said()).toMatchObject([
      { rule: "W4", key: "rooms", code: 400 },
      { rule: "W1", key: "API_KEY_PREVIOUS", code: 102 },
      { rule: "W1", key: "API_KEY", code: 102 },
      {
        rule: "A7",
        reason: "the API key matches neither API_KEY nor one of http_api.keys",
        code: 401,
      },
    ]);
    expect(said()[3]).not.toHaveProperty("key");
  });
});
