/** One run: all measurements and checks, in an order in which none disturbs another. */
import { Failure, refusal } from "../shell.ts";
import { checkOrigins, checkServer, identify, stillThere } from "./check-server.ts";
import { checkCompression, checkSizes, checkStream } from "./check-way.ts";
import type { Client } from "./client.ts";
import { note, skipped, wrong } from "./findings.ts";
import { judgeNotTaken } from "./judge-taken.ts";
import { judgeLost } from "./judge-run.ts";
import { measureCrowd } from "./measure-crowd.ts";
import { measureConnects, measureLatency, measureRecovery } from "./measure-latency.ts";
import { measureSleep, QuietConnection } from "./measure-sleep.ts";
import { payloadOf, type Run } from "./run.ts";
import { Lost, NotAllowed } from "./waiting.ts";

/** Shows how far a run is. */
export type Progress = (text: string) => void;

/**
 * Examines a server. What was found is in the run, also if this fails.
 *
 * @throws {Failure} if the server isn't one of ours, refuses the key, or goes away
 * @throws {Stopped} if the run is stopped
 */
export async function examine(run: Run, progress: Progress): Promise<void> {
  progress("asking the server");
  run.identity = await identify(run);
  await checkServer(run);
  const first = await firstClient(run);
  if (first === undefined) return;
  await checkOrigins(run);
  const { pingSeconds } = first;
  run.end(first);
  const quiet = await QuietConnection.begin(run);
  const parts: readonly (readonly [string, (run: Run) => Promise<void>])[] = [
    ["compression", checkCompression],
    ["connect", measureConnects],
    ["publish to receive", measureLatency],
    ["message sizes", checkSizes],
    ["buffering", checkStream],
    ["recovery", measureRecovery],
    ["many clients", measureCrowd],
    ["sleep", measureSleep],
  ];
  for (const [name, part] of parts) {
    progress(`${name}…`);
    await survived(run, name, part);
  }
  await quiet.judge(run, pingSeconds * 1_000, (leftMs) =>
    progress(`a quiet connection, ${Math.ceil(leftMs / 1_000)} s more`),
  );
}

/** Carries out a part. A connection that is lost in it, or a client that is refused, is a finding and not the end. */
async function survived(run: Run, name: string, part: (run: Run) => Promise<void>): Promise<void> {
  try {
    await part(run);
  } catch (error) {
    if (error instanceof NotAllowed) {
      run.found(skipped(name, error.message));
      return;
    }
    if (error instanceof Lost || (error instanceof Failure && error.exitCode === 1))
      await stillThere(run);
    if (error instanceof Lost) run.found(judgeLost(name, error.code, error.openMs));
    else if (error instanceof Failure && error.exitCode === 1)
      run.found(wrong(name, error.message, "npx dormouse inspect --refusals 20"));
    else throw error;
  }
}

/**
 * Connects and subscribes a first client, and so finds out what clients may do.
 *
 * @returns undefined if no client can be measured
 * @throws {Failure} if the server goes away
 */
async function firstClient(run: Run): Promise<Client | undefined> {
  const connected = await run.connect({ kind: "gateway" });
  if (connected.outcome !== "connected") {
    run.found(judgeNotTaken(run.credentials.kind, connected));
    return undefined;
  }
  const { client } = connected;
  const channel = run.channel("first");
  const published = await run.call("publish", { channel, data: payloadOf({}) });
  if (published.outcome !== "result") {
    const failure = run.api.failure(published);
    if (failure.exitCode !== 1) throw failure;
    run.found(
      skipped(
        "clients",
        `publishing is refused (${failure.message}): name a namespace of streams with --namespace, and a key that may publish`,
      ),
    );
    return undefined;
  }
  if (run.credentials.kind === "anonymous")
    run.found(note("anonymous clients", "a client may connect without a token"));
  const subscribed = await client.subscribe(channel);
  if (subscribed === undefined) throw refusal("a subscribe wasn't answered in 10 s");
  if (!("outcome" in subscribed)) return client;
  const { code, message } = subscribed;
  run.opening = "by the API";
  try {
    await run.subscribe(client, channel);
    run.found(
      note(
        "subscribing",
        "no client may subscribe itself here, so the API's subscribe does it: TOKEN_HMAC_SECRET_KEY in the environment, or --namespace with one that is open, measures more",
      ),
    );
    return client;
  } catch (error) {
    if (!(error instanceof Failure) || error.exitCode !== 1) throw error;
    run.found(
      skipped(
        "clients",
        `a subscribe is refused (${code} ${message}), and so is the API's (${error.message}): set TOKEN_HMAC_SECRET_KEY, or name an open namespace with --namespace`,
      ),
    );
    return undefined;
  }
}
