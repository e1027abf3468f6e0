/** Reads the sentences of options: the comments above their rows, which are no part of the Worker. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as apiKeys from "../../src/config/http-api-options.ts";
import * as channels from "../../src/config/channel-options.ts";
import * as clients from "../../src/config/client-options.ts";
import * as configurationParser from "../../src/config/parse-config.ts";
import * as placement from "../../src/config/placement.ts";
import * as rates from "../../src/config/rate-limit.ts";
import * as tokens from "../../src/config/token-options.ts";
import * as transports from "../../src/config/transports.ts";
import * as consoles from "../../src/features/console/config.ts";
import * as changes from "../../src/features/changes/config.ts";
import * as cursors from "../../src/features/cursors/config.ts";
import * as events from "../../src/features/events/config.ts";
import * as backends from "../../src/features/hooks/backends.ts";
import * as hooks from "../../src/features/hooks/config.ts";
import * as maps from "../../src/features/maps/config.ts";
import * as metrics from "../../src/features/metrics/config.ts";
import * as whole from "../../src/features/options.ts";
import * as presence from "../../src/features/presence/config.ts";
import * as pushers from "../../src/features/pusher/config.ts";
import * as procedures from "../../src/features/procedures/config.ts";
import * as queues from "../../src/features/queues/config.ts";
import * as polls from "../../src/features/shared-polls/config.ts";
import { packageRoot } from "../package-root.ts";

/** The parts of the comment above an option's row. */
export interface Sentence {
  /** One line of Markdown, whose links lead from `docs`. */
  readonly text: string;
  /** The text for the default in tables, where the default isn't a value. */
  readonly default?: string;
  /** The difference from Centrifugo, beside that of the bounds. */
  readonly differs?: string;
}

const files: Readonly<Record<string, object>> = {
  "src/config/http-api-options.ts": apiKeys,
  "src/config/channel-options.ts": channels,
  "src/config/client-options.ts": clients,
  "src/config/parse-config.ts": configurationParser,
  "src/config/placement.ts": placement,
  "src/config/rate-limit.ts": rates,
  "src/config/token-options.ts": tokens,
  "src/config/transports.ts": transports,
  "src/features/console/config.ts": consoles,
  "src/features/changes/config.ts": changes,
  "src/features/cursors/config.ts": cursors,
  "src/features/events/config.ts": events,
  "src/features/hooks/backends.ts": backends,
  "src/features/hooks/config.ts": hooks,
  "src/features/maps/config.ts": maps,
  "src/features/metrics/config.ts": metrics,
  "src/features/options.ts": whole,
  "src/features/presence/config.ts": presence,
  "src/features/pusher/config.ts": pushers,
  "src/features/procedures/config.ts": procedures,
  "src/features/queues/config.ts": queues,
  "src/features/shared-polls/config.ts": polls,
};

/** The sentences of all options, by their rows. */
export function sentences(): ReadonlyMap<object, Sentence> {
  const found = new Map<object, Sentence>();
  for (const [file, exported] of Object.entries(files)) {
    const source = readFileSync(join(packageRoot, file), "utf8");
    for (const [, table = "", body = ""] of source.matchAll(tables))
      for (const [path, sentence] of sentencesIn(body)) {
        const row = at(exported, [table, ...path]);
        if (row === undefined) throw new Error(`${file} doesn't export ${table}`);
        found.set(row, sentence);
      }
  }
  return found;
}

/** A table of rows, as it is formatted. */
const tables = /^(?:export )?const (\w+) = \{\n((?: .*\n|\n)*)\} as const satisfies Options;/gm;

/** The commented keys of a table, each as the path of keys above it. */
function sentencesIn(body: string): readonly (readonly [readonly string[], Sentence])[] {
  const found: (readonly [readonly string[], Sentence])[] = [];
  const above: { readonly indent: number; readonly key: string }[] = [];
  for (const [, comment, space = "", key = ""] of body.matchAll(commentedKeys)) {
    while ((above.at(-1)?.indent ?? -1) >= space.length) above.pop();
    above.push({ indent: space.length, key });
    if (comment !== undefined) found.push([above.map((one) => one.key), parseSentence(comment)]);
  }
  return found;
}

/** A key at the begin of a line, with the comment above it if there is one. */
const commentedKeys = /(?:\/\*\*((?:[^*]|\*(?!\/))*)\*\/\s*?\n)?^( +)(\w+): /gm;

function parseSentence(comment: string): Sentence {
  const [text = "", ...tags] = comment
    .replaceAll(/^\s*\* ?/gm, "")
    .replaceAll(/\s+/g, " ")
    .trim()
    .split(/ ?@(?=default |differs )/);
  const said = new Map(tags.map((tag) => [tag.slice(0, 7), tag.slice(8).trim()]));
  const [byDefault, differs] = [said.get("default"), said.get("differs")];
  return {
    text: text.replaceAll(/ \(rules? [^)]*\)/g, "").trim(),
    ...(byDefault !== undefined && { default: byDefault }),
    ...(differs !== undefined && { differs }),
  };
}

/** The object at a path of keys. */
function at(from: object, path: readonly string[]): object | undefined {
  let found: object = from;
  for (const key of path) {
    const next = Object.entries(found).find(([name]) => name === key)?.[1];
    if (typeof next !== "object" || next === null) return undefined;
    found = next;
  }
  return found;
}
