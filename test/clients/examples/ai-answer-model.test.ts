import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type TestContext, beforeAll, describe, expect, it } from "vitest";
import { Inbox } from "../../support/inbox.ts";
import { exampleFolder } from "../../support/servers/example-process.ts";
import { listen } from "../../support/servers/listen.ts";

/** The adapter in examples/ai-answer/model.js. */
interface Adapter {
  readonly Model: new (address: string, key: string, options: object) => Model;
}
interface Model {
  complete(
    messages: readonly Message[],
    signal: AbortSignal,
    idleMs?: number,
  ): AsyncIterable<string>;
}
interface Message {
  readonly role: string;
  readonly content: string;
}

let adapter: Adapter;
const question: readonly Message[] = [{ role: "user", content: "Who are you?" }];

beforeAll(async () => {
  adapter = await import(join(exampleFolder("ai-answer"), "model.js"));
});

/** A server of the API that answers as the test says. */
async function serve(test: TestContext, answer: (response: ServerResponse) => void) {
  const asked = new Inbox<{ path: string; headers: IncomingHttpHeaders; body: object }>();
  const ended = new Inbox<true>();
  const server = createServer(async (request, response) => {
    response.once("close", () => ended.push(true));
    asked.push({
      path: request.url ?? "",
      headers: request.headers,
      body: JSON.parse(await text(request)),
    });
    answer(response);
  });
  const port = await listen(server);
  test.onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const model = new adapter.Model(`http://127.0.0.1:${port}/v1`, "secret", { model: "m-1" });
  return { model, asked, ended };
}

/** Answers with a stream, whose bytes come in these pieces. */
function stream(...pieces: readonly (string | Uint8Array)[]) {
  return async (response: ServerResponse) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    for (const piece of pieces) {
      // Each piece comes by itself, because the one before was sent.
      await new Promise((resolve) => {
        response.write(piece, resolve);
      });
    }
    response.end();
  };
}

/** Begins to answer, and goes on no further. */
function hang(response: ServerResponse): void {
  response.writeHead(200, { "Content-Type": "text/event-stream" }).write(event("a"));
}

/** The event of a piece of text. */
const event = (content: string) => `data: ${chunk({ content })}\n\n`;
const chunk = (delta: object, finished: string | null = null) =>
  JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finished }] });
const stop = `data: ${chunk({}, "stop")}\n\ndata: [DONE]\n\n`;

/** What an answer of the model gives, until it ends or fails. */
async function taken(model: Model, signal = new AbortController().signal, idleMs?: number) {
  const pieces: string[] = [];
  try {
    for await (const piece of model.complete(question, signal, idleMs)) pieces.push(piece);
  } catch (failure) {
    return { pieces, failure };
  }
  return { pieces, failure: undefined };
}

describe("the model's adapter in examples/ai-answer", () => {
  it("[W1] asks as the API of chat completions wants it, and gives the pieces", async (test) => {
    const role = `data: ${chunk({ role: "assistant", content: "" })}\n\n`;
    const usage = `data: {"choices":[],"usage":{"total_tokens":9}}\n\n`;
    const answer = stream(": waiting\n\n", role, event("I am"), event(" a mouse."), usage, stop);
    const { model, asked } = await serve(test, answer);
    expect(await taken(model)).toEqual({ pieces: ["I am", " a mouse."], failure: undefined });
    expect(await asked.next()).toMatchObject({
      path: "/v1/chat/completions",
      headers: { authorization: "Bearer secret", "content-type": "application/json" },
      body: { model: "m-1", stream: true, messages: question },
    });
  });

  it("[W1] understands a stream that is cut anywhere, also in a character, with lines that end in CR LF", async (test) => {
    const whole = Buffer.from((event("é🐭") + event("東") + stop).replaceAll("\n", "\r\n"));
    const bytes = Array.from(whole, (byte) => Uint8Array.of(byte));
    const { model } = await serve(test, stream(...bytes));
    expect((await taken(model)).pieces.join("")).toBe("é🐭東");
  });

  it("[W1] keeps the first half of a character until the second comes", async (test) => {
    const { model } = await serve(test, stream(event("a\ud83d"), event("\udc2db"), stop));
    expect((await taken(model)).pieces).toEqual(["a", "🐭b"]);
  });

  it.for([
    ["the stream ends without a reason", stream(event("a"))],
    [
      "the stream is cut",
      (response: ServerResponse) => {
        response.writeHead(200, { "Content-Type": "text/event-stream" });
        response.write(event("a"), () => response.destroy());
      },
    ],
    ["an event tells an error", stream(event("a"), `data: {"error":{"message":"secret"}}\n\n`)],
    ["an event isn't JSON", stream(event("a"), "data: {secret\n\n")],
  ] as const)(
    "[W1] gives what came before, and may be asked again, when %s",
    async ([, answer], test) => {
      const { model } = await serve(test, answer);
      const { pieces, failure } = await taken(model);
      expect(pieces).toEqual(["a"]);
      expect(failure).toMatchObject({ isTemporary: true });
      expect(String(failure)).not.toContain("secret");
    },
  );

  it.for([
    [429, true, 7_000],
    [503, true, 7_000],
    [401, false, 7_000],
  ] as const)(
    "[W1] says whether to ask again after status %i",
    async ([status, isTemporary, retryAfterMs], test) => {
      const { model } = await serve(test, (response) => {
        response.writeHead(status, { "Retry-After": "7" }).end(`{"error":{"message":"secret"}}`);
      });
      const { failure } = await taken(model);
      expect(failure).toMatchObject({ isTemporary, retryAfterMs });
      expect(String(failure)).not.toContain("secret");
    },
  );

  it.for(["length", "content_filter"])(
    "[W1] isn't asked again after the reason %s",
    async (reason, test) => {
      const { model } = await serve(test, stream(event("a"), `data: ${chunk({}, reason)}\n\n`));
      const { pieces, failure } = await taken(model);
      expect(pieces).toEqual(["a"]);
      expect(failure).toMatchObject({ isTemporary: false });
    },
  );

  it("[W1] ends the request when it is told to, and when nothing comes for too long", async (test) => {
    const { model, ended } = await serve(test, hang);
    const control = new AbortController();
    const pieces = model.complete(question, control.signal)[Symbol.asyncIterator]();
    expect(await pieces.next()).toEqual({ done: false, value: "a" });
    const next = pieces.next();
    control.abort();
    await expect(next).rejects.toMatchObject({ name: "AbortError" });
    await ended.count(1);
    expect((await taken(model, undefined, 50)).failure).toMatchObject({ isTemporary: true });
    await ended.count(2);
  });

  it("[W1] may be asked again when nobody listens", async () => {
    const model = new adapter.Model("http://127.0.0.1:1/v1", "", {});
    expect((await taken(model)).failure).toMatchObject({ isTemporary: true });
  });

  it("[W1] lets the example's own model go on after the beginning of its answer", async (test) => {
    const own: LocalModel = await import(join(exampleFolder("ai-answer"), "local-model.js"));
    const server = createServer(own.localModel(1_000_000)).listen(0, "127.0.0.1");
    await once(server, "listening");
    test.onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const model = new adapter.Model(`http://127.0.0.1:${port}`, "", {});
    const asked = { role: "user", content: "Who are you? Tell it in 30 words" };
    const whole = own.answerTo(asked.content);
    const begun = { role: "assistant", content: whole.slice(0, 40) };
    const { signal } = new AbortController();
    const rest: string[] = [];
    for await (const piece of model.complete([asked, begun], signal)) rest.push(piece);
    expect(rest.length).toBeGreaterThan(20);
    expect(begun.content + rest.join("")).toBe(whole);
    expect(whole.split(/\s+/)).toHaveLength(30);
  });
});

interface LocalModel {
  readonly localModel: (tokensPerSecond: number) => () => void;
  readonly answerTo: (question: string) => string;
}
