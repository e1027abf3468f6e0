/** Converts a server of the Pusher protocol into a configuration with a section `pusher`. */
import { isPlaceholder, secretProblems } from "../../../src/access/secrets.ts";
import { parseConfig } from "../../../src/config/parse-config.ts";
import { secretUses } from "../../../src/config/secret-uses.ts";
import type { JsonObject, JsonValue } from "../../../src/protocol/wire-value.ts";
import { neededSecrets } from "../../configuration/needed-secrets.ts";
import type { Conversion, Row } from "../conversion.ts";
import { parsePath, Tree } from "../tree.ts";
import { type FoundApp, type FoundServer, rowWithout } from "./found-server.ts";

/** @param freshSecret makes the secrets that the other server had no use for */
export function convertServer(found: FoundServer, freshSecret: () => string): Conversion {
  const tree = new Tree();
  const rows: Row[] = [...found.rows];
  const secrets: Record<string, string> = {};
  const todo = [...found.todo, address];
  for (const [index, app] of found.apps.entries()) {
    const suffix = found.apps.length === 1 ? "" : `${index + 1}`;
    const namespace = `app${suffix}`;
    tree.set(["channel", "namespaces", index], { ...likeOthers, name: namespace });
    const place = ["pusher", "apps", index] as const;
    const name = `PUSHER_SECRET_APP${suffix}`;
    const section: Record<string, JsonValue> = { id: app.id.value, key: app.key.value };
    for (const { option, value } of app.options) section[option] = value;
    tree.set(place, { ...section, secret: name, namespace });
    rows.push(...keptOf(app, index), ...app.rows);
    if (app.secret.value === "") todo.push(`add the secret ${name}, which the source doesn't have`);
    else if (isPlaceholder(app.secret.value))
      rows.push(rowWithout(app.secret.from, "absent", "is a placeholder, and no secret"));
    else {
      secrets[name] = app.secret.value;
      rows.push({ key: app.secret.from, outcome: "secret", becomes: name, reason: "" });
    }
  }
  todo.push(...admitPages(found.apps, tree, rows));
  const refused = takeRefusals(tree, rows);
  for (const name of ["API_KEY", "TOKEN_HMAC_SECRET_KEY"]) secrets[name] = freshSecret();
  return {
    config: tree.root,
    secrets,
    rows: rows.map((row) => refused.get(row.becomes) ?? row),
    todo: [...todo, ...weaknesses(tree.root, secrets)],
    outboxes: [],
  };
}

/** What a namespace needs for all that Pusher's channels do: the newest events for cache channels, for 30 minutes as there. */
const likeOthers = { presence: true, history_size: 10, history_ttl: "30m" };

const address =
  "give the application and its pages the new address: https, port 443, and the Worker's host (docs/coming-from-pusher.md)";

function keptOf({ id, key, options }: FoundApp, index: number): readonly Row[] {
  const named = [{ from: id.from, option: "id" }, { from: key.from, option: "key" }, ...options];
  return named.map(({ from, option }) => {
    const becomes = `pusher.apps[${index}].${option}`;
    return { key: from, outcome: "kept", becomes, reason: "" };
  });
}

/** Sets the origins of pages, which are those of all applications. @returns what a person should look at */
function admitPages(apps: readonly FoundApp[], tree: Tree, rows: Row[]): readonly string[] {
  const all = apps.flatMap(({ hosts }) => hosts?.value ?? ["*"]);
  const origins = [...new Set(all)].map((host) => (host === "*" ? "*" : `https://${host}`));
  tree.set(["client", "allowed_origins"], origins);
  const becomes = "client.allowed_origins";
  for (const { hosts } of apps)
    if (hosts !== undefined) rows.push({ key: hosts.from, outcome: "kept", becomes, reason: "" });
  return [
    ...(origins.includes("*")
      ? [`name the origins of your pages in ${becomes}: every page may connect, as before`]
      : []),
    ...(apps.length > 1 && origins.length > 1
      ? [`look at ${becomes}: it is one list for all applications`]
      : []),
  ];
}

/** Takes out what an application can do without, and the parser refuses; the rest is to be decided. */
function takeRefusals(tree: Tree, rows: readonly Row[]): ReadonlyMap<string, Row> {
  const refused = new Map<string, Row>();
  for (let round = 0; round < roundsMax; round++) {
    const parsed = parseConfig(tree.root, { showsValues: false });
    if (parsed.outcome === "config") return refused;
    const before = refused.size;
    for (const problem of parsed.problems.toReversed()) {
      const [, place = "", reason = ""] = /^(\S+) (.+)$/s.exec(problem) ?? [];
      const [option = place] = /^pusher\.apps\[\d+\]\.\w+/.exec(place) ?? [];
      const row = rows.find(({ becomes }) => becomes === option);
      const outcome = /\.(?:id|key|secret|namespace)$/.test(option) ? "decide" : "absent";
      if (outcome === "absent") tree.remove(parsePath(option));
      const key = row?.key ?? place;
      refused.set(option, { key, outcome, becomes: "", reason });
    }
    if (refused.size === before) break;
  }
  return refused;
}

/** Each round takes out an option of an application. */
const roundsMax = 5;

function weaknesses(config: JsonObject, secrets: Readonly<Record<string, string>>) {
  const parsed = parseConfig(config, { showsValues: false });
  if (parsed.outcome === "bad")
    return ["change what is to be decided; the configuration is invalid until then"];
  const missing = neededSecrets(parsed.config).filter((name) => secrets[name] === undefined);
  return [
    ...missing
      .filter((name) => !name.startsWith("PUSHER_SECRET"))
      .map((name) => `add the secret ${name}`),
    ...secretProblems(secrets, secretUses(parsed.config), false)
      .filter((problem) => !missing.some((name) => problem.startsWith(name)))
      .map((problem) => `choose another one: ${problem}, and npm run deploy refuses it`),
  ];
}
