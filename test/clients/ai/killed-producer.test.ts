import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { loadMessages, takeChatRequest } from "../../../package/ai/index.ts";
import { startChatServer } from "./chat-server.ts";
import { Tab } from "./test-chat.ts";

it("an answer is whole in all tabs after a kill -9 of its producer, and then of the server", async ({
  onTestFinished,
}) => {
  const { rt, backend } = await startChatServer();
  onTestFinished(() => rt.stop());
  const channel = "chat:1";
  let answerId = "";
  const produce = (...how: readonly "hold"[]): ChildProcess =>
    fork(file, [rt.url, rt.apiKey, channel, answerId, ...how]);
  const begun = Promise.withResolvers<ChildProcess>();
  const route: typeof fetch = async (_address, init) => {
    const body: unknown = JSON.parse(typeof init?.body === "string" ? init.body : "");
    const taken = await takeChatRequest(backend, channel, body);
    answerId = taken?.answerId ?? answerId;
    if (taken !== undefined) begun.resolve(produce("hold"));
    return new Response(null, { status: 202 });
  };
  const open = () => {
    const token = rt.token("ann");
    const tab = new Tab({ chatId: "1", websocketUrl: rt.websocketUrl, route, token });
    onTestFinished(() => tab.close());
    return tab;
  };

  const [tab, other] = [open(), open()];
  void tab.chat.sendMessage({ text: "The weather?" });
  const first = await begun.promise;
  await tab.sees("It is ");
  first.kill("SIGKILL");
  expect(await once(first, "exit")).toEqual([null, "SIGKILL"]);
  // The kit ends the runtime with SIGKILL, and starts it on the same disk.
  await rt.deploy();
  const second = produce();
  expect(await once(second, "exit")).toEqual([0, null]);

  for (const one of [tab, other, open()]) {
    await one.rests(2);
    const stored = JSON.parse(JSON.stringify(await loadMessages(backend, channel)));
    await expect.poll(() => JSON.parse(JSON.stringify(one.chat.messages))).toEqual(stored);
    expect(one.texts()).toMatch(/^The weather\?\|+It is sunny in Lisbon, 🌞 today\.$/);
  }
});

const file = fileURLToPath(new URL("./producer-process.ts", import.meta.url));
