import {
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses as isApproved,
  lastAssistantMessageIsCompleteWithToolCalls as isComplete,
  type UIMessage,
} from "ai";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  type ChatBackend,
  loadMessages,
  streamToChannel,
  takeChatRequest,
} from "../../../package/ai/index.ts";
import type { TestDormouse } from "../../../package/test/index.ts";
import { AskingModel } from "./asking-model.ts";
import { startChatServer } from "./chat-server.ts";
import { mortal } from "./mortal-backend.ts";
import { Tab, type TabOptions } from "./test-chat.ts";

let rt: TestDormouse;
let backend: ChatBackend;
let model: AskingModel;
let chatId = "";
let chats = 0;
const tabs: Tab[] = [];
let producers: Promise<unknown>[] = [];
/** The requests that the application got, and what it had to do for them. */
let posted: { readonly trigger: string; readonly messages?: UIMessage[] }[] = [];
/** What a producer does that writes an answer; a test may let it be another one. */
let produce: (answerId: string, messages: UIMessage[]) => void;

beforeAll(async () => {
  ({ rt, backend } = await startChatServer());
});
beforeEach(() => {
  chatId = `t${++chats}`;
  model = new AskingModel();
  [producers, posted] = [[], []];
  produce = (answerId, messages) => void producers.push(write(answerId, messages));
});
afterEach(async () => {
  for (const tab of tabs.splice(0)) tab.close();
  await Promise.allSettled(producers);
});
afterAll(() => rt.stop());

function write(messageId: string, messages: UIMessage[], from: ChatBackend = backend) {
  const answer = ({ signal }: { readonly signal: AbortSignal }) => model.answer(messages, signal);
  return streamToChannel(from, `chat:${chatId}`, answer, { messageId, periodMs: 20 });
}

const route: typeof fetch = async (_address, init) => {
  const body = JSON.parse(typeof init?.body === "string" ? init.body : "");
  posted.push(body);
  const taken = await takeChatRequest(backend, `chat:${body.id}`, body);
  if (taken !== undefined) produce(taken.answerId, taken.messages);
  return new Response(null, { status: 202 });
};

const sendAutomaticallyWhen = (options: { messages: UIMessage[] }) =>
  isComplete(options) || isApproved(options);

function open(options: Partial<TabOptions> = {}): Tab {
  const common = { chatId, websocketUrl: rt.websocketUrl, route, token: rt.token("ann") };
  const tab = new Tab({ ...common, init: () => ({ sendAutomaticallyWhen }), ...options });
  tabs.push(tab);
  return tab;
}

/** A tab whose page runs the tool at once, as `onToolCall` is made for. */
const openAt = (place: string) =>
  open({
    init: (tab) => ({
      sendAutomaticallyWhen,
      onToolCall: ({ toolCall: { toolCallId, toolName } }) => {
        if (toolName === "place") void say(tab, toolCallId, place);
      },
    }),
  });

const say = (tab: Tab, toolCallId: string, output: string) =>
  tab.chat.addToolOutput({ tool: "place", toolCallId, output });

const ask = (tab: Tab, question: string) => void tab.chat.sendMessage({ text: question });

/** The tool calls that a tab shows in an answer. */
const calls = (tab: Tab) => (tab.chat.messages[1]?.parts ?? []).filter(isToolUIPart);

/** Waits until the first tool call of the answer is in a state, and nothing runs. */
const shows = async (tab: Tab, state: string) =>
  await expect
    .poll(() => [tab.chat.status, calls(tab)[0]?.state], { timeout: 30_000, interval: 20 })
    .toEqual(["ready", state]);

function decide(tab: Tab, approved: boolean): void {
  const [call] = calls(tab);
  if (call?.state !== "approval-requested") throw new Error(`${call?.state} is no question`);
  void tab.chat.addToolApprovalResponse({ id: call.approval.id, approved });
}

/** Each tab has what is stored, with a last text, and nothing runs. */
async function expectSame(text: string, ...all: readonly Tab[]): Promise<void> {
  for (const tab of all) {
    await expect.poll(() => tab.texts(), { timeout: 30_000, interval: 20 }).toContain(text);
    await tab.rests(2);
  }
  const stored = JSON.parse(JSON.stringify(await loadMessages(backend, `chat:${chatId}`)));
  for (const tab of all)
    await expect.poll(() => JSON.parse(JSON.stringify(tab.chat.messages))).toEqual(stored);
}

describe("a tool that the page carries out", () => {
  it("lets the answer go on with its result, under the same ID, in all tabs", async () => {
    const [tab, other] = [openAt("Lisbon"), open()];
    ask(tab, "place");
    await expectSame("Lisbon", tab, other);
    expect(calls(other)).toMatchObject([{ state: "output-available", output: "Lisbon" }]);
    expect(model.calls).toBe(2);
    expect(posted).toHaveLength(2);
    expect(await Promise.all(producers)).toEqual(["done", "done"]);
    const { entries } = await backend.map_read_state({ channel: `chat:${chatId}`, limit: -1 });
    expect(entries).toHaveLength(2);
  });

  it("has the result of the page that was first, if each tab gives one", async () => {
    const [tab, other] = [openAt("Lisbon"), openAt("Porto")];
    ask(tab, "place");
    await expectSame("So: ", tab, other);
    expect(model.calls).toBe(2);
    expect(calls(tab)).toHaveLength(1);
  });

  it("is asked again after a reload in the middle of its input", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    model.waits.input = promise;
    const tab = openAt("Lisbon");
    ask(tab, "place");
    await tab.sees("input-streaming");
    tab.close();
    const again = openAt("Lisbon");
    await again.sees("input-streaming");
    resolve();
    await expectSame("Lisbon", again);
    expect(model.calls).toBe(2);
  });

  it("may be answered after a reload, when its call was all that the answer has", async () => {
    const tab = open();
    ask(tab, "place");
    await shows(tab, "input-available");
    tab.close();
    const again = open();
    await shows(again, "input-available");
    void say(again, "place-0", "Lisbon");
    await expectSame("Lisbon", again);
    expect(model.calls).toBe(2);
  });

  it("keeps a result that the page has given while another is missing, whatever else happens", async () => {
    const [tab, other] = [open(), open()];
    ask(tab, "place and place");
    await shows(tab, "input-available");
    void say(tab, "place-0", "Lisbon");
    await shows(tab, "output-available");
    await rt.cut();
    ask(other, "Another question");
    await tab.sees("Another question");
    await expect.poll(() => tab.chat.messages).toHaveLength(4);
    expect(calls(tab)).toMatchObject([{ output: "Lisbon" }, { state: "input-available" }]);
  });
});

describe("a tool that needs an approval", () => {
  it("runs once it is approved, after a reload, by a tab that didn't ask, and stays so in all tabs", async () => {
    const tab = open();
    ask(tab, "order");
    await shows(tab, "approval-requested");
    tab.close();
    const [again, other] = [open(), open()];
    await shows(again, "approval-requested");
    await shows(other, "approval-requested");
    expect(model.orders).toEqual([]);
    decide(other, true);
    await expectSame("ordered", again, other);
    expect(model.orders).toEqual(["ice"]);
  });

  it("doesn't run if it is denied, and the model hears of it", async () => {
    const tab = open();
    ask(tab, "order");
    await shows(tab, "approval-requested");
    decide(tab, false);
    await expectSame("So: ", tab);
    expect(calls(tab)).toMatchObject([{ state: "output-denied" }]);
    expect(model.orders).toEqual([]);
  });

  it("runs once if two tabs approve it at once", async () => {
    const [tab, other] = [open(), open()];
    ask(tab, "order");
    await shows(tab, "approval-requested");
    await shows(other, "approval-requested");
    decide(tab, true);
    decide(other, true);
    await expectSame("ordered", tab, other);
    expect(model.orders).toEqual(["ice"]);
  });
});

/** A tab whose answer has gone on up to the middle of its text, with a producer that is dead by now or waits. */
async function openInText(from: ChatBackend) {
  const { promise, resolve } = Promise.withResolvers<void>();
  model.waits.text = promise;
  const tab = openAt("Lisbon");
  let turn: readonly [string, UIMessage[]] | undefined;
  produce = (...taken) => {
    const isSecond = taken[1].length === 2;
    if (isSecond) turn = taken;
    producers.push(write(...taken, isSecond ? from : backend));
  };
  ask(tab, "place");
  await tab.sees("So: ");
  return { tab, turn: turn ?? ["", []], resolve } as const;
}

describe("an answer that goes on with a tool's result", () => {
  it.each(["So: ", "Well: "])(
    "is finished by another producer when the first is dead, also in other words (%s)",
    async (opening) => {
      const { from, kill } = mortal(backend);
      const { tab, turn, resolve } = await openInText(from);
      kill();
      producers.length = 1;
      model.opening = opening;
      resolve();
      producers.push(write(...turn));
      await expectSame("Lisbon", tab, open());
      expect(tab.texts()).toContain(opening);
      expect(calls(tab)).toMatchObject([{ output: "Lisbon" }]);
    },
  );

  it("is stopped for all, and no page lets it go on by itself", async () => {
    const { tab, resolve } = await openInText(backend);
    const other = open();
    await other.sees("So: ");
    await other.chat.stop();
    expect(await Promise.all(producers)).toEqual(["done", "stopped"]);
    await expectSame("So: ", tab, other);
    resolve();
    expect(posted.map(({ trigger }) => trigger)).toEqual([
      "submit-message",
      "submit-message",
      "stop-message",
    ]);
  });

  it("is stopped for all while the tool runs, and no page takes that for the tool's result", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    model.waits.order = promise;
    const [tab, other] = [open(), open()];
    ask(tab, "order");
    await shows(tab, "approval-requested");
    decide(tab, true);
    await expect.poll(() => model.orders, { timeout: 30_000 }).toEqual(["ice"]);
    await other.sees("approval-responded");
    await other.chat.stop();
    expect(await Promise.all(producers)).toEqual(["done", "stopped"]);
    resolve();
    for (const one of [tab, other]) await shows(one, "output-error");
    ask(tab, "place");
    await expect.poll(() => other.chat.messages, { timeout: 30_000 }).toHaveLength(4);
    expect(posted.map(({ trigger }) => trigger)).toEqual([
      "submit-message",
      "submit-message",
      "stop-message",
      "submit-message",
    ]);
  });

  it("may be as large as an answer", async () => {
    model.opening = "🌞".repeat(70_000);
    const [tab, other] = [openAt("Lisbon"), open()];
    ask(tab, "place");
    await expectSame("Lisbon", tab, other, open());
    expect(other.chat.messages[1]).toEqual(tab.chat.messages[1]);
  });
});

it("a page may answer only what an answer waits for, and once", async () => {
  const tab = open();
  ask(tab, "order");
  await shows(tab, "approval-requested");
  const [, answer] = tab.chat.messages;
  const [call] = calls(tab);
  const request = (part: object, after = 1) =>
    takeChatRequest(backend, `chat:${chatId}`, {
      id: chatId,
      trigger: "submit-message",
      answerId: answer?.id,
      messages: [{ ...answer, parts: [{ ...call, ...part }] }],
      after,
    });
  // What the tool gives is the producer's to say, also for one that is approved.
  const forged = { state: "output-available", output: "nothing to pay" };
  await expect(request(forged)).rejects.toThrow("doesn't wait");
  expect(await request({}, 0)).toBeUndefined();
  const approval = { ...call?.approval, approved: true };
  const taken = await request({ ...forged, approval });
  const parts = taken?.messages.at(-1)?.parts;
  expect(parts?.find(isToolUIPart)).toMatchObject({ state: "approval-responded", approval });
  expect(await request({ state: "approval-responded", approval })).toBeUndefined();
});
