import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packageName } from "../../../src/version.ts";
import { startDormouse, type TestDormouse } from "../../../package/test/index.ts";
import { codeBlocksOf, configOf } from "../../support/documented-code.ts";
import { packedInto } from "../../support/environments/packed-package.ts";

const execute = promisify(execFile);
const blocks = codeBlocksOf("ai-chat.md");
const codeWith = (part: string) => blocks.find(({ code }) => code.includes(part))?.code ?? "";

/** The newest version of the SDK and the one before, each with its packages for frameworks. */
const versions = [
  { ai: "7.0.173", react: "4.0.177", vue: "4.0.142", svelte: "5.0.118" },
  { ai: "6.0.326", react: "3.0.328", vue: "3.0.323", svelte: "4.0.288" },
];

/** A page with what docs/ai-chat.md says. */
const page = `${codeWith("function Chat(").replace(/\/\/ … and all else.*/, "return chat.status;")}
import { createRoot } from "react-dom/client";
createRoot(document.body).render(<Chat chatId="1" />);
`;
const withClass = (framework: string) => `import { DormouseChatTransport } from "${packageName}/ai";
declare const transport: DormouseChatTransport;
declare const chatId: string;
${codeWith("new Chat(").replace("@ai-sdk/vue", `@ai-sdk/${framework}`)}
void leave;
`;

/** Two tabs of a chat with Vue's class in Node: one asks and approves a tool, the other only follows. */
const runVue = `
import { Chat } from "@ai-sdk/vue";
import { isToolUIPart, lastAssistantMessageIsCompleteWithApprovalResponses, simulateReadableStream, type UIMessage } from "ai";
import { Centrifuge } from "centrifuge";
import { type Chunk, DormouseChatTransport, httpApi, streamToChannel, takeChatRequest } from "${packageName}/ai";

const [url = "", apiKey = "", websocketUrl = "", token = ""] = process.argv.slice(2);
const backend = httpApi({ url, apiKey });

function answer(messages: readonly UIMessage[]): Chunk[] {
  const call = messages.at(-1)?.parts.find(isToolUIPart);
  if (call === undefined)
    return [
      { type: "start" },
      { type: "start-step" },
      { type: "tool-input-available", toolCallId: "c", toolName: "order", input: { what: "ice" } },
      { type: "tool-approval-request", approvalId: "a", toolCallId: "c" },
      { type: "finish-step" },
      { type: "finish" },
    ];
  return [
    { type: "start" },
    { type: "tool-output-available", toolCallId: "c", output: "ordered" },
    { type: "start-step" },
    { type: "text-start", id: "t" },
    { type: "text-delta", id: "t", delta: \`The model saw: \${call.state}\` },
    { type: "text-end", id: "t" },
    { type: "finish-step" },
    { type: "finish" },
  ];
}

const route: typeof fetch = async (_address, init) => {
  const body = JSON.parse(String(init?.body));
  const taken = await takeChatRequest(backend, \`chat:\${body.id}\`, body);
  if (taken !== undefined)
    void streamToChannel(
      backend,
      \`chat:\${body.id}\`,
      () => simulateReadableStream({ chunks: answer(taken.messages) }),
      { messageId: taken.answerId },
    );
  return new Response(null, { status: 202 });
};

function open() {
  const client = new Centrifuge(websocketUrl, { token });
  const transport = new DormouseChatTransport({ client, fetch: route });
  const chat = new Chat<UIMessage>({
    id: "1",
    transport,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  transport.follow("1", () => chat);
  return chat;
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 20));
}

const [tab, other] = [open(), open()];
void tab.sendMessage({ text: "Order!" });
const calls = () => (other.messages[1]?.parts ?? []).filter(isToolUIPart);
await until(() => other.status === "ready" && calls()[0]?.state === "approval-requested");
void other.addToolApprovalResponse({ id: "a", approved: true });
const isDone = (chat: typeof tab) => chat.status === "ready" && JSON.stringify(chat.messages).includes("The model saw") && chat.messages[1]?.parts.at(-1)?.type === "text";
await until(() => isDone(tab) && isDone(other));
await until(() => JSON.stringify(tab.messages) === JSON.stringify(other.messages));
console.log(JSON.stringify(tab.messages));
process.exit();
`;

/** A tab and one that is loaded in the middle of the answer, with TanStack AI's client and the connection of docs/ai-chat.md. */
const runTanstack = `
import { ChatClient } from "@tanstack/ai-client";
import { Centrifuge } from "centrifuge";
import { type Chunk, DormouseChatTransport, httpApi, loadMessages, streamToChannel, takeChatRequest } from "${packageName}/ai";
import { dormouseConnection } from "./tanstack.ts";

const [url = "", apiKey = "", websocketUrl = "", token = ""] = process.argv.slice(2);
const backend = httpApi({ url, apiKey });
const [chatId, channel] = ["tanstack", "chat:tanstack"];
const held = Promise.withResolvers<void>();

async function* answer(): AsyncGenerator<Chunk> {
  yield { type: "start" };
  yield { type: "reasoning-start", id: "r" };
  yield { type: "reasoning-delta", id: "r", delta: "Hm." };
  yield { type: "reasoning-end", id: "r" };
  yield { type: "tool-input-available", toolCallId: "c", toolName: "weather", input: { city: "Lisbon" } };
  yield { type: "tool-output-available", toolCallId: "c", output: "clear" };
  yield { type: "text-start", id: "t" };
  yield { type: "text-delta", id: "t", delta: "It is " };
  await held.promise;
  yield { type: "text-delta", id: "t", delta: "clear." };
  yield { type: "text-end", id: "t" };
  yield { type: "finish" };
}

function stream(): ReadableStream<Chunk> {
  const chunks = answer();
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await chunks.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
  });
}

const route: typeof fetch = async (_address, init) => {
  const taken = await takeChatRequest(backend, channel, JSON.parse(String(init?.body)));
  if (taken !== undefined)
    void streamToChannel(backend, channel, stream(), { messageId: taken.answerId });
  return new Response(null, { status: 202 });
};

function open() {
  const client = new Centrifuge(websocketUrl, { token });
  const transport = new DormouseChatTransport({ client, fetch: route });
  const connection = dormouseConnection(transport, chatId, () => loadMessages(backend, channel));
  const chat = new ChatClient({ connection, threadId: chatId, persistence: true });
  chat.attach();
  return chat;
}

async function sees(chat: ReturnType<typeof open>, text: string): Promise<void> {
  while (!JSON.stringify(chat.getMessages()).includes(text))
    await new Promise((resolve) => setTimeout(resolve, 20));
}

const tab = open();
void tab.sendMessage("The weather?");
await sees(tab, "It is ");
const reloaded = open();
await sees(reloaded, "It is ");
held.resolve();
for (const one of [tab, reloaded]) await sees(one, "It is clear.");
console.log(JSON.stringify([tab, reloaded].map((one) => one.getMessages())));
process.exit();
`;

const compilerOptions = {
  target: "es2024",
  lib: ["es2024", "dom", "dom.iterable"],
  module: "esnext",
  moduleResolution: "bundler",
  strict: true,
  skipLibCheck: true,
  noEmit: true,
  allowImportingTsExtensions: true,
  types: ["node"],
  jsx: "react-jsx",
};

let rt: TestDormouse;
/** The project, and the package's file in it. The versions have it one after the other: most of what is installed is the same. */
let [folder, archive] = ["", ""];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "dormouse-test-"));
  archive = await packedInto(folder);
  rt = await startDormouse({ config: configOf(blocks[0]?.code ?? "") });
}, 300_000);
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await rt.stop();
});

describe.each(versions)("the packed package with ai $ai", ({ ai, react, vue, svelte }) => {
  /** Each has chats of its own. */
  const key = ai.replaceAll(".", "-");
  beforeAll(async () => {
    const dependencies = {
      "@ai-sdk/react": react,
      "@ai-sdk/svelte": svelte,
      "@ai-sdk/vue": vue,
      "@tanstack/ai-client": "0.33.2",
      "@types/node": "24.10.1",
      "@types/react": "19.3.3",
      "@types/react-dom": "19.3.0",
      ai,
      centrifuge: "5.8.0",
      [packageName]: `file:${archive}`,
      react: "19.3.1",
      "react-dom": "19.3.1",
      svelte: "5.57.3",
      typescript: "7.0.2",
      vite: "8.4.0",
      vue: "3.5.45",
    };
    const files = {
      // As docs/ai-chat.md says: packages for frameworks name an exact version, which isn't the newest.
      "package.json": JSON.stringify({ type: "module", dependencies, overrides: { ai: "$ai" } }),
      "tsconfig.json": JSON.stringify({ compilerOptions, include: ["*.ts", "*.tsx"] }),
      "index.html": '<!doctype html><script type="module" src="page.tsx"></script>',
      "page.tsx": page,
      "vue.ts": withClass("vue"),
      "svelte.ts": withClass("svelte"),
      "run-vue.ts": runVue,
      "tanstack.ts": codeWith("function dormouseConnection("),
      "run-tanstack.ts": runTanstack,
    };
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    const install = ["install", "--prefer-offline", "--no-audit", "--no-fund"];
    await execute("npm", install, { cwd: folder });
  }, 300_000);

  it("passes the compiler, with the code of docs/ai-chat.md for React, Vue, Svelte and TanStack AI, and Vite builds the page", async () => {
    const compiled = program("tsc", "--project", ".");
    expect(await compiled.then(({ stdout }) => stdout).catch(outputOf)).toBe("");
    await program("vite", "build");
    expect(readdirSync(join(folder, "dist", "assets"))).toHaveLength(1);
  });

  it("runs with TanStack AI's client: a tab that is loaded in the middle of the answer has all of it", async () => {
    const tabs = await run(
      runTanstack.replaceAll('tanstack"', `tanstack-${key}"`),
      "run-tanstack.ts",
    );
    for (const messages of tabs)
      expect(messages).toMatchObject([
        { role: "user", parts: [{ type: "text", content: "The weather?" }] },
        {
          role: "assistant",
          parts: [
            { type: "thinking", content: "Hm." },
            { type: "tool-call", name: "weather", output: "clear" },
            { type: "tool-result" },
            { type: "text", content: "It is clear." },
          ],
        },
      ]);
  });

  it("runs with Vue's class: an approval lets the answer go on in both tabs", async () => {
    expect(await run(runVue.replaceAll('"1"', `"vue-${key}"`), "run-vue.ts")).toMatchObject([
      { role: "user" },
      {
        role: "assistant",
        parts: [
          { type: "step-start" },
          { type: "tool-order", state: "output-available", output: "ordered" },
          { type: "step-start" },
          { type: "text", text: "The model saw: approval-responded" },
        ],
      },
    ]);
  });
});

/** Runs a program that is installed in the project. */
const program = (name: string, ...options: readonly string[]) =>
  execute(join(folder, "node_modules", ".bin", name), options, { cwd: folder });

/** Runs code in the project, against the server. @returns what it prints, as JSON */
async function run(code: string, name: string) {
  const file = join(folder, name);
  writeFileSync(file, code);
  const options = [file, rt.url, rt.apiKey, rt.websocketUrl, rt.token("ann")];
  const { stdout } = await execute(process.execPath, options, { timeout: 60_000 });
  return JSON.parse(stdout);
}

/** What a program has said that failed. */
function outputOf({ stdout }: { readonly stdout: string }): string {
  return stdout;
}
