/**
 * Converts a configuration of Centrifugo 4, 5 or 6 into one that Dormouse takes, and says of every key what became of
 * it. Whether Dormouse has an option is asked of its own parser, so that both always agree.
 */
import { secretUses } from "../../src/config/secret-uses.ts";
import { parseConfig } from "../../src/config/parse-config.ts";
import { effectOf, unsupportedTopLevelKeys } from "../../src/config/unsupported.ts";
import { isPlaceholder, secretProblems } from "../../src/access/secrets.ts";
import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../src/protocol/wire-value.ts";
import { neededSecrets } from "../configuration/needed-secrets.ts";
import { olderOption } from "./older-options.ts";
import { goBoolean } from "./go-value.ts";
import { optionAt } from "./options.ts";
import { type OutboxProcess, outboxProcess } from "./outbox-process.ts";
import { above, nameIn, type Origins, readByKinds } from "./read-document.ts";
import { parsePath, type Path, pathText, Tree } from "./tree.ts";

/** The outcome of the conversion of a key. */
export interface Row {
  /** The name in the source. */
  readonly key: string;
  /**
   * kept: it is in the configuration. secret: its value is a secret of the Worker. platform: the platform or Dormouse
   * itself does it. absent: Dormouse doesn't have it. decide: Dormouse doesn't have it, and without it clients might be
   * allowed more than before, so it stays, and the configuration is invalid until it is changed.
   */
  readonly outcome: "kept" | "secret" | "platform" | "absent" | "decide";
  /** The place in the configuration or the name of the secret; "" if there is none. */
  readonly becomes: string;
  /** Why, as the rest of a sentence whose subject is the key; "" if it needs no reason. No value is quoted. */
  readonly reason: string;
}

export interface Conversion {
  readonly config: JsonObject;
  readonly secrets: Readonly<Record<string, string>>;
  readonly rows: readonly Row[];
  /** Sentences about what is to be done, such as secrets that are missing or too short. */
  readonly todo: readonly string[];
  /** The processes that publish the tables of outboxes. */
  readonly outboxes: readonly OutboxProcess[];
}

/**
 * Converts a configuration.
 *
 * @param document    the configuration, with the environment's variables in it
 * @param freshSecret makes a secret for what Centrifugo didn't sign
 */
export function convert(
  document: JsonObject,
  freshSecret: () => string,
  origins: Origins = { file: "the configuration", texts: new Map() },
): Conversion {
  const conversion = new Converter(document, origins);
  conversion.takeSecrets();
  conversion.takeSections();
  conversion.takeRefusals();
  return conversion.finish(freshSecret);
}

class Converter {
  readonly #tree: Tree;
  readonly #origins: ReadonlyMap<string, string>;
  /** What isn't of its option's kind, and why, by its path. */
  readonly #bad: ReadonlyMap<string, string>;
  readonly #rows: Row[] = [];
  readonly #secrets: Record<string, string> = {};
  readonly #outboxes: OutboxProcess[] = [];
  /** The paths of keys that stay although the configuration is invalid with them. */
  readonly #undecided = new Set<string>();

  constructor(document: JsonObject, origins: Origins) {
    const { root, names, spent, left, bad } = readByKinds(document, origins);
    this.#tree = new Tree(root);
    this.#origins = names;
    this.#bad = bad;
    for (const key of spent)
      this.#rows.push({ key, outcome: "platform", becomes: "", reason: "has no effect any more" });
    for (const { path, why } of left)
      this.#add(path, why === "default" ? "platform" : "absent", { reason: leftReasons[why] });
  }

  /** Takes secrets out of the configuration. */
  takeSecrets(): void {
    for (const [place, secret] of secretPlaces) {
      const path = parsePath(place);
      const value = this.#tree.get(path);
      if (value === undefined) continue;
      this.#tree.remove(path);
      if (value === "") continue;
      if (typeof value !== "string") this.#add(path, "absent", { reason: lostSecret });
      else if (isPlaceholder(value)) this.#add(path, "absent", { reason: unreplacedSecret });
      else {
        this.#secrets[secret] = value;
        this.#add(path, "secret", { becomes: secret });
      }
    }
  }

  /** Takes out the sections for which Dormouse has nothing, whatever is in them, because they may hold passwords. */
  takeSections(): void {
    for (const [name, value] of Object.entries(this.#tree.root)) {
      const path = [name];
      const renamed = renamedSections.get(name);
      const own = alwaysThere.get(name) ?? (isOn(value) ? replaced.get(name) : undefined);
      if (renamed !== undefined && !this.#bad.has(`${name}.enabled`)) this.#move(path, renamed);
      else if (own !== undefined) this.#drop(path, "platform", own);
      else if (Object.hasOwn(unsupportedTopLevelKeys, name)) this.#takeSection(name, value);
    }
    this.#takeConsumers();
  }

  /** Takes out consumers of queues that Dormouse doesn't read, also those that are off: they may hold passwords. */
  #takeConsumers(): void {
    const consumers = this.#tree.get(["consumers"]) ?? [];
    if (!isJsonArray(consumers)) return;
    for (const [index, consumer] of [...consumers.entries()].toReversed()) {
      const type = isJsonObject(consumer) ? consumer["type"] : undefined;
      if (type === "cloudflare_queue") continue;
      if (isJsonObject(consumer) && type === "postgresql") this.#takeOutbox(index, consumer);
      else
        this.#drop(
          ["consumers", index],
          "absent",
          "isn't a queue of Cloudflare, see docs/queue.md",
        );
    }
    if (this.#tree.get(["consumers", 0]) === undefined) this.#tree.remove(["consumers"]);
  }

  /** A process beside the database does what a consumer of PostgreSQL does. */
  #takeOutbox(index: number, consumer: JsonObject): void {
    const path = ["consumers", index, "postgresql"];
    const { enabled, postgresql = {} } = consumer;
    if (enabled !== true) {
      this.#drop(["consumers", index], "platform", "is off, or a default");
      return;
    }
    for (const option of isJsonObject(postgresql) ? Object.keys(postgresql) : []) {
      const place = [...path, option];
      const problem = this.#bad.get(pathText(place));
      if (optionAt(place) === undefined) this.#drop(place, "absent", "is unknown");
      else if (problem !== undefined) this.#drop(place, "absent", problem);
    }
    const left = this.#tree.get(["consumers", index]) ?? {};
    const others = this.#outboxes.length;
    const file = `.dev.vars.outbox${others === 0 ? "" : `-${others + 1}`}`;
    const place = this.#originOf(`consumers[${index}]`);
    this.#outboxes.push(outboxProcess(isJsonObject(left) ? left : {}, file, place));
    this.#drop(["consumers", index], "platform", "is dormouse outbox here, see docs/outbox.md");
  }

  #takeSection(name: string, value: JsonValue): void {
    const key = unsupportedTopLevelKeys[name];
    const isOff = isJsonObject(value) && goBoolean(value["disabled"] ?? false) !== false;
    // A transport that is off stays to be decided.
    if (key === undefined || (isOff && name === "websocket")) return;
    if (effectOf(value, key) === "none") this.#drop([name], "platform", "is off, or a default");
    else if (storages.has(name)) this.#drop([name], "platform", storages.get(name) ?? "");
    else if (key.because !== undefined) this.#drop([name], "platform", key.because);
    else this.#drop([name], "absent", key.refusal);
  }

  #move(from: Path, to: string): void {
    const value = this.#tree.get([...from, "enabled"]) ?? false;
    this.#tree.remove(from);
    this.#tree.set(parsePath(to), goBoolean(value) === true);
    this.#rows.push({ key: pathText(from), outcome: "kept", becomes: to, reason: "" });
  }

  /** Takes out what the parser refuses, until it refuses nothing that may be left out. */
  takeRefusals(): void {
    for (let round = 0; round < roundsMax; round++) {
      const parsed = parseConfig(this.#decided(), { showsValues: false });
      if (parsed.outcome === "config") {
        for (const note of parsed.notes) this.#takeNote(note);
        return;
      }
      // The last elements of a list first, so that the indices of the others stay true.
      for (const problem of parsed.problems.toReversed()) this.#takeProblem(problem);
    }
  }

  /** The configuration without the keys that are to be decided. */
  #decided(): JsonObject {
    const tree = new Tree(this.#tree.root);
    for (const place of [...this.#undecided].toReversed()) tree.remove(parsePath(place));
    return tree.root;
  }

  #takeProblem(problem: string): void {
    const [, place = "", reason = ""] = /^(\S+) (.+)$/s.exec(problem) ?? [];
    const path = parsePath(place);
    const badPlace = above(place).find((one) => this.#bad.has(one));
    if (badPlace !== undefined) this.#decide(badPlace, this.#bad.get(badPlace) ?? reason);
    else if (this.#tree.get(path) === null) this.#drop(path, "absent", leftReasons["no value"]);
    else if (reason.startsWith("is unknown"))
      this.#drop(path, "absent", olderOption(path) ?? reason);
    else if (this.#restricts(path)) this.#decide(place, reason);
    else this.#drop(path, "absent", reason);
  }

  #decide(place: string, reason: string): void {
    if (this.#undecided.has(place)) return;
    this.#undecided.add(place);
    this.#add(parsePath(place), "decide", { reason });
  }

  /** Whether clients may be allowed more without a key, or without the section that is dropped in its place. */
  #restricts(path: Path): boolean {
    const dropped = this.#tree.nearest(path);
    const below = this.#tree
      .leaves()
      .map(([leaf]) => leaf)
      .filter((leaf) => dropped.length > 0 && dropped.every((key, at) => leaf[at] === key));
    return [path, ...below].some((one) =>
      restricting.test(pathText(one).replaceAll(/\[\d+\]/g, "")),
    );
  }

  #takeNote(note: string): void {
    const [, place = "", reason = ""] = /^(\S+) is ignored: (.+)$/s.exec(note) ?? [];
    if (place !== "") this.#drop(parsePath(place), "platform", reason);
  }

  #drop(path: Path, outcome: Row["outcome"], reason: string): void {
    const found = this.#tree.remove(path);
    if (found !== undefined) this.#add(found, outcome, { reason });
  }

  #add(path: Path, outcome: Row["outcome"], more: Partial<Row>): void {
    const place = pathText(path);
    const key = this.#originOf(place);
    this.#rows.push({ key, outcome, becomes: "", reason: "", ...more });
  }

  /** The name in the source, or the names of which a section was made. */
  #originOf(place: string): string {
    const own = nameIn(this.#origins, place);
    if (own !== undefined) return own;
    const within = [...this.#origins].filter(([path]) => path.startsWith(`${place}.`));
    return within.length === 0 ? place : [...new Set(within.map(([, name]) => name))].join(", ");
  }

  finish(freshSecret: () => string): Conversion {
    const kept = this.#tree
      .leaves()
      .filter(([path]) => !above(pathText(path)).some((one) => this.#undecided.has(one)))
      .map(([path]): Row => {
        const becomes = pathText(path);
        return { key: this.#originOf(becomes), outcome: "kept", becomes, reason: "" };
      });
    const known = new Set(this.#rows.map(({ becomes }) => becomes));
    const rows = [...this.#rows, ...kept.filter(({ becomes }) => !known.has(becomes))];
    const todo = this.#todo(freshSecret);
    const outboxes = this.#outboxes;
    return { config: this.#tree.root, secrets: this.#secrets, rows, todo, outboxes };
  }

  /** Makes the secrets that Centrifugo didn't have, and lists what remains to be done. */
  #todo(freshSecret: () => string): readonly string[] {
    const decide =
      this.#undecided.size === 0
        ? []
        : ["change or delete what is to be decided; the configuration is invalid until then"];
    const parsed = parseConfig(this.#decided(), { showsValues: false });
    if (parsed.outcome === "bad") return decide;
    const hasHooks = this.#tree.leaves().some(([path]) => path.at(-1) === "endpoint");
    if (hasHooks) this.#secrets[hookSecret] = freshSecret();
    const needed = neededSecrets(parsed.config);
    const missing = needed
      .filter((name) => this.#secrets[name] === undefined && !this.#hasOtherKeys(name))
      .map((name) => `add the secret ${name}, which the source doesn't have`);
    const weak = secretProblems(this.#secrets, secretUses(parsed.config), false).map(
      (problem) => `choose another one: ${problem}, and npm run deploy refuses it`,
    );
    const made = hasHooks
      ? [`let the backends verify the signature of hooks: ${hookSecret} is new`]
      : [];
    const headers = this.#tree.leaves().some(([path]) => path.includes("static_headers"))
      ? ["look at static_headers: they are in the configuration, which is no place for a secret"]
      : [];
    return [
      ...decide,
      ...this.#reach(),
      ...missing,
      ...weak,
      ...made,
      ...headers,
      ...this.#console(),
      ...this.#outboxes.flatMap((outbox) => outbox.todo),
    ];
  }

  /** Whether tokens are verified with public keys, although their place is still to be decided. */
  #hasOtherKeys(secret: string): boolean {
    const section = tokenSections.get(secret);
    return this.#tree
      .leaves()
      .some(
        ([[client, kind, key]]) =>
          client === "client" && kind === section && publicKeys.test(String(key)),
      );
  }

  /** How backends without TLS are reached, which the platform can't do by itself. */
  #reach(): readonly string[] {
    const isPrivate = [...this.#undecided].some((place) => {
      const value = this.#tree.get(parsePath(place));
      return typeof value === "string" && /^http:/i.test(value);
    });
    return isPrivate
      ? [
          "give backends at http:// addresses an https one, for example by a tunnel such as cloudflared; under npm run serve name " +
            'them "service:NAME", with --service NAME=HOST:PORT, or set insecure_endpoints',
        ]
      : [];
  }

  #console(): readonly string[] {
    return this.#rows.some(({ reason }) => reason === consoleInstead)
      ? ["set the secret CONSOLE_PASSWORD, with which the console lets you in"]
      : [];
  }
}

/** The reasons of values that say nothing. */
const leftReasons = {
  "no value": "has no value",
  default: "is empty or zero, which stands for the default of Centrifugo",
  unknown: "is unknown",
} as const;

/** Whether a section is switched on, whatever type its switch has. */
function isOn(value: JsonValue): boolean {
  return isJsonObject(value) && goBoolean(value["enabled"] ?? false) === true;
}

const consoleInstead = "is the console here, at /console/, see docs/console.md";

/** Sections for which Dormouse has something of its own. */
const replaced: ReadonlyMap<string, string> = new Map([["admin", consoleInstead]]);

/** The sections of the configuration whose tokens a secret signs. */
const tokenSections: ReadonlyMap<string, string> = new Map([
  ["TOKEN_HMAC_SECRET_KEY", "token"],
  ["SUBSCRIPTION_TOKEN_HMAC_SECRET_KEY", "subscription_token"],
]);

const publicKeys = /^(?:jwks_public_endpoint|.+_public_key|issuers)$/;

const hookSecret = "HOOK_SIGNING_SECRET";

const secretPlaces = [
  ["http_api.key", "API_KEY"],
  ["client.token.hmac_secret_key", "TOKEN_HMAC_SECRET_KEY"],
  ["client.token.hmac_previous_secret_key", "TOKEN_HMAC_PREVIOUS_SECRET_KEY"],
  ["client.subscription_token.hmac_secret_key", "SUBSCRIPTION_TOKEN_HMAC_SECRET_KEY"],
  [
    "client.subscription_token.hmac_previous_secret_key",
    "SUBSCRIPTION_TOKEN_HMAC_PREVIOUS_SECRET_KEY",
  ],
  ["shared_poll.hmac_secret_key", "SHARED_POLL_HMAC_SECRET_KEY"],
  ["shared_poll.hmac_previous_secret_key", "SHARED_POLL_HMAC_PREVIOUS_SECRET_KEY"],
] as const;

/** Sections of Centrifugo PRO that have another place here. */
const renamedSections: ReadonlyMap<string, string> = new Map([
  ["user_status", "client.users.status.enabled"],
]);

/** Sections of Centrifugo PRO for what Dormouse always does. */
const alwaysThere: ReadonlyMap<string, string> = new Map([
  ["user_block", "is always on: block_user and unblock_user"],
  ["token_revoke", "is always on: revoke_token"],
  ["user_tokens_invalidate", "is always on: invalidate_user_tokens"],
]);

/** Sections that choose where Centrifugo stores something. */
const storages: ReadonlyMap<string, string> = new Map([
  ["engine", "isn't needed: each channel's object stores the channel's history"],
  ["broker", "isn't needed: each channel's object stores the channel's history"],
  ["presence_manager", "isn't needed: presence is derived from the open connections"],
]);

/** The reason of a secret that is a placeholder. */
const unreplacedSecret = "is a placeholder, and no secret: give the value that it stands for";

/** The reason of a secret that has no text. */
const lostSecret = "isn't a text: write it in quotes, so that none of its characters is lost";

/** Keys without which clients may be allowed more (rule A21). Indices are left out. */
const restricting = new RegExp(
  [
    String.raw`^client\.(?:token|subscription_token|rate_limit|proxy|subscribe_to_user_personal_channel)\b`,
    String.raw`^client\.(?:disallow_.+|.+_limit|.+_close_delay|queue_max_size|user_id_http_header)$`,
    String.raw`^channel\.(?:proxy\b|(?:max_length|private_prefix|namespace_boundary|user_boundary|user_separator)$)`,
    String.raw`^rpc\.proxy\b|^rpc\..*\bproxy_(?:enabled|name)$`,
    String.raw`^(?:proxies|shared_poll)\b|^(?:http_api|websocket)\.disabled$`,
    String.raw`\.(?:channel_regex|publication_data_format|client_key|max_keys_per_connection)$`,
    String.raw`\.(?:subscribe|publish|remove|sub_refresh|subscribe_stream)_proxy_(?:enabled|name)$`,
  ].join("|"),
);

/** Each round takes out at least one key; a key that depends on another one is refused in the next round. */
const roundsMax = 20;
