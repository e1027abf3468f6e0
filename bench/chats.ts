/**
 * `npm run bench:chats`, or with another number of chats, and how often their producers write, `npm run bench:chats -- 200 100`:
 * chats of the AI SDK by Dormouse and by the SDK's own transport, in one process and on one machine. It prints ratios, because times
 * depend on the machine: how long the first chunk of an answer takes, and when so many answers at once are whole in their pages.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import {
  type ChatTransport,
  DefaultChatTransport,
  pipeUIMessageStreamToResponse,
  type UIMessage,
} from "ai";
import { Centrifuge } from "centrifuge";
import {
  type AnswerState,
  type Chunk,
  DormouseChatTransport,
  httpApi,
  streamToChannel,
  takeChatRequest,
} from "../package/ai/index.ts";
import { startDormouse } from "../package/test/index.ts";

const chats = Number(process.argv[2] ?? 1_000);
/** A producer writes once in so long. With a thousand that write each 100 ms one machine would have 10,000 calls a second. */
const periodMs = Number(process.argv[3] ?? 1_000);
/** In so many chats, so often in each, the first chunk is waited for. */
const [firstChats, firstRounds] = [10, 5];
/** An answer of 500 tokens in 10 seconds: five at once each 100 ms. */
const [pieces, pieceMs, piece] = [100, 100, " acorn".repeat(5)];
const whole = piece.repeat(pieces);
/** A gateway lets so many subscribe to channels that are new to it in a second. */
const openedAtOnce = 10;

const rt = await startDormouse({
  config: {
    channel: {
      namespaces: [
        {
          name: "chat",
          subscription_type: "map",
          allow_subscribe_for_client: true,
          allowed_delta_types: ["fossil"],
          map: { mode: "recoverable", key_ttl: "720h", append_window: "250ms" },
        },
      ],
    },
  },
});
const backend = httpApi({ url: rt.url, apiKey: rt.apiKey });
const server = createServer((request, response) => void answer(request, response)).listen(0);
await once(server, "listening");
const address: AddressInfo = Object(server.address());
const origin = `http://127.0.0.1:${address.port}`;
/** How long each piece of an answer takes now; 0: there is one. */
let everyMs = 0;
/** The answers that are being written, also after their pages have all of them. */
const producers = new Set<Promise<AnswerState>>();

/** The application's route: for the SDK's own transport the answer is in the response. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body: { readonly id: string } = JSON.parse(await text(request));
  if (request.url === "/default") {
    void pipeUIMessageStreamToResponse({ response, stream: words() });
    return;
  }
  const channel = `chat:${body.id}`;
  const taken = await takeChatRequest(backend, channel, body);
  response.writeHead(202).end();
  if (taken === undefined) return;
  const options = { messageId: taken.answerId, periodMs };
  const written = streamToChannel(backend, channel, words(), options);
  producers.add(written);
  await written;
}

function words(): ReadableStream<Chunk> {
  const chunks = chunksOfAnAnswer();
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await chunks.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
  });
}

async function* chunksOfAnAnswer(): AsyncGenerator<Chunk> {
  yield { type: "start" };
  yield { type: "text-start", id: "t" };
  for (let nth = 0; nth < (everyMs === 0 ? 1 : pieces); nth++) {
    yield { type: "text-delta", id: "t", delta: piece };
    await pause(everyMs);
  }
  yield { type: "text-end", id: "t" };
  yield { type: "finish" };
}

/** A page with a chat. */
interface Page {
  readonly chatId: string;
  readonly transport: ChatTransport<UIMessage>;
  readonly close: () => void;
}

const openDefault = (chatId: string): Page => ({
  chatId,
  transport: new DefaultChatTransport({ api: `${origin}/default` }),
  close: () => undefined,
});

/** A page that has subscribed to its chat, as one that is shown has. */
async function openDormouse(chatId: string): Promise<Page> {
  const client = new Centrifuge(rt.websocketUrl, { token: rt.token("ann") });
  // However slow the machine is, the page waits.
  const silentMs = 600_000;
  const transport = new DormouseChatTransport({ client, api: `${origin}/dormouse`, silentMs });
  await transport.reconnectToStream({ chatId });
  transport.follow(chatId, () => ({
    status: "streaming",
    messages: [],
    resumeStream: async () => undefined,
  }));
  return {
    chatId,
    transport,
    close: () => {
      transport.close();
      client.disconnect();
    },
  };
}

/** Asks, and gives how long the first chunk took, and all of them. */
async function ask({ chatId, transport }: Page) {
  const begunMs = performance.now();
  const message: UIMessage = {
    id: crypto.randomUUID(),
    role: "user",
    parts: [{ type: "text", text: "Hello?" }],
  };
  const stream = await transport.sendMessages({
    chatId,
    trigger: "submit-message",
    messageId: undefined,
    messages: [message],
    abortSignal: undefined,
  });
  let firstMs: number | undefined;
  let said = "";
  for await (const chunk of stream) {
    firstMs ??= performance.now() - begunMs;
    if (chunk.type === "text-delta") said += chunk.delta;
  }
  return { firstMs: firstMs ?? Number.NaN, wholeMs: performance.now() - begunMs, said };
}

function median(figures: readonly number[]): number {
  return (
    figures.toSorted((one, other) => one - other)[Math.floor(figures.length / 2)] ?? Number.NaN
  );
}

const ratio = (one: number, other: number) => (one / other).toFixed(1);

/** The first chunk, with nothing else to do, and how long a call of the HTTP API takes. */
async function firstChunk(): Promise<void> {
  const [mine, theirs, call]: [number[], number[], number[]] = [[], [], []];
  for (let nth = 0; nth < firstChats; nth++) {
    const [own, other] = [await openDormouse(`first-${nth}`), openDefault(`first-${nth}`)];
    for (let round = 0; round < firstRounds; round++) {
      mine.push((await ask(own)).firstMs);
      theirs.push((await ask(other)).firstMs);
      await Promise.all(producers);
      const begunMs = performance.now();
      await backend.map_read_state({ channel: `chat:first-${nth}`, limit: 1 });
      call.push(performance.now() - begunMs);
    }
    own.close();
  }
  const [ownMs, otherMs, callMs] = [median(mine), median(theirs), median(call)];
  const calls = ratio(ownMs - otherMs, callMs);
  console.log(
    `first chunk, median of ${mine.length}: later than by DefaultChatTransport by as much as ${calls} calls of the HTTP API take (${ownMs.toFixed(1)} and ${otherMs.toFixed(1)} ms; a call ${callMs.toFixed(1)} ms)`,
  );
}

/** So many answers at once. They begin one after the other within the length of one. */
async function atOnce(
  name: string,
  open: (chatId: string) => Page | Promise<Page>,
): Promise<number> {
  const pages: Page[] = [];
  for (let from = 0; from < chats; from += openedAtOnce) {
    const some = Array.from({ length: Math.min(openedAtOnce, chats - from) }, (_, nth) =>
      Promise.resolve(open(`${from + nth}`)),
    );
    pages.push(...(await Promise.all(some)));
  }
  const ownMs = pieces * pieceMs;
  const askLater = async (page: Page, nth: number) => {
    await pause((nth * ownMs) / chats);
    return ask(page);
  };
  const answers = await Promise.all(pages.map((page, nth) => askLater(page, nth)));
  for (const page of pages) page.close();
  const bad = answers.filter(({ said }) => said !== whole).length;
  const lasted = median(answers.map(({ wholeMs }) => wholeMs));
  const longest = Math.max(...answers.map(({ wholeMs }) => wholeMs));
  console.log(
    `${chats} chats at once by ${name}: whole after ${ratio(lasted, ownMs)} times an answer's own length in the median, ${ratio(longest, ownMs)} at most; ${bad} with a piece that is missing or twice`,
  );
  if (bad > 0) process.exitCode = 1;
  return lasted;
}

await firstChunk();
everyMs = pieceMs;
const theirs = await atOnce("DefaultChatTransport", openDefault);
const ours = await atOnce("DormouseChatTransport", openDormouse);
console.log(`together: ${ratio(ours, theirs)} times as long by Dormouse`);
await Promise.all(producers);
server.closeAllConnections();
server.close();
await rt.stop();
