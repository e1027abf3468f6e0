/** What happens while nothing happens: objects sleep, and nothing in between forgets a connection. */
import { objectOf } from "../connection/answer.ts";
import type { Client } from "./client.ts";
import { judgeQuiet, judgeSleep, type Quiet } from "./judge-run.ts";
import { doctorLimits } from "./limits.ts";
import type { Run } from "./run.ts";
import { Lost, pauseFor, within } from "./waiting.ts";

/** A client, and the channel that it is subscribed to. */
interface Sleeper {
  readonly channel: string;
  readonly client: Client;
}

/** Lets objects sleep while their clients get automatic answers, and wakes each with a publication. */
export async function measureSleep(run: Run): Promise<void> {
  const { sleepMs } = run.options;
  if (sleepMs === 0) return;
  const own: Sleeper[] = [];
  const onGateway: Sleeper[] = [];
  for (let index = 0; index < doctorLimits.sleepers; index++) {
    const channel = run.channel(`sleeper-${index}`);
    const place = { kind: "channel", channel } as const;
    own.push({ channel, client: await run.subscriber(place, channel, { keepsAlive: true }) });
    const other = run.channel(`gateway-sleeper-${index}`);
    const client = await run.subscriber({ kind: "gateway" }, other, { keepsAlive: true });
    onGateway.push({ channel: other, client });
  }
  const sleepers = [...own, ...onGateway];
  const textsSent = await keepAlive(run, sleepers);
  const textsAnswered = sleepers.reduce((sum, { client }) => sum + client.keptAlive, 0);
  await wakeAll(run, onGateway, "the same after sleep, gateway");
  await wakeAll(run, own, "the same after sleep, own address");
  const slept = await countSlept(run, own);
  const objects = own.length;
  run.found(...judgeSleep({ sleepMs, objects, slept, textsSent, textsAnswered }));
  for (const { client } of sleepers) run.end(client);
}

/** Sends the text that the platform answers until the time is over. @returns how often */
async function keepAlive(run: Run, sleepers: readonly Sleeper[]): Promise<number> {
  const endAtMs = performance.now() + run.options.sleepMs;
  const textsAtOnce = run.options.billsTexts ? doctorLimits.billedTextsAtOnce : 1;
  let sent = 0;
  for (let leftMs = run.options.sleepMs; leftMs > 0; leftMs = endAtMs - performance.now()) {
    for (const { client } of sleepers)
      for (let text = 0; text < textsAtOnce; text++) client.keepAlive();
    sent += sleepers.length * textsAtOnce;
    const lost = Promise.race(sleepers.map(({ client }) => client.lost));
    await Promise.race([pauseFor(Math.min(leftMs, doctorLimits.keepaliveMs), run.stop), lost]);
  }
  run.done.keepAlives += sent;
  return sent;
}

/** Publishes to one after the other: each object is woken by its own publication. */
async function wakeAll(run: Run, sleepers: readonly Sleeper[], name: string): Promise<void> {
  const samplesMs: number[] = [];
  for (const { channel, client } of sleepers) {
    const { number, sentAtMs } = await run.publish(channel);
    const received = await client.received(number);
    if (received !== undefined) samplesMs.push(received.atMs - sentAtMs);
  }
  run.measured(name, samplesMs, sleepers.length - samplesMs.length);
}

/** How many objects have slept since their clients came; undefined if the key doesn't admit the question. */
async function countSlept(run: Run, own: readonly Sleeper[]): Promise<number | undefined> {
  let slept = 0;
  for (const { channel } of own) {
    const answer = await run.call("inspect", { channel });
    if (answer.outcome !== "result") return undefined;
    // An object that has slept remembers nothing of before.
    if (objectOf(answer.result, "events")["upgrade"] === undefined) slept++;
  }
  return slept;
}

/** A connection on which nothing is sent, beside everything else. */
export class QuietConnection {
  readonly #client: Client;
  readonly #sinceMs = performance.now();
  #cut: { readonly code: number; readonly quietMs: number } | undefined;

  static async begin(run: Run): Promise<QuietConnection> {
    const channel = run.channel("quiet");
    const place = { kind: "channel", channel } as const;
    return new QuietConnection(await run.subscriber(place, channel, { keepsAlive: true }));
  }

  private constructor(client: Client) {
    this.#client = client;
    client.lost.catch((error: unknown) => {
      const code = error instanceof Lost ? error.code : 0;
      this.#cut = { code, quietMs: performance.now() - this.#sinceMs };
    });
  }

  /**
   * Waits until it has been quiet for long enough, and asks whether its other end still answers.
   *
   * @param pingMs the interval of the server's pings
   */
  async judge(run: Run, pingMs: number, told: (leftMs: number) => void): Promise<void> {
    for (;;) {
      const leftMs = run.options.quietMs - (performance.now() - this.#sinceMs);
      if (leftMs <= 0 || this.#cut !== undefined) break;
      told(leftMs);
      await Promise.race([
        pauseFor(Math.min(leftMs, 1_000), run.stop),
        this.#client.lost.catch(() => undefined),
      ]);
    }
    run.found(judgeQuiet(await this.#outcome(run), pingMs));
    run.end(this.#client);
  }

  async #outcome(run: Run): Promise<Quiet> {
    const quietMs = performance.now() - this.#sinceMs;
    if (this.#cut === undefined) {
      const answer = this.#client.nextKeptAlive();
      this.#client.keepAlive();
      const isAlive = await within(answer, doctorLimits.answerMs, run.stop).catch(
        (error: unknown) => {
          if (error instanceof Lost) return undefined;
          throw error;
        },
      );
      if (isAlive === true) return { outcome: "open", quietMs };
    }
    return this.#cut === undefined
      ? { outcome: "dead", quietMs }
      : { outcome: "cut", ...this.#cut };
  }
}
