import { apiKey } from "../systems/dormouse-wire.ts";
import type { Post, SystemName } from "../systems/wire.ts";
import { callersWithTokens } from "./caller-tokens.ts";
import { type Figure, Figures, medianAndTail } from "./figures.ts";
import { dataBytes, measureEach, type MeasuredRun } from "./measured-run.ts";
import type { Bench, Finding, Scenario } from "./scenario.ts";

/** What users have read: marks of backends and of clients beside publications, and questions for what is unread. */
export const cursors: Scenario = {
  name: "cursors",
  question:
    "How many marks a second does one channel take, and how long does a question about 100 channels take?",
  run,
};

interface Extent {
  /** Publications to one channel, and marks of as many users there. */
  readonly marks: number;
  /** Clients that mark each publication that arrives. */
  readonly readers: number;
  readonly seconds: number;
  /** Questions for what is unread, each about {@link channelsAsked} channels. */
  readonly questions: number;
}

const fullExtent: Extent = { marks: 20_000, readers: 100, seconds: 2, questions: 200 };
const quickExtent: Extent = { marks: 1_000, readers: 20, seconds: 0.2, questions: 10 };

async function run(bench: Bench): Promise<readonly Finding[]> {
  const extent = bench.quick ? quickExtent : fullExtent;
  const figures = new Figures();
  for (let round = 1; round <= bench.rounds; round++) {
    const turn = {
      during: `cursors, round ${round} of ${bench.rounds}`,
      options: { tokens: true },
    };
    await measureEach(bench, ["channel"], { ...turn, detail: "backend" }, async (measured) => {
      await markByBackend(measured, extent, figures);
      await ask(measured, extent, figures);
    });
    for (const answers of ["receipts", "marks"] as const)
      await measureEach(bench, systems, { ...turn, detail: answers }, (measured) =>
        markByClients(measured, extent, figures, answers),
      );
  }
  return figures.findings;
}

/**
 * Publishes to a channel that nobody has subscribed to, and then marks these publications: by users in turn, and by a user
 * each. The first mark of a user costs more, because the user's home is told of the channel.
 */
async function markByBackend(
  { system, server, load }: MeasuredRun,
  { marks }: Extent,
  figures: Figures,
): Promise<void> {
  const channel = "room:marked";
  const each = (post: (index: number) => Post): readonly Post[] =>
    Array.from({ length: marks }, (_, index) => post(index));
  const together = (method: string, posts: readonly Post[]): readonly Post[] =>
    Array.from({ length: Math.ceil(posts.length / batchCommands) }, (_, index) => {
      const commands = posts
        .slice(index * batchCommands, (index + 1) * batchCommands)
        .map(({ body }) => `{"${method}":${body}}`);
      return request("batch", `{"commands":[${commands.join(",")}],"parallel":true}`);
    });
  const data = `{"text":"${"x".repeat(dataBytes - 11)}"}`;
  const publish = (): Post => request("publish", `{"channel":"${channel}","data":${data}}`);
  const mark = (index: number, user: string): Post =>
    request("mark_read", JSON.stringify({ user, channel, offset: index + 1 }));
  const inTurn = (group: string) =>
    each((index) => mark(index, `${group}-${index % readingUsers}`));
  const measures = [
    ["publications", "one in a request", each(publish)],
    ["marks", "one in a request", inTurn("single")],
    ["publications", `${batchCommands} in a request`, together("publish", each(publish))],
    ["marks", `${batchCommands} in a request`, together("mark_read", inTurn("batch"))],
    [
      "first marks",
      `${batchCommands} in a request`,
      together(
        "mark_read",
        each((index) => mark(index, `first-${index}`)),
      ),
    ],
  ] as const;
  for (const [what, point, posts] of measures) {
    const posted = { order: "post-each", server, posts, posters } as const;
    const { seconds, busy } = await load.carryOut(posted);
    const figure = { measure: `${what} a second`, unit: "per second", better: "higher" } as const;
    figures.add(
      { ...figure, system, point: `backend, ${point}` },
      { value: marks / seconds, busy },
    );
  }
}

/** Asks what is unread of channels, each of which has unread publications, and publishes to the same channels. */
async function ask(
  { system, server, load }: MeasuredRun,
  { questions }: Extent,
  figures: Figures,
): Promise<void> {
  const channels = Array.from({ length: channelsAsked }, (_, index) => `room:asked-${index}`);
  const broadcast = request("broadcast", JSON.stringify({ channels, data: { text: "x" } }));
  const unread = request("unread", JSON.stringify({ user: "reader", channels }));
  const posted = { order: "post-each", server, posters: 1 } as const;
  await load.carryOut({ ...posted, posts: repeated(broadcast, 10) });
  for (const [measure, post] of [
    [`broadcast to ${channelsAsked} channels, p50`, broadcast],
    [`unread of ${channelsAsked} channels, p50`, unread],
  ] as const) {
    const report = await load.carryOut({ ...posted, posts: repeated(post, questions) });
    const figure = { measure, unit: "ms", better: "lower", system, point: "backend" } as const;
    const { p50Ms } = medianAndTail(report.answerLatenciesMs);
    figures.add(figure, { value: p50Ms, busy: report.busy });
  }
}

/** Publishes to clients that answer each publication: by a command without effect, or by a mark. */
async function markByClients(
  { system, server, load }: MeasuredRun,
  { readers, seconds }: Extent,
  figures: Figures,
  answers: "receipts" | "marks",
): Promise<void> {
  const channel = "room:read";
  await load.carryOut({
    order: "connect",
    server,
    callers: callersWithTokens(channel, readers),
    concurrency: 32,
    missed: 0,
    sendsReceipts: answers === "marks" ? "marks" : true,
  });
  const report = await load.carryOut({
    order: "receipts",
    channel,
    publishers: 4,
    seconds,
    dataBytes,
  });
  const where = { system, point: `${readers} clients` };
  const add = (figure: Omit<Figure, keyof typeof where>, value: number): void =>
    figures.add({ ...figure, ...where }, { value, busy: report.busy });
  const rate = { unit: "per second", better: "higher" } as const;
  add({ measure: `${answers} a second`, ...rate }, report.receipts / report.seconds);
  const { p50Ms } = medianAndTail(report.receiptLatenciesMs);
  add({ measure: `answer to one of the ${answers}, p50`, unit: "ms", better: "lower" }, p50Ms);
  if (answers === "marks") await checkMarks(server.api, channel);
}

/** An answer may be an error, which isn't looked at meanwhile: at the end everything must be read. */
async function checkMarks(
  { host, port }: { readonly host: string; readonly port: number },
  channel: string,
): Promise<void> {
  const { path, headers, body } = request(
    "unread",
    JSON.stringify({ user: "user-0", channels: [channel] }),
  );
  const response = await fetch(`http://${host}:${port}${path}`, { method: "POST", headers, body });
  const text = await response.text();
  if (!text.includes('"unread":0,')) throw new Error(`not everything was marked: ${text}`);
}

function repeated(post: Post, times: number): readonly Post[] {
  return Array.from({ length: times }, () => post);
}

function request(method: string, body: string): Post {
  const headers = { "X-API-Key": apiKey, "Content-Type": "application/json" };
  return { path: `/api/${method}`, headers, body };
}

const systems: readonly SystemName[] = ["channel", "gateway"];
const channelsAsked = 100;
const readingUsers = 500;
const posters = 64;
const batchCommands = 100;
