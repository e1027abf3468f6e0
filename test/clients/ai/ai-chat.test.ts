import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { isToolUIPart, simulateReadableStream, type UIMessage } from "ai";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  type BegunAnswer,
  type ChatBackend,
  loadMessages,
  streamToChannel,
  takeChatRequest,
} from "../../../package/ai/index.ts";
import type { TestDormouse } from "../../../package/test/index.ts";
import { codeFolder } from "../../support/documented-code.ts";
import { GatedModel, reasoning, text } from "./gated-model.ts";
import { startChatServer } from "./chat-server.ts";
import { mortal } from "./mortal-backend.ts";
import { writePythonRoute } from "./python-route.ts";
import { Tab, type TabOptions } from "./test-chat.ts";

let rt: TestDormouse;
let backend: ChatBackend;
let model: GatedModel;
let chatId = "";
let chats = 0;
const tabs: Tab[] = [];
/** The producers at work. Each is a promise of how its answer ended. */
let producers: Promise<unknown>[] = [];
/** The requests that the application got. */
let posted: { readonly trigger: string; readonly answerId?: string }[] = [];

beforeAll(async () => {
  ({ rt, backend } = await startChatServer());
});
beforeEach(() => {
  chatId = `c${++chats}`;
  model = new GatedModel();
  [producers, posted] = [[], []];
});
afterEach(async () => {
  for (const tab of tabs.splice(0)) tab.close();
  for (const gate of ["reasoning", "tool input", "tool", "text"] as const) model.open(gate);
  await Promise.allSettled(producers);
});
afterAll(() => rt.stop());

/** The application's route: the generation isn't the request's. */
const route: typeof fetch = async (_address, init) => {
  const body = JSON.parse(typeof init?.body === "string" ? init.body : "");
  posted.push(body);
  const channel = `chat:${body.id}`;
  const taken = await takeChatRequest(backend, channel, body);
  if (taken !== undefined) produce(channel, taken.answerId, taken.begun);
  return new Response(null, { status: 202 });
};

/** Begins to write an answer. {@link kill} kills the producer. */
function produce(channel: string, messageId: string, begun?: BegunAnswer): void {
  const life = mortal(backend);
  const answered = streamToChannel(life.from, channel, ({ signal }) => model.answer(signal), {
    messageId,
    begun,
    periodMs: 20,
  });
  producers.push(answered);
  kill = () => {
    life.kill();
    producers = producers.filter((one) => one !== answered);
  };
}
let kill = (): void => undefined;

function open(options: Partial<TabOptions> = {}): Tab {
  const tab = new Tab({
    chatId,
    websocketUrl: rt.websocketUrl,
    route,
    token: rt.token("ann"),
    ...options,
  });
  tabs.push(tab);
  return tab;
}

/** What `loadMessages` gives, which is what every tab has to show in the end. */
const stored = (): Promise<UIMessage[]> => loadMessages(backend, `chat:${chatId}`);

/** Each tab has what is stored, and nothing runs. */
async function expectSame(messages: number, ...all: readonly Tab[]): Promise<void> {
  for (const tab of all) await tab.rests(messages);
  const whole = JSON.parse(JSON.stringify(await stored()));
  expect(whole).toHaveLength(messages);
  for (const tab of all)
    await expect.poll(() => JSON.parse(JSON.stringify(tab.chat.messages))).toEqual(whole);
}

/** The answer is whole: each of its parts once. */
function expectWhole(message: UIMessage | undefined): void {
  const parts = message?.parts.filter(({ type }) => type !== "step-start") ?? [];
  expect(parts).toMatchObject([
    { type: "reasoning", text: reasoning.join(""), state: "done" },
    { type: "tool-weather", state: "output-available", output: { city: "Lisbon", sky: "clear" } },
    { type: "text", text: model.words.join(""), state: "done" },
  ]);
}

const ask = (tab: Tab, question = "The weather?") => void tab.chat.sendMessage({ text: question });

/** A tab that has asked, and shows the answer up to the middle of its text, where the model waits. */
async function openInText(options: Partial<TabOptions> = {}): Promise<Tab> {
  model.hold("text");
  const tab = open(options);
  ask(tab);
  await tab.sees("It is ");
  return tab;
}

/** The same, with a producer that is dead by now. @returns the tab and the answer's ID */
async function openAbandoned(options: Partial<TabOptions> = {}) {
  const tab = await openInText(options);
  kill();
  return { tab, id: tab.chat.messages[1]?.id ?? "" };
}

describe("a chat of the AI SDK on a channel", () => {
  it("shows reasoning, a tool call and a text in each tab, as one message in the end", async () => {
    const first = await openInText();
    // It comes late, and gets the answer from its first chunk.
    const second = open();
    await second.sees("It is ");
    expect(second.chat.status).toBe("streaming");
    model.open("text");
    await expectSame(2, first, second);
    expectWhole(first.chat.messages.at(-1));
    expect(await Promise.all(producers)).toEqual(["done"]);
    // The log is gone, and what is left is a value for each message.
    const { entries } = await backend.map_read_state({ channel: `chat:${chatId}`, limit: -1 });
    expect(entries).toHaveLength(2);
    expect(model.calls).toBe(2);
  });

  it.each(["reasoning", "tool input", "tool", "text"] as const)(
    "vercel/workflow #1835, cloudflare/agents #896: is whole after a reload in the middle of %s",
    async (gate) => {
      model.hold(gate);
      const before = open();
      ask(before);
      await model.waitsAt(gate);
      await before.sees(gate === "text" ? "It is " : (reasoning[0] ?? ""));
      before.close();
      const after = open();
      await after.sees(gate === "text" ? "It is " : (reasoning[0] ?? ""));
      model.open(gate);
      await expectSame(2, after);
      expectWhole(after.chat.messages.at(-1));
      expect(posted).toHaveLength(1);
    },
  );

  it("vercel/ai #18457: a resumed answer isn't part of the message before, nor there twice", async () => {
    const tab = open();
    ask(tab);
    await tab.rests(2);
    model.hold("text");
    ask(tab, "And now?");
    await model.waitsAt("text");
    tab.close();
    const first = (await stored()).find(({ role }) => role === "assistant");
    const again = open();
    // What an application does that rendered the chat on its server.
    again.chat.messages = await stored();
    await again.sees("It is ");
    model.open("text");
    await expectSame(4, again);
    expect(again.chat.messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "user",
      "assistant",
    ]);
    expect(again.chat.messages[1]).toEqual(first);
    expectWhole(again.chat.messages[3]);
  });

  it("cloudflare/agents #1733: two offers to resume give the text once, and stop nothing", async () => {
    model.hold("text");
    const tab = open();
    ask(tab);
    await model.waitsAt("text");
    tab.close();
    const again = open();
    await Promise.race([again.chat.resumeStream(), again.sees("It is ")]);
    void again.chat.resumeStream();
    void again.chat.resumeStream();
    await again.sees("It is ");
    model.open("text");
    await expectSame(2, again);
    expectWhole(again.chat.messages.at(-1));
    expect(model.aborts).toBe(0);
    expect(posted).toHaveLength(1);
  });

  it("vercel/ai #6633: goes on after a dropped connection without a reload, with nothing lost or doubled", async () => {
    model.hold("reasoning", "text");
    const tab = open();
    const other = open();
    ask(tab);
    await model.waitsAt("reasoning");
    await tab.sees(reasoning[0] ?? "");
    await rt.cut();
    model.open("reasoning");
    await model.waitsAt("text");
    await tab.sees("It is ");
    await rt.cut();
    model.open("text");
    await expectSame(2, tab, other);
    expectWhole(tab.chat.messages.at(-1));
    expect(tab.chat.error).toBeUndefined();
  });

  it("is finished by a page that was away while the answer ended and became one message", async () => {
    // It follows nobody: the stream alone has to have the rest.
    const tab = await openInText({ follows: false });
    tab.client.disconnect();
    model.open("text");
    await Promise.all(producers);
    tab.client.connect();
    await expectSame(2, tab);
    expectWhole(tab.chat.messages.at(-1));
    expect(tab.chat.error).toBeUndefined();
  });

  it("the generation doesn't die with the request or the browser", async () => {
    model.hold("reasoning");
    const tab = open();
    ask(tab);
    await model.waitsAt("reasoning");
    tab.close();
    model.open("reasoning");
    expect(await Promise.all(producers)).toEqual(["done"]);
    const late = open();
    await expectSame(2, late);
    expectWhole(late.chat.messages.at(-1));
  });

  it("LLMio #8: shows nothing of another chat", async () => {
    model.hold("text");
    const tab = open();
    const other = open({ chatId: `${chatId}-other` });
    ask(tab);
    ask(other, "Another chat");
    await tab.sees("It is ");
    model.open("text");
    await expectSame(2, tab);
    await other.rests(2);
    const ids = new Set(tab.chat.messages.map(({ id }) => id));
    expect(other.chat.messages.filter(({ id }) => ids.has(id))).toEqual([]);
    expect(other.texts()).toBe(`Another chat|||||${text}`);
  });
});

describe("stopping an answer", () => {
  it("vercel/ai #7665, #18458: stops the work, also after a reload, and shows all tabs what was said", async () => {
    const tab = await openInText();
    tab.close();
    const [again, other] = [open(), open()];
    await again.sees("It is ");
    await other.sees("It is ");
    await again.chat.stop();
    expect(await Promise.all(producers)).toEqual(["stopped"]);
    expect(model.aborts).toBe(1);
    await expectSame(2, again, other);
    expect(again.chat.messages.at(-1)?.parts.at(-1)).toMatchObject({
      text: "It is ",
      state: "done",
    });
  });

  it("stops from the tab that didn't begin it, in the middle of a tool's work", async () => {
    model.hold("tool");
    const [tab, other] = [open(), open()];
    ask(tab);
    await model.waitsAt("tool");
    await other.sees("input-available");
    await other.chat.stop();
    expect(await Promise.all(producers)).toEqual(["stopped"]);
    await expectSame(2, tab, other);
    const called = tab.chat.messages.at(-1)?.parts.find(isToolUIPart);
    expect(called).toMatchObject({ state: "output-error" });
    // The chat can go on.
    model.open("tool");
    ask(other, "Again?");
    await expectSame(4, tab, other);
  });

  it("a component that goes away stops nothing", async () => {
    const tab = await openInText();
    // As useChat does it: the chat stops, and what follows it ends.
    void tab.chat.stop();
    tab.close();
    model.open("text");
    expect(await Promise.all(producers)).toEqual(["done"]);
  });
});

describe("several messages", () => {
  it("of two people at once have one order, and two answers", async () => {
    const [ann, bob] = [open(), open({ token: rt.token("bob") })];
    await expect.poll(() => bob.client.state).toBe("connected");
    ask(ann, "Ann's");
    ask(bob, "Bob's");
    await expectSame(4, ann, bob);
    expect(model.calls).toBe(4);
    for (const answer of ann.chat.messages.filter(({ role }) => role === "assistant"))
      expectWhole(answer);
  });

  it("an answer that is generated again takes the place of the one before, in all tabs", async () => {
    const [tab, other] = [open(), open()];
    ask(tab);
    await expectSame(2, tab, other);
    const [, before] = tab.chat.messages;
    model.words = ["It rains."];
    void other.chat.regenerate();
    await expect.poll(() => tab.texts(), { interval: 20 }).toContain("It rains.");
    await expectSame(2, tab, other);
    expect(tab.chat.messages[1]?.id).not.toBe(before?.id);
    expectWhole(tab.chat.messages[1]);
  });

  it("an edited message takes the place of the one before, and what followed it goes", async () => {
    const [tab, other] = [open(), open()];
    ask(tab);
    await tab.rests(2);
    ask(tab, "And tomorrow?");
    await expectSame(4, tab, other);
    void tab.chat.sendMessage({ text: "In Porto?", messageId: tab.chat.messages[0]?.id ?? "" });
    await expect.poll(() => other.texts(), { interval: 20 }).toMatch(/^In Porto\?/);
    await expectSame(2, tab, other);
  });

  it("a request that comes twice has one answer, and none may speak for others", async () => {
    const message = { id: "m1", role: "user", parts: [{ type: "text", text: "hello" }] };
    const request = { id: chatId, trigger: "submit-message", answerId: "a1", messages: [message] };
    const channel = `chat:${chatId}`;
    expect(await takeChatRequest(backend, channel, request)).toMatchObject({ messages: [message] });
    expect(await takeChatRequest(backend, channel, request)).toBeUndefined();
    const forged = { ...request, answerId: "a2", messages: [{ ...message, role: "assistant" }] };
    await expect(takeChatRequest(backend, channel, forged)).rejects.toThrow("isn't a user's");
    const overwriting = { ...request, answerId: "a2", messages: [{ ...message, id: "a1" }] };
    await expect(takeChatRequest(backend, channel, overwriting)).rejects.toThrow("is an answer");
    await expect(
      takeChatRequest(backend, channel, { ...request, answerId: "a/1" }),
    ).rejects.toThrow("ID");
  });
});

describe("failures", () => {
  it("cloudflare/agents #1485: a producer that crashed goes on where the channel is, under the same ID", async () => {
    const { tab, id } = await openAbandoned();
    // The next one says the same from its beginning: the channel has that.
    model.open("text");
    produce(`chat:${chatId}`, id);
    await expectSame(2, tab);
    expectWhole(tab.chat.messages.at(-1));
    expect(tab.chat.messages.at(-1)?.id).toBe(id);
  });

  it("an answer that another producer says in other words begins anew in all tabs", async () => {
    const other = open();
    const { tab, id } = await openAbandoned();
    await other.sees("It is ");
    model.open("text");
    model.words = ["The sun ", "shines."];
    produce(`chat:${chatId}`, id);
    await expect.poll(() => tab.texts(), { interval: 20 }).toContain("shines.");
    await expectSame(2, tab, other);
    expectWhole(other.chat.messages.at(-1));
  });

  it("a producer may go on after what the one before it has said", async () => {
    const { tab, id } = await openAbandoned();
    const answer = await streamToChannel(
      backend,
      `chat:${chatId}`,
      ({ soFar }) =>
        simulateReadableStream({
          chunks: [
            { type: "start" },
            { type: "text-start", id: "more" },
            { type: "text-delta", id: "more", delta: `${soFar.length > 0}` },
            { type: "text-end", id: "more" },
            { type: "finish" },
          ],
        }),
      { messageId: id, continues: true },
    );
    expect(answer).toBe("done");
    await expectSame(2, tab);
    expect(tab.texts()).toMatch(/It is \|true$/);
  });

  it("an answer whose producer is gone is stopped by the pages that wait for it", async () => {
    const { tab } = await openAbandoned({ silentMs: 500 });
    await expectSame(2, tab);
    expect(tab.texts()).toMatch(/It is $/);
  });

  it("goes on over a crash of the server", async () => {
    model.hold("reasoning", "text");
    const [tab, other] = [open(), open()];
    ask(tab);
    await tab.sees(reasoning[0] ?? "");
    model.open("reasoning");
    await model.waitsAt("text");
    await tab.sees("It is ");
    await rt.deploy();
    model.open("text");
    await expectSame(2, tab, other);
    expectWhole(other.chat.messages.at(-1));
    expect(other.chat.error).toBeUndefined();
  });

  it("an error of the model ends the answer, and its text isn't shown", async () => {
    const tab = open();
    model.answer = () => {
      throw new Error("a secret");
    };
    ask(tab);
    await expect.poll(() => tab.chat.status).toBe("error");
    expect(tab.chat.error?.message).toBe("An error occurred.");
    expect(await Promise.all(producers)).toEqual(["failed"]);
  });

  it("an answer that is larger than one value is whole, in the middle and in the end", async () => {
    model.words = [
      "It ",
      "is ",
      ...Array.from({ length: 40 }, (_, nth) => `${nth}${"🌞".repeat(2_500)}`),
    ];
    const tab = await openInText();
    model.open("text");
    await expectSame(2, tab, open());
    expectWhole(tab.chat.messages.at(-1));
    expect(tab.chat.error).toBeUndefined();
    // Its log, which stayed, goes with it when another answer takes its place.
    model.words = ["It rains."];
    void tab.chat.regenerate();
    await expect.poll(() => tab.texts(), { interval: 20 }).toContain("It rains.");
    await expectSame(2, tab);
    await Promise.all(producers);
    const { entries } = await backend.map_read_state({ channel: `chat:${chatId}`, limit: -1 });
    expect(entries).toHaveLength(2);
  });
});

describe("the code in Python of docs/ai-chat.md", () => {
  const folder = codeFolder();
  afterAll(() => folder.remove());

  it.each(["done", "stop"])("answers a page, and can be stopped (%s)", async (how) => {
    writePythonRoute(folder.path);
    const env = { ...process.env, DORMOUSE: rt.url, API_KEY: rt.apiKey };
    const python: typeof fetch = async (_address, init) => {
      const body = typeof init?.body === "string" ? init.body : "";
      await promisify(execFile)("python3", ["asked.py", body, how], { cwd: folder.path, env });
      return new Response(null, { status: 202 });
    };
    const tab = open({ route: python });
    ask(tab);
    await expectSame(2, tab);
    const said = how === "stop" ? "It is " : `It is ${"süß ☀️".repeat(4_000)}.`;
    expect(tab.texts()).toBe(`The weather?|${said}`);
  });
});
