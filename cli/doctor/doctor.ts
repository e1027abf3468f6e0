import { setMaxListeners } from "node:events";
import { Command } from "commander";
import { ApiClient } from "../connection/api-client.ts";
import { type ClientOptions, withClient } from "../connection/client-connection.ts";
import { secretsOf } from "../connection/settings.ts";
import { checkedConfig } from "../configuration/worker-config.ts";
import { exitCodes, Failure, paintOf, type Shell, usageFailure } from "../shell.ts";
import { printable } from "../text/printable.ts";
import { durationSeconds, wholeNumber } from "../text/values.ts";
import { readToken } from "../token/token-claims.ts";
import { type Billed, judgeBilled } from "./analytics.ts";
import { type Account, accountOf, askAnalytics } from "./ask-analytics.ts";
import { cleanUp } from "./clean-up.ts";
import { examine } from "./examine.ts";
import { doctorLimits } from "./limits.ts";
import { dataCentreOf, isWrong, type Report, reportJson, reportText } from "./report.ts";
import type { Credentials } from "./judge-taken.ts";
import { Run } from "./run.ts";
import { Stopped } from "./waiting.ts";

interface DoctorOptions extends ClientOptions {
  readonly namespace: string;
  readonly origin?: string;
  readonly subscribers: number;
  readonly returning: number;
  readonly samples: number;
  readonly sleep: number;
  readonly long?: boolean;
  readonly billed?: string;
  readonly json?: boolean;
}

/** `dormouse doctor`: measures a running server from here, and says what isn't as it should be. */
export function doctorCommand(shell: Shell): Command {
  const command = new Command("doctor")
    .description("measure a running server from here, and say what isn't as it should be")
    .argument("[url]", "the server, as with --url")
    .option("--namespace <name>", "the namespace of the channels that it uses (default: none)", "")
    .option("--origin <origin>", "the origin of a page that is to be admitted")
    .option(
      "--subscribers <number>",
      "subscribers that get a publication; 0 leaves them out",
      wholeNumber(0, 10_000),
      500,
    )
    .option(
      "--returning <number>",
      "clients of these that come back at once",
      wholeNumber(0, 10_000),
      200,
    )
    .option(
      "--samples <number>",
      "connects, and publications to one client",
      wholeNumber(1, 1_000),
      20,
    )
    .option(
      "--sleep <duration>",
      "how long objects may sleep before a publication; 0 leaves it out",
      durationSeconds,
      30,
    )
    .option("--long", "leave a connection quiet for 5 minutes, to find time-outs in between")
    .option(
      "--billed <worker>",
      "read from Cloudflare's analytics what this Worker was billed for",
    );
  return withClient(command)
    .option("--json", "print what was found as JSON")
    .addHelpText(
      "after",
      `
It connects clients, publishes to channels of its own and removes them, also after Ctrl-C. It takes about a minute, and
five with --long. The key is API_KEY; TOKEN_HMAC_SECRET_KEY signs tokens for its clients. Without the secret they have
the token of --token, or none. What the server doesn't allow is skipped with a sentence. The exit code is 1 if
something is wrong.

--billed waits up to ten minutes for Cloudflare's analytics, and needs CLOUDFLARE_API_TOKEN with the permission Account
Analytics: Read, and CLOUDFLARE_ACCOUNT_ID. It wasn't tried against an account yet.

Examples:
  dormouse doctor https://dormouse.example.com
  dormouse doctor https://dormouse.example.com --origin https://app.example.com --long
  dormouse doctor --subscribers 20 --returning 10 --sleep 0 --json`,
    )
    .action(async (url: string | undefined, options: DoctorOptions) => {
      if (url !== undefined && options.url !== undefined)
        throw usageFailure("the argument and --url both name a server: give one of them");
      await diagnose({ ...options, ...(url !== undefined && { url }) }, shell);
    });
}

async function diagnose(options: DoctorOptions, shell: Shell): Promise<void> {
  const { subscribers, returning, samples, namespace, origin } = options;
  const stop = new AbortController();
  // Each client waits with a listener of its own.
  setMaxListeners(0, stop.signal);
  const account = accountOf(options.billed, shell);
  const run = new Run(
    ApiClient.of(options, shell),
    {
      subscribers,
      returning: Math.min(returning, subscribers),
      samples,
      namespace,
      sleepMs: options.sleep * 1_000,
      billsTexts: options.billed !== undefined,
      quietMs: options.long === true ? doctorLimits.quietSecondsLong * 1_000 : 0,
      ...(origin !== undefined && { origin }),
    },
    credentialsOf(options, shell),
    stop.signal,
  );
  // A second Ctrl-C ends the process at once.
  const interrupt = () => stop.abort();
  process.once("SIGINT", interrupt);
  try {
    const { report, failure } = await carriedOut(run, account, shell);
    if (options.json === true) shell.print(printable(JSON.stringify(reportJson(report))));
    else shell.print(reportText(report, paintOf(shell)));
    if (failure !== undefined) process.exitCode = failure;
    else if (isWrong(report)) process.exitCode = exitCodes.refused;
  } finally {
    process.removeListener("SIGINT", interrupt);
  }
}

/**
 * Runs everything, and removes what was made whatever happens.
 *
 * @returns with the exit code of a run that ended early
 * @throws {Failure} if there was nothing to report
 */
async function carriedOut(
  run: Run,
  account: Account | undefined,
  shell: Shell,
): Promise<{ readonly report: Report; readonly failure?: number }> {
  const beganAtMs = Date.now();
  let billed: Billed | undefined;
  let ended: { readonly text: string; readonly code: number } | undefined;
  try {
    await examine(run, (text) => shell.progress(text));
  } catch (error) {
    if (error instanceof Failure && run.channels.size === 0) throw error;
    ended = endOf(error);
  }
  await cleanUp(run);
  if (account !== undefined && ended === undefined)
    try {
      billed = await readBill(run, account, beganAtMs, shell);
    } catch (error) {
      ended = endOf(error);
    }
  const { measurements, findings, identity } = run;
  const found = {
    url: run.api.address,
    version: identity.version,
    dataCentre: dataCentreOf(identity.headers),
    measurements,
    findings,
    ...(billed && { billed }),
  };
  if (ended === undefined) return { report: found };
  return { report: { ...found, ended: ended.text }, failure: ended.code };
}

/** Reads and judges what the run was billed for; undefined if it can't be read. */
async function readBill(
  run: Run,
  account: Account,
  beganAtMs: number,
  shell: Shell,
): Promise<Billed | undefined> {
  const analytics = await askAnalytics(account, beganAtMs, run.done, run.stop, (ms) =>
    shell.progress(`waiting for Cloudflare's analytics for ${Math.round(ms / 1_000)} s`),
  );
  run.found(...judgeBilled(analytics, run.done));
  return analytics.outcome === "billed" ? analytics.billed : undefined;
}

function endOf(error: unknown): { readonly text: string; readonly code: number } {
  if (error instanceof Stopped) return { text: "stopped before its end", code: interruptedCode };
  if (error instanceof Failure)
    return { text: `ended before its end: ${error.message}`, code: error.exitCode };
  throw error;
}

/** As shells give it for a process that Ctrl-C has ended. */
const interruptedCode = 130;

function credentialsOf(options: DoctorOptions, shell: Shell): Credentials {
  const token = options.token ?? shell.environment["DORMOUSE_TOKEN"] ?? "";
  if (token !== "") {
    const user = readToken(token)?.claims["sub"];
    return { kind: "token", token, user: typeof user === "string" ? user : "" };
  }
  const secret = secretsOf(options, shell)("TOKEN_HMAC_SECRET_KEY");
  if (secret === undefined) return { kind: "anonymous" };
  const { userIdClaim } = checkedConfig(options, shell).client.token;
  return { kind: "secret", secret, userIdClaim };
}
