import { failureCause } from "../connection/failure-cause.ts";
import { type Shell, usageFailure } from "../shell.ts";
import { type Analytics, analyticsQuery, type Done, hasAll, parseAnalytics } from "./analytics.ts";
import { doctorLimits } from "./limits.ts";
import { pauseFor, Stopped } from "./waiting.ts";

/** Whose bill is read, and with which token. */
export interface Account {
  readonly worker: string;
  readonly account: string;
  readonly token: string;
}

/**
 * The account whose analytics are to be read.
 *
 * @param worker its name, which the command line gives; absent if nothing is to be read
 * @throws {Failure} if the token or the account is missing
 */
export function accountOf(worker: string | undefined, { environment }: Shell): Account | undefined {
  if (worker === undefined) return undefined;
  const [token = "", account = ""] = ["CLOUDFLARE_API_TOKEN", "CLOUDFLARE_ACCOUNT_ID"].map(
    (name) => environment[name],
  );
  if (token === "" || account === "")
    throw usageFailure(
      "--billed needs CLOUDFLARE_API_TOKEN and CLOUDFLARE_ACCOUNT_ID in the environment",
    );
  return { worker, account, token };
}

/**
 * Asks Cloudflare until its analytics have the run, or for long enough.
 *
 * @param fromMs when the run began
 * @param told   shows how long it has been waiting, in ms
 */
export async function askAnalytics(
  account: Account,
  fromMs: number,
  done: Done,
  stop: AbortSignal,
  told: (ms: number) => void,
): Promise<Analytics> {
  const untilMs = Date.now();
  for (;;) {
    const analytics = await askOnce(account, fromMs, untilMs, stop);
    const waitedMs = Date.now() - untilMs;
    const isOver = waitedMs >= doctorLimits.analyticsMs;
    if (analytics.outcome === "refused" || isOver || hasAll(analytics.billed, done))
      return analytics;
    told(waitedMs);
    await pauseFor(doctorLimits.analyticsPauseMs, stop);
  }
}

async function askOnce(
  { worker, account, token }: Account,
  fromMs: number,
  untilMs: number,
  stop: AbortSignal,
): Promise<Analytics> {
  const [from, until] = [fromMs, untilMs].map((ms) => new Date(ms).toISOString());
  try {
    const response = await fetch("https://api.cloudflare.com/client/v4/graphql", {
      method: "POST",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      body: JSON.stringify({ query: analyticsQuery, variables: { account, worker, from, until } }),
      redirect: "manual",
      signal: AbortSignal.any([stop, AbortSignal.timeout(doctorLimits.callMs)]),
    });
    return parseAnalytics(await response.text());
  } catch (error) {
    if (stop.aborted) throw new Stopped();
    return { outcome: "refused", reason: failureCause(error) };
  }
}
