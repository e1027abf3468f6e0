import type { Centrifuge, MapSubscription } from "centrifuge";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startDormouse, type TestDormouse } from "../../../package/test/index.ts";
import { codeBlocksOf, codeFolder, configOf, writeCode } from "../../support/documented-code.ts";
import { Inbox } from "../../support/inbox.ts";

/** What the code of docs/streaming-text.md exports. */
interface Page {
  readonly writeAnswer: (
    channel: string,
    id: string,
    askModel: (text: string) => AsyncIterable<string>,
    periodMs?: number,
  ) => Promise<string>;
  readonly followAnswer: (
    client: Centrifuge,
    channel: string,
    id: string,
    show: (text: string, status?: string) => void,
  ) => MapSubscription;
}

/** A server with the configuration of the page, and the page's code, which calls it. */
interface Served {
  readonly rt: TestDormouse;
  readonly page: Page;
}

let served: Served;
const folder = codeFolder();

beforeAll(async () => {
  served = await serve("1s");
});
afterAll(async () => {
  await served.rt.stop();
  folder.remove();
});

async function serve(appendWindow: string): Promise<Served> {
  const blocks = codeBlocksOf("streaming-text.md");
  const codeIn = (language: string) =>
    blocks
      .filter((block) => block.language === language)
      .map(({ code }) => code)
      .join("\n");
  const toml = codeIn("toml").replace(`append_window = "1s"`, `append_window = "${appendWindow}"`);
  const rt = await startDormouse({ config: { ...configOf(toml) } });
  // The code of the page reads the address once.
  const code = codeIn("js").replaceAll("process.env.DORMOUSE", JSON.stringify(rt.url));
  const keyed = code.replaceAll("process.env.API_KEY", JSON.stringify(rt.apiKey));
  const page: Page = await import(writeCode(folder.path, `window-${appendWindow}.mjs`, keyed));
  return { rt, page };
}

const words = ["In ", "the ", "beginning ", "was ", "the ", "🐭."];
const whole = words.join("");

/** What ann's page shows of the answer 1. */
async function follow({ rt, page }: Served, channel: string) {
  const ann = await rt.client({ user: "ann" });
  const shown = new Inbox<string>();
  const show = (text: string, status?: string) => shown.push(`${text} (${status})`);
  const answers = page.followAnswer(ann.sdk, channel, "1", show);
  await answers.ready();
  return { ann, shown, answers };
}

describe("[Z38] the code of docs/streaming-text.md", () => {
  it("[Z39] shows each piece, to who was cut off the rest, and to who comes late the whole text", async () => {
    const channel = "chat:1#ann";
    const { ann, shown } = await follow(served, channel);
    let text = "";
    async function* model() {
      for (const word of words) {
        if (word === "was ") await served.rt.cut(ann);
        text += word;
        yield word;
        await shown.first((one) => one.startsWith(text));
      }
    }
    expect(await served.page.writeAnswer(channel, "1", model, 0)).toBe(whole);
    await shown.first((one) => one === `${whole} (complete)`);
    expect(shown.all).toContain("In the  (writing)");
    const late = await follow(served, channel);
    expect(await late.shown.next()).toBe(`${whole} (complete)`);
  });

  it("[Z41] goes on at the true length when a deploy has lost a window, and the page reads anew", async (test) => {
    const channel = "chat:2#ann";
    const slow = await serve("10s");
    test.onTestFinished(() => slow.rt.stop());
    const { shown, answers } = await follow(slow, channel);
    const synchronised = new Inbox<unknown>();
    answers.on("sync", ({ entries }) => synchronised.push(entries));
    const given: string[] = [];
    async function* model() {
      for (const word of words) {
        given.push(word);
        yield word;
        // What came within the window of the first piece is in memory only.
        if (word !== "beginning ") continue;
        await shown.first((one) => one.startsWith("In the beginning "));
        await slow.rt.deploy();
      }
    }
    expect(await slow.page.writeAnswer(channel, "1", model, 0)).toBe(whole);
    await shown.first((one) => one === `${whole} (complete)`);
    await synchronised.count(1);
    expect(given).toEqual(words);
  });

  it("[Z38] gives the text so far to the model of the next producer, and refuses the one before", async () => {
    const channel = "chat:3#ann";
    const { promise, resolve } = Promise.withResolvers<void>();
    async function* hangs() {
      yield "In ";
      await promise;
      yield "vain";
    }
    const first = served.page.writeAnswer(channel, "1", hangs, 0);
    const { shown } = await follow(served, channel);
    await shown.first((one) => one.startsWith("In "));
    const given: string[] = [];
    async function* goesOn(text: string) {
      given.push(text);
      yield whole.slice(text.length);
    }
    expect(await served.page.writeAnswer(channel, "1", goesOn)).toBe(whole);
    expect(given).toEqual(["In "]);
    resolve();
    await expect(first).rejects.toThrow("somebody else writes or has ended it");
  });

  it("[Z38] stops when somebody else ends the text", async () => {
    const channel = "chat:4#ann";
    async function* model() {
      yield "In ";
      await served.rt.api("map_append", { channel, key: "1/text", text: "", final: true });
      yield "vain";
    }
    await expect(served.page.writeAnswer(channel, "1", model, 0)).rejects.toThrow(
      "ended it: final",
    );
    const { shown } = await follow(served, channel);
    expect(await shown.next()).toBe("In  (writing)");
  });
});
