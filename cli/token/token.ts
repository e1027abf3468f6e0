import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import {
  isSecretAlgorithm,
  parseTokenAlgorithm,
  type TokenAlgorithm,
} from "../../src/access/keys.ts";
import { secretsIn } from "../../src/access/secrets.ts";
import type { Config, TokenConfig } from "../../src/config/config.ts";
import { secretUses } from "../../src/config/secret-uses.ts";
import { parseJsonText } from "../../src/protocol/json/text.ts";
import { jsonValue, type JsonObject, type JsonValue } from "../../src/protocol/wire-value.ts";
import { readText } from "../configuration/document.ts";
import { TokenVerifier } from "../../workers/platform/token-verifier.ts";
import {
  neededSecret,
  type SecretOptions,
  secretsOf,
  withSecrets,
} from "../connection/settings.ts";
import { exitCodes, paintOf, refusal, type Shell, usageFailure } from "../shell.ts";
import { shown } from "../text/printable.ts";
import { table } from "../text/table.ts";
import { explainedClaims, readToken, requestedClaims } from "./token-claims.ts";
import { signToken, type SigningKey } from "./token-signer.ts";
import { durationSeconds, json, pair, wholeNumber } from "../text/values.ts";
import { checkedConfig, type ConfigOptions, withConfig } from "../configuration/worker-config.ts";

interface TokenOptions extends SecretOptions, ConfigOptions {
  readonly channel?: string;
  readonly ttl?: number;
  readonly expireAt?: number;
  readonly notBefore?: number;
  readonly info?: JsonValue;
  readonly meta?: JsonValue;
  readonly data?: JsonValue;
  readonly channels?: readonly string[];
  readonly subs?: JsonValue;
  readonly caps?: JsonValue;
  readonly override?: Readonly<Record<string, string>>;
  readonly filter?: JsonValue;
  readonly client?: string;
  readonly issuer?: string;
  readonly audience?: string;
  readonly jti?: string | true;
  readonly claim?: Readonly<Record<string, string>>;
  readonly algorithm: TokenAlgorithm;
  readonly key?: string;
  readonly keyId?: string;
  readonly check?: string;
  readonly json?: boolean;
}

/** `dormouse token`: signs a connection token or a subscription token, or says why one is good or bad. */
export function tokenCommand(shell: Shell): Command {
  const command = new Command("token")
    .description("sign a connection token, or a subscription token with --channel; or explain one")
    .argument("[user]", "the user's ID; without one, the token is anonymous")
    .option("--channel <name>", "make a subscription token for this channel")
    .option(
      "--ttl <duration>",
      "how long it is valid: 90s, 24h, 0 for ever (default: 7d)",
      durationSeconds,
    )
    .option(
      "--expire-at <seconds>",
      "the end of the connection or subscription, since 1970; 0 for none",
      wholeNumber(0),
    )
    .option("--not-before <seconds>", "the time from which it is valid, since 1970", wholeNumber(0))
    .option("--info <json>", "shown to other clients", json)
    .option("--meta <json>", "kept on the server for hooks", json)
    .option("--data <json>", "returned to the subscriber (with --channel)", json)
    .option("--channels <names...>", "server-side subscriptions")
    .option("--subs <json>", "server-side subscriptions with options", json)
    .option(
      "--caps <json>",
      'capabilities, such as \'[{"channels":["news"],"allow":["sub"]}]\'',
      json,
    )
    .option("--override <name=boolean>", "a namespace option (with --channel); repeatable", pair)
    .option("--filter <json>", "server_tags_filter (with --channel)", json)
    .option("--client <id>", "the only connection that may use it (with --channel)")
    .option("--issuer <name>", "the claim iss; chooses the key if the configuration has issuers")
    .option("--audience <name>", "the claim aud")
    .option("--jti [id]", "a name by which it can be revoked; random if none is given")
    .option("--claim <name=json>", "any other claim; repeatable", pair)
    .option("--algorithm <name>", "HS256, RS256, ES256, EdDSA and so on", algorithm, "HS256")
    .option("--key <file>", "the private key (PKCS #8 in PEM), unless the algorithm is an HMAC")
    .option("--key-id <id>", "the kid of the key in a JWKS")
    .option("--check <token>", "explain this token instead; - reads it from the standard input");
  return withConfig(withSecrets(command))
    .option("--json", "print the token with its claims, or the explanation, as JSON")
    .addHelpText(
      "after",
      `
The secret is TOKEN_HMAC_SECRET_KEY (SUBSCRIPTION_TOKEN_HMAC_SECRET_KEY where subscription tokens have keys of their
own), from the environment or from .dev.vars. Claims that the server would refuse aren't signed.

Examples:
  dormouse token ada
  dormouse token ada --ttl 1h --info '{"name":"Ada"}' --channels news
  dormouse token ada --channel '$room:1' --override presence=true
  dormouse token ada --algorithm ES256 --key private.pem --key-id 2026
  dormouse token ada | dormouse token --check -`,
    )
    .action(async (user: string | undefined, options: TokenOptions) => {
      if (options.check === undefined && readToken(user ?? "") !== undefined)
        throw usageFailure("that is a token, not a user's ID: explain it with --check");
      if (options.check === undefined) await sign(user ?? "", options, shell);
      else await explain(options.check, options, shell);
    });
}

function algorithm(name: string): TokenAlgorithm {
  const known = parseTokenAlgorithm(name);
  if (known === undefined)
    throw new InvalidArgumentError("It takes HS, RS or ES with 256, 384 or 512, or EdDSA.");
  return known;
}

async function sign(user: string, options: TokenOptions, shell: Shell): Promise<void> {
  const config = checkedConfig(options, shell);
  const isSubscription = options.channel !== undefined;
  const rules = rulesOf(config, isSubscription);
  const issued = rules.issuers.find(({ issuer }) => issuer === options.issuer);
  if (issued === undefined && rules.issuers.length > 0)
    throw usageFailure("the configuration has issuers: name one of them with --issuer");
  const applied = issued ?? rules;
  const request = {
    user,
    userIdClaim: applied.userIdClaim,
    nowSeconds: Math.floor(shell.nowMs() / 1_000),
    ttlSeconds: options.ttl ?? 7 * 86_400,
    ...(options.channel !== undefined && { channel: options.channel }),
    others: otherClaims(options),
  };
  const requested = requestedClaims(request, applied);
  if (requested.outcome === "refused")
    throw refusal(`the server would refuse this token: ${requested.reason}`);
  const secretName = issued?.hmacSecret ?? secretNameOf(config, isSubscription);
  const token = await signed(requested.claims, signingKey(secretName, options, shell));
  if (options.json === true) shell.print(JSON.stringify({ token, claims: requested.claims }));
  else shell.print(token);
}

function otherClaims(options: TokenOptions): Readonly<Record<string, JsonValue | undefined>> {
  const { override, claim = {}, jti } = options;
  const flags = Object.entries(override ?? {}).map(([name, value]) => {
    if (value !== "true" && value !== "false")
      throw usageFailure("--override takes NAME=true or NAME=false");
    return [name, { value: value === "true" }] as const;
  });
  return {
    expire_at: options.expireAt,
    nbf: options.notBefore,
    info: options.info,
    meta: options.meta,
    data: options.data,
    channels: options.channels,
    subs: options.subs,
    caps: options.caps,
    override: override === undefined ? undefined : Object.fromEntries(flags),
    server_tags_filter: options.filter,
    client: options.client,
    iss: options.issuer,
    aud: options.audience,
    jti: jti === true ? randomUUID() : jti,
    ...Object.fromEntries(Object.entries(claim).map(([name, text]) => [name, claimValue(text)])),
  };
}

function claimValue(text: string): JsonValue {
  if (parseJsonText(text) === undefined)
    throw usageFailure("--claim takes NAME=JSON; a text needs double quotes");
  return jsonValue(text);
}

function signingKey(secretName: string, options: TokenOptions, shell: Shell): SigningKey {
  const id = options.keyId === undefined ? {} : { id: options.keyId };
  if (isSecretAlgorithm(options.algorithm))
    return {
      algorithm: options.algorithm,
      key: neededSecret(secretName, options, shell),
      ...id,
    };
  if (options.key === undefined)
    throw usageFailure(
      `${options.algorithm} is signed with a private key: name its file with --key`,
    );
  return {
    algorithm: options.algorithm,
    key: readText(resolve(shell.folder, options.key), options.key),
    ...id,
  };
}

/** Signs claims. What the library says of a key could quote it. */
async function signed(claims: Parameters<typeof signToken>[0], key: SigningKey): Promise<string> {
  try {
    return await signToken(claims, key);
  } catch {
    throw usageFailure(`--key isn't a private key for ${key.algorithm} as PKCS #8 in PEM`);
  }
}

/** Prints whether the server would accept a token, and each claim with its meaning. */
async function explain(given: string, options: TokenOptions, shell: Shell): Promise<void> {
  const token = (given === "-" ? await shell.input() : given).trim();
  const config = checkedConfig(options, shell);
  const read = readToken(token);
  if (read === undefined) throw refusal("this isn't a token: it needs three parts in base64url");
  const isSubscription = read.claims["channel"] !== undefined;
  const nowMs = shell.nowMs();
  const verifier = verifierOf(config, options, shell);
  const { issuers } = rulesOf(config, isSubscription);
  const isHmac = isSecretAlgorithm(shown(read.header["alg"]));
  if (isHmac && issuers.length === 0)
    neededSecret(secretNameOf(config, isSubscription), options, shell);
  const verdict = isSubscription
    ? await verifier.subscription(token, nowMs)
    : await verifier.connection(token, nowMs);
  const reason =
    verdict.outcome === "verified" || verdict.outcome === "unavailable"
      ? undefined
      : verdict.reason;
  const { userIdClaim } = rulesOf(config, isSubscription);
  const claims = explainedClaims(read.claims, userIdClaim, Math.floor(nowMs / 1_000));
  if (verdict.outcome !== "verified") process.exitCode = exitCodes.refused;
  const kind = isSubscription ? "subscription token" : "connection token";
  if (options.json === true) {
    const { header } = read;
    shell.print(
      JSON.stringify({ kind, verdict: verdict.outcome, reason, header, claims: read.claims }),
    );
    return;
  }
  const paint = paintOf(shell);
  const words = {
    verified: paint.good("The server accepts this"),
    expired: paint.bad("The server refuses, as expired, this"),
    invalid: paint.bad("The server refuses, as invalid, this"),
    unavailable: paint.caution("The keys can't be fetched or used now for this"),
  };
  shell.print(`${words[verdict.outcome]} ${kind}${reason === undefined ? "." : `: ${reason}.`}`);
  if (isSubscription) shell.print(boundTo(read.claims, userIdClaim));
  shell.print(`Signed with ${shown(read.header["alg"])}.\n`);
  shell.print(
    table(
      claims.map(([name, value, meaning]) => [shown(name), shown(value), paint.faint(meaning)]),
    ),
  );
}

/** For whom a subscription token is: the server closes the connection of anybody else who sends it (rule A4). */
function boundTo(claims: JsonObject, userIdClaim: string): string {
  const { [userIdClaim]: user = "", channel, client = "" } = claims;
  const whom = user === "" ? "clients without a user" : `user ${shown(user)}`;
  const only = client === "" ? "" : `, client ${shown(client)},`;
  return `Only for ${whom}${only} and channel ${shown(channel)}.`;
}

function rulesOf({ client }: Config, isSubscription: boolean): TokenConfig {
  return isSubscription ? (client.subscriptionToken ?? client.token) : client.token;
}

function secretNameOf({ client }: Config, isSubscription: boolean): string {
  const ownSecret = isSubscription && client.subscriptionToken !== undefined;
  return `${ownSecret ? "SUBSCRIPTION_" : ""}TOKEN_HMAC_SECRET_KEY`;
}

function verifierOf(config: Config, options: SecretOptions, shell: Shell): TokenVerifier {
  const find = secretsOf(options, shell);
  const uses = secretUses(config);
  const all = secretsIn(Object.fromEntries(uses.map(({ name }) => [name, find(name)])), uses);
  const pairOf = (kind: string) => ({
    name: `${kind}_HMAC_SECRET_KEY`,
    current: all[`${kind}_HMAC_SECRET_KEY`] ?? "",
    previous: all[`${kind}_HMAC_PREVIOUS_SECRET_KEY`] ?? "",
  });
  return new TokenVerifier(
    config.client,
    { token: pairOf("TOKEN"), subscriptionToken: pairOf("SUBSCRIPTION_TOKEN"), issuers: all },
    true,
  );
}
