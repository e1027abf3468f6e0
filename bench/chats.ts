/**
 * `npm run bench:chats`, or with another number of chats, and how often their producers write, in ms,
 * `npm run bench:chats -- 200 100`: chats of the AI SDK by Dormouse and by the SDK's own transport, in one process and on one
 * machine. It prints ratios, because times depend on the machine: how long the first words of an answer take, and when so many
 * answers at once are whole in their pages. Whatever fails is counted and named, and nothing waits for ever.
 */
import { setTimeout as pause } from "node:timers/promises";
import { productionBundle } from "../cli/build/production-bundle.ts";
import { httpApi } from "../package/ai/index.ts";
import { codeBlocksOf, configOf } from "../test/support/documented-code.ts";
import { Application, wholeAnswer } from "./chats/application.ts";
import { Failures, within } from "./chats/failures.ts";
import { type Addresses, ask, openDefault, openDormouse, type Page } from "./chats/page.ts";
import { tokenOf } from "./scenarios/caller-tokens.ts";
import { processTimeMs } from "./scenarios/process-time.ts";
import { median } from "./scenarios/median.ts";
import { apiKey } from "./systems/dormouse-wire.ts";
import { tokenSecret } from "./systems/wire.ts";
import { startOnWorkerd } from "./systems/workerd-system.ts";

const chats = Number(process.argv[2] ?? 1_000);
/** A producer writes once in so long. With a thousand that write each 100 ms one machine would have 10,000 calls a second. */
const periodMs = Number(process.argv[3] ?? 1_000);
/** In so many chats, so often in each, the first words are waited for. */
const [firstChats, firstRounds] = [10, 5];
/** So many pages open at once: a gateway lets so many subscribe to channels that are new to it in a second. */
const openedAtOnce = 10;
/** So long a page may take to open, and an answer to be whole, in ms. What takes longer has failed. */
const [openMs, answerMs] = [60_000, 12 * wholeAnswer.ownMs];

const config = configOf(codeBlocksOf("ai-chat.md")[0]?.code ?? "");
const server = await startOnWorkerd(
  {},
  {
    modules: { "edge.js": productionBundle() },
    classNames: { CHANNELS: "ChannelObject", GATEWAYS: "GatewayObject", USERS: "UsersObject" },
    variables: { config: JSON.stringify(config) },
    secrets: { API_KEY: apiKey, TOKEN_HMAC_SECRET_KEY: tokenSecret },
  },
);
const backend = httpApi({ url: `http://127.0.0.1:${server.port}`, apiKey });
const application = await Application.start(backend, periodMs);
const addresses: Addresses = {
  origin: application.origin,
  websocketUrl: `ws://127.0.0.1:${server.port}/connection/websocket`,
  tokenOf,
};

const ratio = (one: number, other: number) => (one / other).toFixed(1);

const askOnce = async (page: Page) => (await within(answerMs, "an answer", ask(page))).firstMs;

/** The first words, with nothing else to do, and how long a call of the HTTP API takes that changes the chat. */
async function firstWords(): Promise<void> {
  const [mine, theirs, call]: [number[], number[], number[]] = [[], [], []];
  for (let nth = 0; nth < firstChats; nth++) {
    const chatId = `first-${nth}`;
    const own = await within(openMs, "a page", openDormouse(addresses, chatId));
    const other = await openDefault(addresses, chatId);
    for (let round = 0; round < firstRounds; round++) {
      mine.push(await askOnce(own));
      theirs.push(await askOnce(other));
      await within(answerMs, "a producer", application.rested());
      const begunMs = performance.now();
      await backend.map_publish({ channel: `chat:${chatId}`, key: "call", data: round });
      call.push(performance.now() - begunMs);
    }
    own.close();
  }
  const [ownMs, otherMs, callMs] = [median(mine), median(theirs), median(call)];
  console.log(
    `first words, median of ${mine.length}: later than by DefaultChatTransport by as much as ${ratio(ownMs - otherMs, callMs)} calls that change a chat take (${ownMs.toFixed(1)} and ${otherMs.toFixed(1)} ms; a call ${callMs.toFixed(1)} ms)`,
  );
}

/** Opens all pages. */
async function openAll(open: typeof openDefault, failures: Failures): Promise<readonly Page[]> {
  const pages: Page[] = [];
  for (let from = 0; from < chats; from += openedAtOnce) {
    const some = Array.from({ length: Math.min(openedAtOnce, chats - from) }, (_, nth) =>
      within(openMs, "a page", open(addresses, `${from + nth}`)),
    );
    for (const opened of await Promise.allSettled(some))
      if (opened.status === "fulfilled") pages.push(opened.value);
      else failures.note(opened.reason);
    // A server that lets nobody in is said so after one of these times, and not after hundreds.
    if (pages.length === 0) break;
  }
  return pages;
}

/** The processor time that the server and this process have used so far, ms. */
function usedMs(): readonly number[] {
  return [server.processId ?? process.pid, process.pid].map(processTimeMs);
}

/** So many answers at once. They begin one after the other within the length of one. @returns the median, in ms */
async function atOnce(name: string, open: typeof openDefault): Promise<number> {
  const [unopened, failures] = [new Failures(), new Failures()];
  const pages = await openAll(open, unopened);
  const { ownMs } = wholeAnswer;
  const usedBefore = usedMs();
  const askLater = async (page: Page, nth: number) => {
    await pause((nth * ownMs) / pages.length);
    return within(answerMs, "an answer", ask(page));
  };
  const answers = await Promise.allSettled(pages.map((page, nth) => askLater(page, nth)));
  const times: number[] = [];
  for (const answer of answers)
    if (answer.status === "rejected") failures.note(answer.reason);
    else if (answer.value.said === wholeAnswer.text) times.push(answer.value.wholeMs);
    else failures.note("a piece is missing or twice");
  await within(answerMs, "the producers", application.rested()).catch((error: unknown) =>
    application.failures.note(error),
  );
  const [served, here] = usedMs().map((ms, nth) => (ms - (usedBefore[nth] ?? 0)) / pages.length);
  for (const page of pages) page.close();
  const { failures: unwritten } = application;
  console.log(
    `${chats} chats at once by ${name}: ${times.length} whole, after ${ratio(median(times), ownMs)} times an answer's own length in the median, ${ratio(Math.max(...times), ownMs)} at most`,
  );
  console.log(
    `  processor time for an answer, ms: ${served?.toFixed(0)} of the server, ${here?.toFixed(0)} of pages and producers`,
  );
  console.log(`  pages that didn't open: ${unopened.count}${unopened.reasons}`);
  console.log(`  answers that failed: ${failures.count}${failures.reasons}`);
  console.log(`  producers that failed: ${unwritten.count}${unwritten.reasons}`);
  if (times.length < chats || unwritten.count > 0) process.exitCode = 1;
  return median(times);
}

try {
  await firstWords();
  application.isLong = true;
  const theirs = await atOnce("DefaultChatTransport", openDefault);
  const ours = await atOnce("DormouseChatTransport", openDormouse);
  console.log(`together: ${ratio(ours, theirs)} times as long by Dormouse`);
} finally {
  application.stop();
  await server.stop();
}
// An answer that took too long may still be waited for.
process.exit();
