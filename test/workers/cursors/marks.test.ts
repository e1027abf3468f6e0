import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { cursorLimits } from "../../../src/features/cursors/limits.ts";
import { call, publish } from "../support/api-request.ts";
import { configure } from "../support/configure.ts";
import { newChannel } from "../support/new-channel.ts";
import { awake, evicted } from "../support/object-state.ts";
import { testConfig } from "../support/test-config.ts";

const history = { history_size: 10, history_ttl: "5m" };
configure({
  ...testConfig,
  channel: {
    ...testConfig.channel,
    namespaces: [
      ...testConfig.channel.namespaces,
      { name: "chat", ...history, cursors: { enabled: true } },
    ],
  },
});

const before = { ...cursorLimits };
afterEach(() => void Object.assign(cursorLimits, before));

interface Marks {
  readonly marks: readonly { readonly user: string; readonly read: number; at_ms: number }[];
  readonly count?: number;
  readonly capped?: true;
  readonly epoch: string;
  readonly offset: number;
  readonly cursor?: string;
}

async function marks(channel: string, request: object = {}): Promise<Marks> {
  const { body } = await call("marks", { channel, ...request });
  const { result }: { result?: Marks } = JSON.parse(body);
  if (result === undefined) throw new Error(body);
  return result;
}

const errorOf = async (request: object) => (await call("marks", request)).body;

const mark = async (channel: string, user: string, offset: number) =>
  (await call("mark_read", { channel, user, offset })).body;

describe.each([awake, evicted])("marks, objects $name", ({ betweenSteps }) => {
  it("[CU35] are listed in pages, each user once, and counted up to an offset", async () => {
    const channel = newChannel("chat");
    let epoch = "";
    for (const data of [1, 2, 3, 4]) ({ epoch } = await publish(channel, data));
    const users = Array.from({ length: 9 }, (_, index) => `user-${index}`);
    for (const [index, user] of users.entries()) await mark(channel, user, 1 + (index % 4));
    const listed: string[] = [];
    let [cursor, pages] = ["", 0];
    do {
      await betweenSteps([env.CHANNELS.getByName(channel)]);
      const page = await marks(channel, { limit: 2, cursor });
      expect(page).toMatchObject({ epoch, offset: 4 });
      expect(page).not.toHaveProperty("count");
      listed.push(...page.marks.map(({ user, read }) => `${user} ${read}`));
      cursor = page.cursor ?? "";
      pages++;
    } while (cursor !== "");
    expect(pages).toBe(5);
    expect(listed).toEqual(users.map((user, index) => `${user} ${1 + (index % 4)}`));
    expect(await marks(channel, { offset: 3, limit: 0 })).toStrictEqual({
      marks: [],
      count: 4,
      epoch,
      offset: 4,
    });
  });
});

describe("marks", () => {
  it("[CU35] say when the user has marked, also when more is known of the user later", async () => {
    const channel = newChannel("chat");
    for (const data of [1, 2]) await publish(channel, data);
    const startMs = Date.now();
    await mark(channel, "ann", 2);
    const [ann] = (await marks(channel)).marks;
    expect(ann?.at_ms).toBeGreaterThanOrEqual(startMs);
    await mark(channel, "ann", 1);
    expect((await marks(channel)).marks).toEqual([ann]);
  });

  it("[CU35] are looked through only so far by one request, which says so", async () => {
    const channel = newChannel("chat");
    await publish(channel, 1);
    for (const user of ["a", "b", "c", "d", "e"]) await mark(channel, user, 1);
    Object.assign(cursorLimits, { markRowsMax: 2 });
    let [cursor, count, questions] = ["", 0, 0];
    do {
      const page = await marks(channel, { offset: 1, limit: 0, cursor });
      count += page.count ?? 0;
      cursor = page.cursor ?? "";
      expect(page.capped === true).toBe(cursor !== "");
      questions++;
    } while (cursor !== "");
    expect({ count, questions }).toEqual({ count: 5, questions: 3 });
  });

  it("[CU35] [CU5] of an epoch that is gone aren't listed", async () => {
    const channel = newChannel("chat");
    await publish(channel, 1);
    await mark(channel, "ann", 1);
    await call("history_remove", { channel });
    await publish(channel, 2);
    const { epoch } = await marks(channel);
    await mark(channel, "bob", 1);
    const after = await marks(channel, { offset: 1 });
    expect(after.epoch).toBe(epoch);
    expect(after.marks.map(({ user }) => user)).toContain("bob");
  });

  it("[CU9] [CU35] are refused where nothing is kept, and if the request is wrong", async () => {
    expect(await errorOf({ channel: newChannel("plain") })).toContain('"code":108');
    expect(await errorOf({ channel: "nowhere:a" })).toContain('"code":102');
    const channel = newChannel("chat");
    expect(await errorOf({ channel, limit: 1_001 })).toContain('"code":107');
    for (const wrong of [-1, 1.5, "x"])
      for (const name of ["limit", "offset"])
        expect(await errorOf({ channel, [name]: wrong })).toBe("Bad Request");
  });

  it("[CU9] are kept of so many users only", async () => {
    const channel = newChannel("chat");
    await publish(channel, 1);
    Object.assign(cursorLimits, { marksMax: 2 });
    for (const user of ["ann", "bob"]) await mark(channel, user, 1);
    expect(await mark(channel, "cid", 1)).toContain('"code":106');
    expect(await mark(channel, "ann", 1)).toContain('"read":1');
    expect((await marks(channel)).marks.map(({ user }) => user)).toEqual(["ann", "bob"]);
  });
});
