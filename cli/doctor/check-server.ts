/** What is seen of a server before a client is connected: who it is, what it refuses, and its clock. */
import { numberOf, objectsOf } from "../connection/answer.ts";
import { isOnThisMachine } from "../connection/connect-attempts.ts";
import { failureCause } from "../connection/failure-cause.ts";
import { exitCodes, Failure, refusal } from "../shell.ts";
import { printable, shown } from "../text/printable.ts";
import { signToken } from "../token/token-signer.ts";
import { Client, type Handshake } from "./client.ts";
import {
  judgeClock,
  judgeHeaders,
  judgeOrigins,
  judgeSecrets,
  type OriginOutcome,
} from "./judge-server.ts";
import { doctorLimits } from "./limits.ts";
import type { Identity, Run } from "./run.ts";
import { Stopped } from "./waiting.ts";

/** The secrets of .dev.vars.example, which everybody knows. */
export const publicSecrets = {
  API_KEY: "development-api-key",
  TOKEN_HMAC_SECRET_KEY: "development-token-hmac-secret-key",
} as const;

/**
 * Finds out whether there is a server of ours that takes the key.
 *
 * @throws {Failure} with a sentence if there isn't
 */
export async function identify(run: Run): Promise<Identity> {
  const { address } = run.api;
  const { status, headers, text } = await requested(run, "/health");
  if (status === 503) throw refusal(unconfiguredText(text));
  if (status !== 200 || text.trim() !== "{}")
    throw notOurs(address, `/health is answered with ${answerText(status, text)}`);
  const withoutKey = await requested(run, "/api/info", {});
  if (withoutKey.status !== 401 && !isResult(withoutKey.text))
    throw notOurs(
      address,
      `a call without a key is answered with ${answerText(withoutKey.status, withoutKey.text)}`,
    );
  const info = await run.call("info", { limit: 1 });
  await findNamespace(run);
  // A key of `http_api.keys` may not admit it.
  if (info.outcome === "error") return { version: "", headers };
  if (info.outcome !== "result") throw run.api.failure(info);
  const version = shown(objectsOf(info.result, "nodes")[0]?.["version"]);
  if (!version.includes("Dormouse"))
    throw refusal(`${address} answers the HTTP API as version ${version}, and isn't Dormouse`);
  return { version, headers };
}

/** @throws {Failure} if the server doesn't have the namespace that was named */
async function findNamespace(run: Run): Promise<void> {
  const { namespace } = run.options;
  if (namespace === "") return;
  const answer = await run.call("inspect", { channel: `${run.channelPrefix}namespace` });
  if (answer.outcome === "error" && answer.code === 102)
    throw refusal(
      `the server has no namespace ${namespace}: --namespace takes one of channel.namespaces`,
    );
}

/** @throws {Failure} if the server can't be reached any more */
export async function stillThere(run: Run): Promise<void> {
  await requested(run, "/health");
}

function isResult(text: string): boolean {
  return text.startsWith('{"result":');
}

function notOurs(address: string, what: string): Failure {
  return refusal(
    `${address} isn't a Dormouse server, or something in between answers in its place: ${what}`,
  );
}

function answerText(status: number, text: string): string {
  const line = printable(text.trim().slice(0, 40));
  return `status ${status}${line === "" ? "" : ` and ${JSON.stringify(line)}`}`;
}

function unconfiguredText(text: string): string {
  const lines = text.trim().replaceAll("\n", "; ").slice(0, 1_000);
  return `the server refuses every request (status 503): ${printable(lines)}. npx dormouse check finds faults of the configuration, and npx wrangler secret put NAME sets a secret`;
}

/** Requests something without the key. With a body it is posted. */
async function requested(
  run: Run,
  path: string,
  body?: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<{
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}> {
  run.done.calls++;
  try {
    const response = await fetch(`${run.api.address}${path}`, {
      ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
      headers: { "Content-Type": "application/json", ...headers },
      redirect: "manual",
      signal: AbortSignal.any([run.stop, AbortSignal.timeout(doctorLimits.answerMs)]),
    });
    const text = await response.text();
    return { status: response.status, headers: Object.fromEntries(response.headers), text };
  } catch (error) {
    if (run.stop.aborted) throw new Stopped();
    throw new Failure(
      `${run.api.address} can't be reached: ${failureCause(error)}`,
      exitCodes.unreachable,
    );
  }
}

/** Checks secrets by what the server refuses, origins, the clock, and the headers of an answer. */
export async function checkServer(run: Run): Promise<void> {
  const { headers } = run.identity;
  const isLocal = isOnThisMachine(new URL(run.api.address).hostname);
  const [keys, tokens] = [await acceptedKeys(run), await acceptedTokens(run)];
  // Anything else refuses the public secrets (rule A10).
  run.isDevelopment = isLocal && (keys.length > 0 || tokens.length > 0);
  run.found(
    ...judgeSecrets({ isLocal, keys, tokens }),
    judgeHeaders(headers),
    judgeClock(await aheadMs(run)),
  );
}

async function acceptedKeys(run: Run): Promise<readonly string[]> {
  const accepted: string[] = [];
  const guesses = ["", "dormouse-doctor-wrong-key", publicSecrets.API_KEY];
  for (const key of guesses) {
    const { text } = await requested(run, "/api/info", {}, key === "" ? {} : { "X-API-Key": key });
    if (isResult(text)) accepted.push(key);
  }
  return accepted;
}

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

async function acceptedTokens(run: Run): Promise<readonly string[]> {
  const nowSeconds = Math.floor(Date.now() / 1_000);
  const claims = { sub: "dormouse-doctor-guess", iat: nowSeconds - 60, exp: nowSeconds + 60 };
  const signed = (secret: string) => signToken(claims, { algorithm: "HS256", key: secret });
  const guesses: readonly (readonly [string, string])[] = [
    ["nothing", `${part({ alg: "none", typ: "JWT" })}.${part(claims)}.`],
    ['the secret "secret"', await signed("secret")],
    ["the public secret of .dev.vars.example", await signed(publicSecrets.TOKEN_HMAC_SECRET_KEY)],
  ];
  const accepted: string[] = [];
  for (const [name, token] of guesses)
    if ((await attempted(run, { token })) === "accepted") accepted.push(name);
  return accepted;
}

/** Checks which pages may connect. The run's own clients must be able to. */
export async function checkOrigins(run: Run): Promise<void> {
  const { token } = await run.token();
  const known = token === undefined ? {} : { token };
  const foreign = await attempted(run, { ...known, origin: "https://dormouse-doctor.invalid" });
  const { origin } = run.options;
  const own =
    origin === undefined
      ? undefined
      : { origin, outcome: await attempted(run, { ...known, origin }) };
  run.found(...judgeOrigins(foreign, own));
}

/** Connects a client for a moment. */
async function attempted(run: Run, handshake: Omit<Handshake, "address">): Promise<OriginOutcome> {
  run.done.connects++;
  const address = run.addressOf({ kind: "gateway" });
  const connected = await Client.connect({ address, ...handshake }, run.stop);
  if (connected.outcome === "connected") {
    connected.client.end();
    return "accepted";
  }
  return connected.outcome === "status" && connected.status === 403 ? "refused" : "another refusal";
}

/** By how much the server's clock is ahead, as far as it is certain: an object says when it was woken by the question. */
async function aheadMs(run: Run): Promise<number | undefined> {
  const channel = run.channel("clock");
  const askedAtMs = Date.now();
  const answer = await run.call("inspect", { channel });
  const answeredAtMs = Date.now();
  if (answer.outcome !== "result") return undefined;
  const awakeAtMs = numberOf(answer.result, "awake_since_ms");
  if (awakeAtMs === undefined) return undefined;
  if (awakeAtMs < askedAtMs) return awakeAtMs - askedAtMs;
  return Math.max(0, awakeAtMs - answeredAtMs);
}
