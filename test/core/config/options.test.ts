import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { configDeclaration } from "../../../cli/options/config-declaration.ts";
import { configSchema, type OptionSchema } from "../../../cli/options/config-schema.ts";
import { optionFiles } from "../../../cli/options/options.ts";
import { rowsOf, tables } from "../../../cli/options/tables.ts";
import { below, placedOptions, type PlacedOption } from "../../../cli/options/tree.ts";
import { described } from "../../../cli/options/words.ts";
import { defineConfig } from "../../../package/config.ts";
import type { Option, Options } from "../../../src/config/option.ts";
import { parseConfig } from "../../../src/config/parse-config.ts";
import { configuration, type DormouseConfig } from "../../../src/features/options.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../src/protocol/wire-value.ts";

interface Place extends PlacedOption {
  /** Its path; a list has `[0]` behind its name. */
  readonly path: string;
  readonly above: string;
}

function placesIn(options: Options, above: string, isOwn: boolean): readonly Place[] {
  return placedOptions(options, isOwn).flatMap((placed) => {
    const path = above === "" ? placed.name : `${above}.${placed.name}`;
    const inside = below(placed.option);
    const at = placed.option.is === "sections" ? `${path}[0]` : path;
    const deeper = inside === undefined ? [] : placesIn(inside, at, placed.isOwn);
    const place: readonly Place[] = [Object.assign({ path, above }, placed)];
    return place.concat(deeper);
  });
}

const places = placesIn(configuration, "", false);

/** What has to stand in a section, so that an option below it is read; by a pattern of its path. */
const contexts: readonly (readonly [RegExp, JsonObject])[] = [
  [/^channel\.(without_namespace|namespaces\[0\])\.map\b/, { subscription_type: "map" }],
  [
    /^channel\.(without_namespace|namespaces\[0\])\.shared_poll\b/,
    { subscription_type: "shared_poll" },
  ],
  [/^consumers\[0\]\./, { type: "cloudflare_queue" }],
];

/** A configuration with one value at a path. */
function documentWith(path: string, value: JsonValue): JsonObject {
  const context = contexts.find(([shape]) => shape.test(path))?.[1] ?? {};
  const [first = "", ...rest] = path.split(".");
  const build = (
    [name = "", ...others]: readonly string[],
    given: JsonValue,
    at: string,
  ): JsonObject => {
    const isContext = /^(channel\.(without_namespace|namespaces\[0\])|consumers\[0\])$/.test(at);
    const inner =
      others.length === 0 ? given : build(others, given, at === "" ? name : `${at}.${name}`);
    const list = name.endsWith("[0]");
    return { ...(isContext && context), [list ? name.slice(0, -3) : name]: list ? [inner] : inner };
  };
  return build([first, ...rest], value, "");
}

/** The problems about the option at a path with a value; the title of a list's element is left out. */
function problemsAt(path: string, value: JsonValue): readonly string[] {
  const parsed = parseConfig(documentWith(path, value), { development: true, selfHosted: true });
  const problems = parsed.outcome === "bad" ? parsed.problems : [];
  return problems
    .map((problem) => problem.replaceAll(/\[0\] \("[^"]*"\)/g, "[0]"))
    .filter((problem) => problem.startsWith(path))
    .map((problem) => problem.slice(path.length));
}

/** Options whose effect needs others, by patterns of their paths. */
const effects: readonly (readonly [RegExp, JsonObject])[] = [
  [
    /^channel\.without_namespace\.map\./,
    { channel: { without_namespace: { subscription_type: "map", map: { mode: "persistent" } } } },
  ],
  [
    /^channel\.without_namespace\.shared_poll\./,
    {
      channel: {
        proxy: { shared_poll_refresh: { endpoint: "service:A" } },
        without_namespace: { subscription_type: "shared_poll" },
      },
    },
  ],
  [
    /^channel\.without_namespace\.cursors\.(?!enabled|notify_)/,
    {
      channel: {
        without_namespace: { history_size: 1, history_ttl: "1h", cursors: { enabled: true } },
      },
    },
  ],
  [
    /^channel\.without_namespace\.cursors\.notify_/,
    {
      events: { target: "queue:E", types: ["unseen"] },
      channel: {
        without_namespace: {
          history_size: 1,
          history_ttl: "1h",
          cursors: { enabled: true, audience: "named", notify_after: "30s" },
        },
      },
    },
  ],
  [/^events\./, { events: { target: "queue:E", types: ["publication"] } }],
  [/^client\.proxy\.connect\.at/, { client: { proxy: { connect: { enabled: false } } } }],
];

/** The options of backends, and the rates of commands, which are read in lists only or have an effect with others. */
const isOfBackend =
  /\bproxy\.(?!connect\.at)|rate_limit|^console\.enabled|notify_after|\.map\.(key_ttl|mode)/;

/** A default as it may be written, and another value; undefined where a kind has no other one that is always right. */
function valuesOf(option: Option): readonly [JsonValue, JsonValue | undefined] {
  switch (option.is) {
    case "boolean":
      return [option.default ?? false, option.default !== true];
    case "whole":
      return [
        option.default,
        Math.min(option.default + 1, option.max ?? Infinity) -
          (option.default === option.max ? 1 : 0),
      ];
    case "duration":
      return [
        `${option.default ?? 0}ms`,
        `${Math.max((option.default ?? 0) + 2_000, option.min ?? 0)}ms`,
      ];
    case "choice":
      return [option.of[0], option.of.at(-1)];
    case "text":
    case "texts":
    case "map":
    case "filter":
    case "section":
    case "sections":
      return ["", undefined];
  }
}

/** A configuration with another one in it. */
function merged(one: JsonObject, other: JsonObject): JsonObject {
  const all: Record<string, JsonValue> = { ...one };
  for (const [name, value] of Object.entries(other)) {
    const known = all[name];
    const areObjects = known !== undefined && isJsonObject(known) && isJsonObject(value);
    all[name] = areObjects ? merged(known, value) : value;
  }
  return all;
}

const aDuration = 'a duration such as "25s" or "1h30m" (units: h, m, s, ms)';

/** What is expected of each kind, in the words of a problem. */
function expectedOf(option: Option): string {
  switch (option.is) {
    case "boolean":
      return "true or false";
    case "whole":
      return `a whole number ${option.max === undefined ? `of at least ${option.min}` : `from ${option.min} to ${option.max}`}`;
    case "duration":
      return aDuration;
    case "text":
      return "a string";
    case "choice":
      return `one of ${option.of.map((one) => JSON.stringify(one)).join(", ")}`;
    case "texts":
      return "an array of strings";
    case "map":
      return "an object of strings";
    case "filter":
      return "a tags filter";
    case "section":
      return "an object";
    case "sections":
      return "an array of objects";
  }
}

/** Values of the right type that an option refuses, each with the words of the problem. */
function wrongValues(option: Option): readonly (readonly [string | number, string])[] {
  switch (option.is) {
    case "whole": {
      const { min, max } = option;
      const values = [min - 1, min + 0.5, 2 ** 53, ...(max === undefined ? [] : [max + 1])];
      return values.map((value) => [value, `not ${expectedOf(option)}`]);
    }
    case "duration": {
      const { min = 0, max } = option;
      const wrong = ["", "25", "-1s", "1d", "0.5ms", "99999999h"];
      return [
        ...wrong.map((text) => [text, `not ${aDuration}`] as const),
        ...(min > 0 ? [[`${min - 1}ms`, `shorter than ${min / 1_000}s`] as const] : []),
        ...(max === undefined ? [] : [[`${max + 1}ms`, `longer than ${max / 1_000}s`] as const]),
      ];
    }
    case "choice":
      return [["?", `not ${expectedOf(option)}`]];
    case "boolean":
    case "text":
    case "texts":
    case "map":
    case "filter":
    case "section":
    case "sections":
      return [];
  }
}

const types: readonly (readonly [JsonValue, string])[] = [
  [null, "null"],
  [true, "a boolean"],
  [5, "a number"],
  ["?", "a string"],
  [[1], "an array"],
  [{ a: 1 }, "an object"],
];

/** The types that a kind's values have. */
const typeOf: Readonly<Record<Option["is"], string>> = {
  boolean: "a boolean",
  whole: "a number",
  duration: "a string",
  text: "a string",
  choice: "a string",
  texts: "an array",
  map: "an object",
  filter: "an object",
  section: "an object",
  sections: "an array",
};

/** How a problem quotes a value, unless the name of its option suggests a secret (rule A7). */
function quoted(path: string, value: string | number): string {
  const name = path.split(".").at(-1) ?? "";
  return /key|secret|token|password/.test(name) ? "" : `: ${JSON.stringify(value)}`;
}

describe("[A8] an option of the configuration", () => {
  it("has a sentence, which says all that an editor shows of it", () => {
    expect(places.length).toBeGreaterThan(600);
    for (const { option, said, isOwn } of places) {
      expect(said.text).toMatch(/^[A-Z`"[].+\.$/);
      expect(described(option, said, isOwn)).not.toMatch(/\]\(|\brule [A-Z]/);
    }
  });

  it("refuses every value of another type, and says what it takes", () => {
    for (const { path, option } of places)
      for (const [value, found] of types) {
        if (found === typeOf[option.is]) continue;
        const expected = ` must be ${expectedOf(option)}, found ${found}`;
        expect([path, problemsAt(path, value)]).toEqual([path, expect.arrayContaining([expected])]);
      }
  });

  it("has bounds that its default keeps", () => {
    const beyond = places.filter(({ option }) => {
      if (option.is !== "whole" && option.is !== "duration") return false;
      const { default: byDefault = 0, min = 0, max = byDefault } = option;
      const isNone = option.is === "duration" && byDefault === 0;
      return !isNone && (byDefault < min || byDefault > max);
    });
    expect(beyond).toEqual([]);
  });

  it("refuses the nearest values beyond its bounds, and what isn't in its form", () => {
    for (const { path, option } of places)
      for (const [value, words] of wrongValues(option))
        expect([path, problemsAt(path, value)]).toEqual([
          path,
          expect.arrayContaining([`${quoted(path, value)} is ${words}`]),
        ]);
  });

  it("has in its field what is written, and its default where nothing is", () => {
    const alone = places.filter(({ path }) => !path.includes("[0]") && !isOfBackend.test(path));
    const silent: string[] = [];
    for (const { path, option } of alone) {
      const [byDefault, other] = valuesOf(option);
      if (other === undefined) continue;
      const context = effects.find(([shape]) => shape.test(path))?.[1] ?? {};
      const read = (value?: JsonValue) =>
        parseConfig(merged(context, value === undefined ? {} : documentWith(path, value)), {
          development: true,
          selfHosted: true,
        });
      expect([path, read(byDefault)]).toEqual([path, read()]);
      if (JSON.stringify(read(other)) === JSON.stringify(read())) silent.push(path);
    }
    expect(silent).toEqual([]);
    expect(alone.length).toBeGreaterThan(190);
  });

  it("is named to whoever misspells it", () => {
    for (const { path, name, above } of places) {
      if (name.length < 4) continue;
      const misspelt = `${name}q`;
      const shown = above === "" ? misspelt : `${above}.${misspelt}`;
      const problems = problemsAt(shown, true);
      const expected = /^ is unknown; did you mean (\w+)\?$|^ is a name of Centrifugo 5/;
      expect([path, problems]).toEqual([
        path,
        expect.arrayContaining([expect.stringMatching(expected)]),
      ]);
    }
  });

  it("is in the editors' schema with its kind and its description, and in the package's types", () => {
    const { config, shared } = configSchema();
    const lookIn = (schema: OptionSchema | undefined): OptionSchema | undefined => {
      const one = schema?.items ?? schema;
      const reference = /"#\/definitions\/(\w+)"/.exec(JSON.stringify(one?.allOf ?? []))?.[1];
      return reference === undefined || one?.properties !== undefined ? one : shared[reference];
    };
    for (const { path } of places) {
      let found: OptionSchema | undefined = config;
      for (const name of path.split("."))
        found = lookIn(found)?.properties?.[name.replace("[0]", "")];
      expect([path, found?.description ?? ""]).toEqual([path, expect.stringMatching(/\.$/)]);
    }
    const declaration = configDeclaration();
    for (const { name } of places) expect(declaration).toContain(`readonly ${name}?: `);
    expect(declaration).toMatch(/Default: "25s"\. \*\/\nreadonly ping_interval\?: string;/);
  });

  it("is in a table of the documents, unless it is a backend's or a rate's in another place", () => {
    const shown = new Set(
      Object.values(tables)
        .flatMap((table) => rowsOf(table))
        .map(({ option }) => option),
    );
    const missing = places.filter(
      ({ option }) => below(option) === undefined && !shown.has(option),
    );
    expect(new Set(missing.map(({ path }) => path))).toEqual(new Set());
  });
});

it.each([...optionFiles()])("%s is what npm run options writes", (file, text) => {
  expect(readFileSync(file, "utf8")).toBe(text);
});

it("defineConfig takes what the configuration has, and a key that nobody knows is an error of the compiler", () => {
  const config: DormouseConfig = { channel: { without_namespace: { history_size: 3 } } };
  expect(defineConfig(config)).toBe(config);
  // @ts-expect-error -- misspelt
  defineConfig({ channel: { without_namespace: { history_sise: 3 } } });
  // @ts-expect-error -- misspelt in a list
  defineConfig({ channel: { namespaces: [{ name: "chat", precense: true }] } });
  // @ts-expect-error -- another type
  defineConfig({ client: { ping_interval: 25 } });
  // @ts-expect-error -- no choice
  defineConfig({ client: { pong: "often" } });
});
