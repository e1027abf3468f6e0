import { stringify as toToml } from "smol-toml";
import { describe, expect, it } from "vitest";
import { stringify as toYaml } from "yaml";
import { parseFile } from "../../../cli/configuration/document.ts";
import { readCommandLine } from "../../../cli/migrate/compose/command-line.ts";
import { convert } from "../../../cli/migrate/conversion.ts";
import { putText, withEnvironment } from "../../../cli/migrate/environment.ts";
import { readValue } from "../../../cli/migrate/go-value.ts";
import {
  centrifugoOptions,
  type Kind,
  optionAt,
  type Options,
} from "../../../cli/migrate/options.ts";
import { readByKinds } from "../../../cli/migrate/read-document.ts";
import { parsePath, pathText, Tree } from "../../../cli/migrate/tree.ts";
import {
  unsupportedChannelOptions,
  unsupportedClientKeys,
  unsupportedHttpApiKeys,
  unsupportedTopLevelKeys,
  unsupportedUniWebsocketKeys,
} from "../../../src/config/unsupported.ts";
import { unsupportedHookOptions } from "../../../src/features/hooks/config.ts";
import { unsupportedMapOptions } from "../../../src/features/maps/config.ts";
import type { JsonObject, JsonValue } from "../../../src/protocol/wire-value.ts";

interface Spelling {
  readonly value: JsonValue;
  /** What stands for the value in a file, and what in a variable or a flag. */
  readonly files: readonly JsonValue[];
  readonly texts: readonly string[];
}

/** As Centrifugo 6.9.1 loads them. */
const spellings: Readonly<Record<Kind, readonly Spelling[]>> = {
  boolean: [
    {
      value: true,
      files: [true, "true", "True", "TRUE", "t", "T", "1", 1],
      texts: ["true", "True", "TRUE", "t", "T", "1"],
    },
    {
      value: false,
      files: [false, "false", "F", "0", 0, ""],
      texts: ["false", "False", "FALSE", "f", "F", "0"],
    },
  ],
  whole: [
    {
      value: 7,
      files: [7, 7.9, "7", "+7", "0x7", "07", "0b111", "0o7", "0_7"],
      texts: ["7", "+7", "0x7", "07", "0b111"],
    },
    { value: 1, files: [true, "1"], texts: ["1"] },
  ],
  duration: [
    {
      value: "90s",
      files: ["90s", "+90s", 90_000_000_000, "90000000us", "90000000000ns"],
      texts: ["90s", "+90s", "90000000µs"],
    },
    { value: "1h30m", files: ["1h30m"], texts: ["1h30m"] },
  ],
  text: [
    { value: "77", files: ["77", 77], texts: ["77"] },
    { value: "1.5", files: ["1.5", 1.5], texts: ["1.5"] },
    { value: "1", files: ["1", 1, true], texts: ["1"] },
  ],
  texts: [
    {
      value: ["7", "b"],
      files: [
        ["7", "b"],
        [7, "b"],
      ],
      texts: ["7 b", " 7  b"],
    },
    { value: ["{a,b}"], files: [["{a,b}"], "{a,b}"], texts: ["{a,b}"] },
  ],
  map: [
    {
      value: { "X-A": "b" },
      files: [{ "X-A": "b" }, [{ key: "X-A", value: "b" }]],
      texts: ['{"X-A":"b"}'],
    },
  ],
};

/** What isn't of the kind, and what Centrifugo refuses as well. */
const others: Readonly<Record<Kind, readonly JsonValue[]>> = {
  boolean: ["yes", "on", "tRUE", " true", [true], { a: 1 }],
  whole: ["many", "1e3", "12.0", " 12", "08", "1__0", [5], { a: 1 }],
  duration: ["25", "25 s", "1d", "soon", 25, true, ["1s"], { a: 1 }],
  text: [["a"], { a: 1 }, 2 ** 60],
  texts: ["a b", "a,b", '["a"]', [["a"]], { a: 1 }],
  map: ["{}", 5, { "X-A": 5 }, [{ key: "X-A", value: 5 }]],
};

function placesIn(options: Options, above = ""): readonly (readonly [string, Kind])[] {
  return [...options].flatMap(([name, option]) => {
    const place = `${above}${name}`;
    if (option.kind === "section") return placesIn(option.options, `${place}.`);
    if (option.kind === "sections") return placesIn(option.options, `${place}[0].`);
    return [[place, option.kind] as const];
  });
}

const places = placesIn(centrifugoOptions);

/** A document with one value; an entry of a list has a name if it is to have one. */
function documentWith(place: string, value: JsonValue): JsonObject {
  const tree = new Tree();
  for (const [list] of place.matchAll(/^[^[]+\[0\]/g))
    if (optionAt(parsePath(`${list}.name`)) !== undefined)
      tree.set(parsePath(`${list}.name`), "chat");
  tree.set(parsePath(place), value);
  return tree.root;
}

function ofFile(name: string, text: string): JsonObject {
  const parsed = parseFile(name, text);
  if (parsed.outcome === "bad") throw new Error(parsed.problem);
  return parsed.document;
}

const files: readonly (readonly [string, (document: JsonObject) => JsonObject])[] = [
  ["JSON", (document) => ofFile("c.json", JSON.stringify(document))],
  ["YAML", (document) => ofFile("c.yaml", toYaml(document))],
  ["TOML", (document) => ofFile("c.toml", toToml(document))],
];

/** What a conversion begins with. */
function read(document: JsonObject, texts: ReadonlyMap<string, string> = new Map()) {
  const { root, bad, left } = readByKinds(document, { file: "c.json", texts });
  return { root, bad: [...bad], left };
}

/** What a source makes of a spelling, if it isn't the value that it stands for. */
function misread(
  place: string,
  spelling: JsonValue,
  value: JsonValue,
  made: ReturnType<typeof read>,
): readonly object[] {
  const expected = readAs(value, place);
  return JSON.stringify(made) === JSON.stringify(expected) ? [] : [{ place, spelling, made }];
}

function readAs(value: JsonValue, place: string) {
  return { root: documentWith(place, value), bad: [], left: [] };
}

/** Reads all spellings of all values of some places. */
function misreadIn<One extends JsonValue>(
  where: (place: string) => boolean,
  spelled: (spelling: Spelling) => readonly One[],
  through: (place: string, one: One) => ReturnType<typeof read>,
): readonly object[] {
  const chosen = places.filter(([place]) => where(place));
  expect(chosen.length).toBeGreaterThan(30);
  return chosen.flatMap(([place, kind]) =>
    spellings[kind].flatMap((spelling) =>
      spelled(spelling).flatMap((one) => misread(place, one, spelling.value, through(place, one))),
    ),
  );
}

function variable(path: string): string {
  return `CENTRIFUGO_${path.toUpperCase().replaceAll(".", "_")}`;
}

/** What a variable with a text makes of an option. */
function ofVariable(place: string, text: string) {
  const inList = /^(.+)\[0\]\.(.+)$/.exec(place);
  const [, list = "", rest = ""] = inList ?? [];
  const texts = new Map<string, string>();
  const document = withEnvironment(
    {},
    inList === null
      ? { [variable(place)]: text }
      : { [variable(list)]: "chat", [`${variable(list)}_CHAT_${variable(rest).slice(11)}`]: text },
    (path, name) => texts.set(path, name),
  );
  return read(document, texts);
}

function ofFlag(place: string, text: string) {
  const tree = new Tree();
  const texts = new Map<string, string>();
  for (const { flag, path, value } of readCommandLine(["centrifugo", `--${place}=${text}`])
    ?.flags ?? [])
    for (const at of putText(tree, path, value)) texts.set(pathText(at), flag);
  return read(tree.root, texts);
}

/** Lists whose entries have no names are JSON in a variable, and no flag reaches into a list. */
const isNamed = (place: string) => !place.includes("[0]") || /^[^[]+\[0\]\.[^[]+$/.test(place);
const isOfNamed = (place: string) => isNamed(place) && !/transforms|buckets|overrides/.test(place);

/** The places of the keys of a section; that of the whole configuration is "". */
function below(section: string, keys: object): readonly string[] {
  return Object.keys(keys).map((key) => (section === "" ? key : `${section}.${key}`));
}

describe("[A21] the kind of each option of Centrifugo", () => {
  it("is known of the options that Dormouse refuses by name", () => {
    const withoutKinds = [
      "brokers",
      "presence_managers",
      "map_brokers",
      "channel_patterns",
      "license",
    ];
    const named = [
      ...below("", unsupportedTopLevelKeys),
      ...below("client", unsupportedClientKeys),
      ...below("channel.without_namespace", unsupportedChannelOptions),
      ...below("channel.namespaces[0]", unsupportedHookOptions),
      ...below("channel.namespaces[0].map", unsupportedMapOptions),
      ...below("http_api", unsupportedHttpApiKeys),
      ...below("uni_websocket", unsupportedUniWebsocketKeys),
    ];
    expect(named.filter((place) => optionAt(parsePath(place)) === undefined)).toEqual(withoutKinds);
  });

  it.each(files)("reads each spelling of each kind in %s", (_, through) => {
    const made = misreadIn(
      () => true,
      (spelling) => spelling.files,
      (place, one) => read(through(documentWith(place, one))),
    );
    expect(made).toEqual([]);
  });

  it("reads each spelling of each kind in a variable", () => {
    const made = misreadIn(
      isOfNamed,
      ({ texts }) => texts,
      (place, one) => ofVariable(place, one),
    );
    expect(made).toEqual([]);
  });

  it("reads each spelling of each kind in a flag", () => {
    const made = misreadIn(
      (place) => !place.includes("[0]"),
      ({ texts }) => texts,
      (place, one) => ofFlag(place, one),
    );
    expect(made).toEqual([]);
  });

  it("reads each spelling of each kind in the JSON of a variable", () => {
    const made = misreadIn(
      (place) => place.includes("[0]"),
      // In a variable, an empty text says nothing.
      (spelling) => spelling.files.filter((one) => one !== ""),
      (place, one) => {
        const [list = ""] = place.split("[0]");
        return ofVariable(
          list,
          JSON.stringify(new Tree(documentWith(place, one)).get(parsePath(list))),
        );
      },
    );
    expect(made).toEqual([]);
  });
});

describe("[A21] a value that isn't of its option's kind", () => {
  it("is refused as one, whatever the kind", () => {
    for (const kind of kinds)
      for (const value of others[kind])
        expect([kind, value, readValue(kind, value, "file").outcome]).toEqual([kind, value, "bad"]);
  });

  it("is to be decided, and named with its source, without its value", () => {
    const hidden = "hunter2 is no value";
    let decided = 0;
    for (const [place, kind] of places.filter(([, one]) => one !== "text")) {
      const document = documentWith(place, kind === "texts" ? [[hidden]] : hidden);
      const { rows, todo } = convert(document, () => "", { file: "c.json", texts: new Map() });
      expect(JSON.stringify([rows, todo])).not.toContain(hidden);
      const about = rows.find(({ key }) => key === place);
      // Other rows are about the section that is left out, or refused, as a whole.
      if (about === undefined || !place.includes(".")) continue;
      decided++;
      expect([place, about.outcome]).toEqual([place, "decide"]);
      expect(about.reason).toMatch(/^must be .+, found .+ \(c\.json\)$/);
    }
    expect(decided).toBeGreaterThan(100);
  });

  it("is named with its variable", () => {
    const name = "CENTRIFUGO_CLIENT_CONNECTION_LIMIT";
    expect(ofVariable("client.connection_limit", "hunter2").bad).toEqual([
      ["client.connection_limit", `must be a whole number, found a string (${name})`],
    ]);
  });
});

const kinds: readonly Kind[] = ["boolean", "whole", "duration", "text", "texts", "map"];
