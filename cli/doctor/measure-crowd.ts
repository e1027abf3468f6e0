/** What happens with many clients: a publication to all of them, and all of them coming back. */
import { readFileSync } from "node:fs";
import type { Client, Subscribed } from "./client.ts";
import { stillThere } from "./check-server.ts";
import { judgeDeliveries, judgeReturn } from "./judge-run.ts";
import { doctorLimits } from "./limits.ts";
import { refusedText } from "./judge-taken.ts";
import { fullText, isFull, type Run } from "./run.ts";
import { eachOf, Lost, NotAllowed, pauseFor } from "./waiting.ts";
import { refusal } from "../shell.ts";

/** Connects all subscribers, publishes to them, and lets some of them come back at once. */
export async function measureCrowd(run: Run): Promise<void> {
  const { subscribers, returning } = run.options;
  if (subscribers === 0) return;
  const filesMax = openFilesMax();
  if (filesMax < subscribers + doctorLimits.otherFiles)
    throw new NotAllowed(
      `this process may open ${filesMax} files: ulimit -n 4096 before it, or fewer clients with --subscribers`,
    );
  const channel = run.channel("crowd");
  const crowd = await eachOf(Array.from({ length: subscribers }), doctorLimits.opensAtOnce, () =>
    subscribedAtLast(run, channel),
  );
  const clients = crowd.map(({ client }) => client);
  await measureFanOut(run, clients, channel);
  const leaving = clients.slice(0, returning);
  for (const client of leaving) {
    client.cut();
    run.forget(client);
  }
  const position = crowd[0]?.subscribed;
  const since = position?.recoverable === true ? position : undefined;
  if (leaving.length > 0) await measureReturn(run, leaving.length, channel, since);
}

interface Member {
  readonly client: Client;
  readonly subscribed: Subscribed;
}

async function subscribedAtLast(run: Run, channel: string): Promise<Member> {
  const { member, lastRefusal } = await comes(run, channel);
  if (member === undefined)
    throw refusal(`one of ${run.options.subscribers} subscribers isn't taken: ${lastRefusal}`);
  return member;
}

/** How many files and sockets this process may have open; Infinity where the system doesn't say it like Linux. */
function openFilesMax(): number {
  try {
    const soft = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return soft === undefined ? Infinity : Number(soft);
  } catch {
    return Infinity; // Another system.
  }
}

async function measureFanOut(run: Run, clients: readonly Client[], channel: string): Promise<void> {
  const samplesMs: number[] = [];
  let published = 0;
  for (; published < doctorLimits.fanOutSamples; published++) {
    const { number, sentAtMs } = await run.publish(channel);
    const received = await Promise.all(
      // Whoever was lost got nothing.
      clients.map((client) => client.received(number).catch(lostIsNothing)),
    );
    for (const one of received) if (one !== undefined) samplesMs.push(one.atMs - sentAtMs);
  }
  const expected = published * clients.length;
  run.measured(`a publication to ${clients.length}`, samplesMs, expected - samplesMs.length);
  run.found(judgeDeliveries(expected, samplesMs.length));
}

function lostIsNothing(error: unknown): undefined {
  if (error instanceof Lost) return undefined;
  throw error;
}

async function measureReturn(
  run: Run,
  count: number,
  channel: string,
  since: Subscribed | undefined,
): Promise<void> {
  const begunAtMs = performance.now();
  const samplesMs: number[] = [];
  let [refusals, lastRefusal] = [0, ""];
  await Promise.all(
    Array.from({ length: count }, async () => {
      const returned = await comes(run, channel, since);
      refusals += returned.refusals;
      if (returned.lastRefusal !== "") ({ lastRefusal } = returned);
      if (returned.member !== undefined) samplesMs.push(performance.now() - begunAtMs);
    }),
  );
  const lost = count - samplesMs.length;
  run.measured(`${count} clients come back at once`, samplesMs, lost);
  run.found(judgeReturn({ clients: count, back: samplesMs.length, refusals, lastRefusal }));
}

/** A client that tries until it is subscribed, as the SDKs do; no member after too many attempts. */
async function comes(
  run: Run,
  channel: string,
  since?: Subscribed,
): Promise<{ readonly member?: Member; readonly refusals: number; readonly lastRefusal: string }> {
  let lastRefusal = "";
  for (let refusals = 0; refusals < doctorLimits.triesMax; refusals++) {
    const connected = await run.connect({ kind: "gateway" });
    if (connected.outcome === "connected") {
      const { client } = connected;
      const subscribed = await run.subscribe(client, channel, since);
      return { member: { client, subscribed }, refusals, lastRefusal };
    }
    if (isFull(connected)) throw new NotAllowed(fullText);
    lastRefusal = refusedText(connected);
    if (connected.outcome === "failed") await stillThere(run);
    await pauseFor(doctorLimits.retryMs * 2 ** refusals * (0.5 + Math.random()), run.stop);
  }
  return { refusals: doctorLimits.triesMax, lastRefusal };
}
