import { DatabaseSync } from "node:sqlite";
import { type Centrifuge, type Subscription, UnauthorizedError } from "centrifuge";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startDormouse, type TestDormouse } from "../../../package/test/index.ts";
import { codeBlocksOf, codeFolder, configOf, writeCode } from "../../support/documented-code.ts";
import { Inbox } from "../../support/inbox.ts";

/** What the code of docs/recipes.md exports. */
interface Recipes {
  readonly followPrice: (client: Centrifuge, symbol: string, show: Show<object>) => Subscription;
  readonly setPrice: (symbol: string, quote: object) => Promise<unknown>;
  readonly hearNotices: (client: Centrifuge, user: string, show: Show<object[]>) => Subscription;
  readonly notify: (users: readonly string[], notice: object) => Promise<unknown>;
  readonly streamAnswer: (channel: string, pieces: Pieces, periodMs?: number) => Promise<string>;
  readonly readAnswer: (
    client: Centrifuge,
    channel: string,
    show: (text: string, done: boolean) => void,
    askBackend: () => void,
  ) => Subscription;
  readonly countUnread: (client: Centrifuge, rooms: readonly string[]) => Promise<number[]>;
  readonly shareReceipts: Share<Map<string, number>, number, Promise<void>>;
  readonly sharePointer: Share<Map<string, object>, object, void>;
  readonly enterHall: (client: Centrifuge, hall: string) => unknown;
  readonly watchPeople: (client: Centrifuge, hall: string, show: Show<Set<string>>) => unknown;
  readonly shareReactions: Share<string, string, Promise<string>>;
  readonly admit: (user: string, club: string, isMember: IsMember) => Promise<string | undefined>;
  readonly expel: (user: string, club: string) => Promise<void>;
  readonly enterClub: (
    client: Centrifuge,
    club: string,
    askToken: (club: string) => Promise<string>,
    show: Show<unknown>,
    refused: (reason: string) => void,
  ) => Subscription;
  readonly tables: string;
  readonly placeOrder: (database: DatabaseSync, order: object) => void;
  readonly emptyOutbox: (database: DatabaseSync) => Promise<void>;
}

type Show<Shown> = (shown: Shown) => void;
type Pieces = Iterable<string> | AsyncIterable<string>;
type IsMember = (user: string, club: string) => boolean;
type Share<Shown, Told, Answer> = (
  client: Centrifuge,
  name: string,
  show: Show<Shown>,
) => (told: Told) => Answer;

let rt: TestDormouse;
let recipes: Recipes;
/** What the page exports, and what of it a test has used. */
let exported: readonly string[];
const used = new Set<string>();
const folder = codeFolder();

beforeAll(async () => {
  const blocks = codeBlocksOf("recipes.md");
  const codeIn = (language: string) =>
    blocks.filter((block) => block.language === language).map(({ code }) => code);
  const parsed = codeIn("toml").map((toml) => configOf(toml));
  const namespaces = parsed.flatMap(({ channel }) => channel.namespaces);
  rt = await startDormouse({ config: Object.assign({}, ...parsed, { channel: { namespaces } }) });
  vi.stubEnv("DORMOUSE", rt.url);
  vi.stubEnv("API_KEY", rt.apiKey);
  vi.stubEnv("TOKEN_HMAC_SECRET_KEY", rt.tokenSecret);
  const code: Recipes = await import(
    writeCode(folder.path, "recipes.mjs", codeIn("js").join("\n"))
  );
  exported = Object.keys(code);
  recipes = new Proxy(code, {
    get(target, name) {
      used.add(String(name));
      return Reflect.get(target, name);
    },
  });
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await rt.stop();
  folder.remove();
});

const connect = async (user: string) => (await rt.client({ user })).sdk;

/** Resolves when a client is subscribed to a channel, or to a map. */
const subscribed = (client: Centrifuge, channel: string) =>
  (client.getSubscription(channel) ?? client.getMapSubscription(channel))?.ready();

/** What a page shows, as values of that moment. */
function shown<Value, Kept>(keep: (value: Value) => Kept) {
  const inbox = new Inbox<Kept>();
  return { inbox, show: (value: Value) => inbox.push(keep(value)) };
}

const same = <Value>(value: Value): Value => value;

describe("[W1] the recipes of docs/recipes.md", () => {
  it("latest value: who comes later sees the newest at once, and changes as deltas", async () => {
    const quote = { symbol: "ACME", name: "a long name that doesn't change", cents: 100 };
    await recipes.setPrice("acme", { ...quote, cents: 99 });
    await recipes.setPrice("acme", quote);
    const { inbox, show } = shown(same<object>);
    recipes.followPrice(await connect("ann"), "acme", show);
    expect(await inbox.next()).toEqual(quote);
    await recipes.setPrice("acme", { ...quote, cents: 101 });
    expect(await inbox.next()).toEqual({ ...quote, cents: 101 });
  });

  it("notifications: a user sees those of before, each once, and nobody else does", async () => {
    await recipes.notify(["ann", "bob"], { id: "1", text: "first" });
    await recipes.notify(["ann", "bob"], { id: "1", text: "first" });
    const ann = await connect("ann");
    const { inbox, show } = shown(same<object[]>);
    recipes.hearNotices(ann, "ann", show);
    await inbox.first((notices) => notices.length === 1);
    await recipes.notify(["ann"], { id: "2", text: "second" });
    const two = await inbox.first((notices) => notices.length > 1);
    expect(two).toMatchObject([{ text: "first" }, { text: "second" }]);
    await expect(rt.client({ user: "bob", subscribe: "notices:#ann" })).rejects.toThrow(
      "103 permission denied",
    );
  });

  it("streamed text: a page that is cut off, and one that comes late, show the whole text", async () => {
    const channel = "answer:7#ann";
    const ann = await rt.client({ user: "ann" });
    const { inbox, show } = shown(same<string>);
    const askBackend = vi.fn<() => void>();
    recipes.readAnswer(ann.sdk, channel, show, askBackend);
    await subscribed(ann.sdk, channel);
    const words = ["In ", "the ", "beginning ", "was ", "the ", "word."];
    async function* model() {
      for (const word of words) {
        if (word === "was ") await rt.cut(ann);
        yield word;
      }
    }
    const text = await recipes.streamAnswer(channel, model(), 0);
    expect(text).toBe(words.join(""));
    await inbox.first((one) => one === text);
    const late = shown((one: string) => one);
    recipes.readAnswer(await connect("ann"), channel, late.show, askBackend);
    await late.inbox.first((one) => one === text);
    expect(askBackend).not.toHaveBeenCalled();
    expect(await rt.published(channel)).toHaveLength(words.length + 1);
  });

  it("streamed text: pieces that come together are published together", async () => {
    const channel = "answer:8#ann";
    await recipes.streamAnswer(channel, ["a", "b", "c"], 60_000);
    expect(await rt.published(channel)).toEqual([
      { at: 0, text: "a", done: false },
      { at: 1, text: "bc", done: true },
    ]);
  });

  it("unread and receipts: a mark lowers the number, and the others see it", async () => {
    const [ann, bob] = [await connect("ann"), await connect("bob")];
    for (const client of [ann, bob]) {
      const talk = client.newSubscription("talk:7");
      talk.subscribe();
      await talk.ready();
    }
    for (const text of ["one", "two", "three"]) await rt.publish("talk:7", { text });
    expect(await recipes.countUnread(bob, ["7"])).toEqual([3]);
    const { inbox, show } = shown((seen: Map<string, number>) => [...seen]);
    recipes.shareReceipts(ann, "7", show);
    const mark = recipes.shareReceipts(bob, "7", () => {});
    await Promise.all([subscribed(ann, "seen:talk:7"), subscribed(bob, "seen:talk:7")]);
    await mark(2);
    expect(await recipes.countUnread(bob, ["7"])).toEqual([1]);
    expect(await inbox.first((seen) => seen.length > 0)).toEqual([["bob", 2]]);
  });

  it("cursors: the newest state is shown, and goes with its client", async () => {
    const [ann, bob] = [await connect("ann"), await connect("bob")];
    const { inbox, show } = shown((pointers: Map<string, object>) => [...pointers.values()]);
    recipes.sharePointer(ann, "7", show);
    const move = recipes.sharePointer(bob, "7", () => {});
    await Promise.all([subscribed(ann, "pointers:7"), subscribed(bob, "pointers:7")]);
    move({ name: "Bob", x: 1 });
    move({ name: "Bob", x: 2 });
    const states = await inbox.first((pointers) => pointers.length > 0);
    expect(states).toEqual([{ name: "Bob", x: 2 }]);
    bob.disconnect();
    await expect.poll(() => inbox.all.at(-1)).toEqual([]);
  });

  it("badge: each user counts once", async () => {
    const { inbox, show } = shown((people: Set<string>) => [...people].sort());
    recipes.watchPeople(await connect("zoe"), "7", show);
    for (const user of ["ann", "bob", "ann"]) recipes.enterHall(await connect(user), "7");
    expect(await inbox.first(({ length }) => length === 2)).toEqual(["ann", "bob"]);
  });

  it("reactions: more than three in a second are refused", async () => {
    const ann = await connect("ann");
    const { inbox, show } = shown(same<string>);
    const react = recipes.shareReactions(ann, "7", show);
    await subscribed(ann, "match:7");
    const answers = await Promise.all(Array.from("♥♥♥♥♥♥", (reaction) => react(reaction)));
    expect(answers.filter((answer) => answer === "sent").length).toBeGreaterThanOrEqual(3);
    expect(answers).toContain("too fast");
    expect(await inbox.next()).toBe("♥");
  });

  it("members: only they enter, and who is expelled doesn't come back", async () => {
    const members = new Set(["ann"]);
    const askFor = (user: string) => async (club: string) => {
      const token = await recipes.admit(user, club, (one) => members.has(one));
      if (token === undefined) throw new UnauthorizedError("no member");
      return token;
    };
    const [ann, bob] = [await connect("ann"), await connect("bob")];
    const refusals = { ann: new Inbox<string>(), bob: new Inbox<string>() };
    const { inbox, show } = shown(same<unknown>);
    const refuse = (user: "ann" | "bob") => (reason: string) => refusals[user].push(reason);
    recipes.enterClub(bob, "7", askFor("bob"), show, refuse("bob"));
    expect(await refusals.bob.next()).toBe("unauthorized");
    recipes.enterClub(ann, "7", askFor("ann"), show, refuse("ann"));
    await subscribed(ann, "$club:7");
    await rt.publish("$club:7", "welcome");
    expect(await inbox.next()).toBe("welcome");
    const early = await askFor("ann")("7");
    members.delete("ann");
    // A token that was issued in this second would still be valid.
    await rt.advance("2s");
    await recipes.expel("ann", "7");
    expect(await refusals.ann.next()).toBe("server unsubscribe");
    const subscribe = { channel: "$club:7", token: early };
    await expect(rt.client({ user: "ann", subscribe })).rejects.toThrow("$club:7");
  });

  it("outbox: a message follows its commit, and once, though the backend ended in between", async () => {
    const database = new DatabaseSync(":memory:");
    database.exec(recipes.tables);
    recipes.placeOrder(database, { id: "1", user: "ann", total: 5 });
    const again = () => recipes.placeOrder(database, { id: "1", user: "ann", total: 6 });
    expect(again).toThrow("UNIQUE");
    const [waiting] = database.prepare("SELECT channel, data FROM outbox").all();
    await recipes.emptyOutbox(database);
    database
      .prepare("INSERT INTO outbox VALUES (1, ?, ?)")
      .run(String(waiting?.["channel"]), String(waiting?.["data"]));
    await recipes.emptyOutbox(database);
    expect(database.prepare("SELECT * FROM outbox").all()).toEqual([]);
    expect(await rt.published("orders:#ann")).toEqual([{ id: "1", user: "ann", total: 5 }]);
  });

  it("are all run", () => {
    expect(exported.filter((name) => !used.has(name))).toEqual([]);
  });
});
