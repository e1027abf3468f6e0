import type { ApiAnswer } from "../connection/api-client.ts";
import { numberOf, objectOf, objectsOf } from "../connection/answer.ts";
import { judgeLeftovers, type Leftovers } from "./judge-run.ts";
import { doctorLimits } from "./limits.ts";
import type { Run } from "./run.ts";
import { eachOf, pauseFor, within } from "./waiting.ts";

/** Nothing ends cleaning up but its own time. */
const never = new AbortController().signal;

/** Ends all clients and removes what the channels keep, also of a run that was stopped; and says what is left. */
export async function cleanUp(run: Run): Promise<void> {
  run.endAll();
  const left = (await within(removeAll(run), doctorLimits.cleanUpMs * 2, never)) ?? {
    subscribers: 0,
    publications: 0,
    unknown: ["the server didn't answer in 20 s"],
  };
  run.found(judgeLeftovers(left, run.channelPrefix));
}

async function removeAll(run: Run): Promise<Leftovers> {
  const unknown = new Set<string>();
  const known = (answer: ApiAnswer, what: string) => {
    if (answer.outcome === "result") return answer.result;
    // 108: there is no such thing in this namespace or on this server.
    if (answer.outcome === "error" && answer.code === 108) return {};
    unknown.add(
      answer.outcome === "error" ? `the key doesn't admit ${what}` : "the server is gone",
    );
    return {};
  };
  const channels = [...run.channels];
  const counts = await eachOf(channels, 8, async (channel) => {
    known(await run.api.call("history_remove", { channel }), "history_remove");
    const history = known(await run.api.call("history", { channel, limit: -1 }), "history");
    return objectsOf(history, "publications").length;
  });
  if (run.users.size > 0)
    for (let from = 0; from < run.users.size; from += usersMax) {
      const users = [...run.users].slice(from, from + usersMax);
      known(await run.api.call("delete_user_status", { users }), "delete_user_status");
    }
  const subscribers = await subscribersLeft(run, known);
  return {
    subscribers,
    publications: counts.reduce((sum, one) => sum + one, 0),
    unknown: [...unknown],
  };
}

/** Users of one call. */
const usersMax = 1_000;

/** How many subscribers the run's channels have once they had time to leave. */
async function subscribersLeft(
  run: Run,
  known: (answer: ApiAnswer, what: string) => ReturnType<typeof objectOf>,
): Promise<number> {
  const endAtMs = performance.now() + doctorLimits.cleanUpMs;
  for (;;) {
    const answer = await run.api.call("channels", { pattern: `${run.channelPrefix}*` });
    const channels = objectOf(known(answer, "channels"), "channels");
    const left = Object.keys(channels).reduce(
      (sum, name) => sum + (numberOf(objectOf(channels, name), "num_clients") ?? 0),
      0,
    );
    if (left === 0 || performance.now() > endAtMs) return left;
    await pauseFor(100, never);
  }
}
