import { afterEach, expect, it, vi } from "vitest";
import {
  type ChatBackend,
  type Chunk,
  httpApi,
  stopAnswer,
  streamToChannel,
  takeChatRequest,
} from "../../../package/ai/index.ts";
import { ChannelBackend } from "./channel-backend.ts";
import { TestGenerations } from "./test-generations.ts";

vi.mock("cloudflare:workers", () => ({ DurableObject: Object }));
afterEach(() => vi.restoreAllMocks());

const message = { id: "m1", role: "user", parts: [{ type: "text", text: "The weather?" }] };
const request = { id: "1", trigger: "submit-message", answerId: "a1", messages: [message] };
const channel = "chat:1";

/** What a model says that thinks for no time. */
const saying = (delta: string): readonly Chunk[] => [
  { type: "start" },
  { type: "start-step" },
  { type: "text-start", id: "t" },
  { type: "text-delta", id: "t", delta },
  { type: "text-end", id: "t" },
  { type: "finish-step" },
  { type: "finish" },
];

/** The answer, which stays open behind its first words until it is ended. */
function openAnswer(said = saying("It is clear.")) {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const stream = new ReadableStream<Chunk>({
    async start(controller) {
      for (const chunk of said.slice(0, 4)) controller.enqueue(chunk);
      await ended;
      for (const chunk of said.slice(4)) controller.enqueue(chunk);
      controller.close();
    },
  });
  return { stream, end };
}

/** Waits for the first words. @returns the round trips with which they come, and the calls before them */
async function firstWords(backend: ChannelBackend) {
  const find = () => backend.calls.find(({ text }) => text?.includes("It is clear.") === true);
  const { trip } = await vi.waitUntil(find);
  return { trip, before: backend.calls.filter((call) => call.trip < trip).length };
}

it("the first words of an answer are in the second call of the HTTP API in a row, the first of which takes the request", async () => {
  const backend = new ChannelBackend();
  let requests = 0;
  const send = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    requests++;
    const [method, params] = [
      new URL(Object(url)).pathname.slice(5),
      JSON.parse(Object(init?.body)),
    ];
    if (method === "batch") {
      const replies = await backend.batch(params.commands);
      return Response.json({ replies: replies.map(({ result }) => ({ method: result })) });
    }
    if (method === "map_append") return Response.json({ result: await backend.map_append(params) });
    return Response.json({ result: await backend.map_read_state(params) });
  };
  const api = httpApi({ url: "https://example.com", apiKey: "k", fetch: send });
  const taken = await takeChatRequest(api, channel, { ...request, place: 1 });
  expect(taken).toMatchObject({ answerId: "a1", messages: [message] });
  const { stream } = openAnswer();
  void streamToChannel(api, channel, stream, { messageId: "a1", begun: taken?.begun });
  expect(await firstWords(backend)).toEqual({ trip: 2, before: 1 });
  expect(requests).toBe(backend.calls.length);
});

it("a Worker's object writes the first words with the second call in a row, without waiting for its alarm", async () => {
  const backend = new ChannelBackend();
  const taken = await takeChatRequest(backend, channel, { ...request, place: 1 });
  const { stream, end } = openAnswer();
  const generations = new TestGenerations(backend, async () => stream);
  await generations.begin({ channel, messageId: "a1", job: "", begun: taken?.begun });
  expect(await firstWords(backend)).toEqual({ trip: 2, before: 1 });
  const alarm = generations.alarm();
  end();
  await alarm;
  expect(generations.stored.size).toBe(0);
  expect(await entry(backend, "m/a1")).toMatchObject({ answer: "done" });
});

it("a page that doesn't know the chat, or a producer that isn't told of it, costs one round trip each", async () => {
  const backend = new ChannelBackend();
  const taken = await takeChatRequest(backend, channel, request);
  void streamToChannel(backend, channel, openAnswer().stream, { messageId: "a1" });
  expect(await firstWords(backend)).toEqual({ trip: 4, before: 5 });
  expect(taken?.begun.entry.place).toBe(2);
});

async function entry(backend: ChannelBackend, key: string): Promise<unknown> {
  const { entries } = await backend.map_read_state({ channel, key, limit: 1 });
  return entries[0]?.data;
}

it.each([1, 7])(
  "a page that was wrong about the place of its message is put right (%s)",
  async (place) => {
    const backend = new ChannelBackend();
    const other = { ...message, id: "m0" };
    await backend.map_publish({ channel, key: "m/m0", data: { place: 4, message: other } });
    const taken = await takeChatRequest(backend, channel, { ...request, place });
    expect(taken?.messages).toMatchObject([{ id: "m0" }, { id: "m1" }]);
    expect(await entry(backend, "m/m1")).toMatchObject({ place: 5 });
    expect(await entry(backend, "m/a1")).toEqual(taken?.begun.entry);
    expect(taken?.begun.entry).toMatchObject({ place: 6 });
    // It is written as any other.
    const { stream, end } = openAnswer();
    end();
    const options = { messageId: "a1", begun: taken?.begun };
    expect(await streamToChannel(backend, channel, stream, options)).toBe("done");
  },
);

it("a request with a place that comes twice has one answer, and its message can't be an answer", async () => {
  const backend = new ChannelBackend();
  const both = [1, 1].map((place) => takeChatRequest(backend, channel, { ...request, place }));
  expect((await Promise.all(both)).filter((taken) => taken !== undefined)).toHaveLength(1);
  const forged = { ...request, answerId: "a2", messages: [{ ...message, id: "a1" }], place: 3 };
  await expect(takeChatRequest(backend, channel, forged)).rejects.toThrow("is an answer");
  expect(await entry(backend, "m/a2")).toBeUndefined();
});

it("a request is taken by a call that was repeated, because its answer was lost", async () => {
  const backend = new ChannelBackend();
  let calls = 0;
  const losing: ChatBackend = {
    map_publish: backend.map_publish,
    map_append: backend.map_append,
    map_read_state: backend.map_read_state,
    map_remove: backend.map_remove,
    batch: async (commands) => {
      const replies = await backend.batch(commands);
      if (calls++ === 0) throw new Error("the connection has ended");
      return replies;
    },
  };
  const taken = await takeChatRequest(losing, channel, { ...request, place: 1 });
  expect(taken).toMatchObject({ answerId: "a1", messages: [message] });
  expect(await entry(backend, "m/a1")).toEqual(taken?.begun.entry);
});

/** An answer in the middle of which its first producer is dead. */
async function openAbandoned() {
  const backend = new ChannelBackend();
  const taken = await takeChatRequest(backend, channel, { ...request, place: 1 });
  const options = { messageId: "a1", begun: taken?.begun };
  void streamToChannel(backend, channel, openAnswer().stream, options);
  await firstWords(backend);
  return { backend, options };
}

it.each(["It is clear.", "It rains."])(
  "a producer that comes again, and is told that the answer has just begun, reads what is there (%s)",
  async (delta) => {
    const { backend, options } = await openAbandoned();
    const said = saying(delta);
    let asked = 0;
    const again = () => {
      asked++;
      const { stream, end } = openAnswer(said);
      end();
      return stream;
    };
    expect(await streamToChannel(backend, channel, again, options)).toBe("done");
    expect(asked).toBe(2);
    const { chunks: stored } = Object(await entry(backend, "m/a1"));
    expect(stored).toMatchObject(said.map(({ type }) => ({ type })));
    expect(JSON.stringify(stored).split(delta)).toHaveLength(2);
    const { entries } = await backend.map_read_state({ channel, limit: -1 });
    expect(entries.map(({ key }) => key)).toEqual(["m/a1", "m/m1"]);
  },
);

it("a producer that comes again, and says first what the first one has said first, reads the rest as well", async () => {
  const { backend, options } = await openAbandoned();
  const more = '{"type":"text-delta","id":"t","delta":" Now."}\n';
  await backend.map_append({ channel, key: "c/a1/1/0", text: more });
  let asked = 0;
  const again = () => {
    const { stream, end } = openAnswer();
    if (++asked === 2) end();
    return stream;
  };
  expect(await streamToChannel(backend, channel, again, options)).toBe("done");
  expect(asked).toBe(2);
});

it("a stream of a producer that comes again is refused: it can't be asked again", async () => {
  const { backend, options } = await openAbandoned();
  const said = saying("It rains.");
  const written = streamToChannel(backend, channel, openAnswer(said).stream, options);
  await expect(written).rejects.toThrow("has to be a function");
});

it.each(["before its first words", "and has become one message"])(
  "an answer that was stopped %s stays so, with nothing left of who is told that it has just begun",
  async (when) => {
    const backend = new ChannelBackend();
    const taken = await takeChatRequest(backend, channel, { ...request, place: 1 });
    const options = { messageId: "a1", begun: taken?.begun };
    const { stream } = openAnswer();
    if (when === "before its first words")
      await backend.map_append({ channel, key: "c/a1/1/0", text: "\n", final: true });
    else await stopAnswer(backend, channel, "a1");
    expect(await streamToChannel(backend, channel, stream, options)).toBe("stopped");
    const { entries } = await backend.map_read_state({ channel, limit: -1 });
    expect(entries.map(({ key }) => key)).toEqual(["m/a1", "m/m1"]);
    expect(await entry(backend, "m/a1")).toMatchObject({ answer: "stopped" });
  },
);

it("nothing is left of an answer that was removed before its first words", async () => {
  const backend = new ChannelBackend();
  const taken = await takeChatRequest(backend, channel, { ...request, place: 1 });
  await backend.map_remove({ channel, key: "m/a1" });
  const { stream, end } = openAnswer();
  end();
  const options = { messageId: "a1", begun: taken?.begun };
  expect(await streamToChannel(backend, channel, stream, options)).toBe("stopped");
  const { entries } = await backend.map_read_state({ channel, limit: -1 });
  expect(entries.map(({ key }) => key)).toEqual(["m/m1"]);
});
