import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { stringify as tomlOf } from "smol-toml";
import { describe, expect, it } from "vitest";
import { fileLimits } from "../../../../cli/configuration/file-limits.ts";
import { packageName } from "../../../../src/version.ts";
import { recordedShell, temporaryFolder } from "../recorded-shell.ts";

/** What stands in a file's place, with what the sentence says of it. */
type Fault = readonly [name: string, make: (path: string) => void, says: RegExp];

const text = (content: string | Buffer) => (path: string) => writeFileSync(path, content);
const large = (bytes: number) => (path: string) => {
  writeFileSync(path, "");
  truncateSync(path, bytes);
};

/** Of any file that is read. */
const unreadable: readonly Fault[] = [
  ["a dangling link", (path) => symlinkSync("nowhere", path), /is a link,.* it doesn't exist$/],
  ["a link to itself", (path) => symlinkSync(path, path), /its links lead in a circle$/],
  ["a folder", (path) => mkdirSync(path), /it is a folder$/],
  ["a named pipe", (path) => void execFileSync("mkfifo", [path]), /it is a named pipe$/],
  ["a device", (path) => symlinkSync("/dev/zero", path), /it is no regular file$/],
  // Root may read what its permissions don't allow.
  ["a file that can't be read", (path) => symlinkSync("/proc/self/mem", path), /can't be read: /],
  ["UTF-16", text(Buffer.from('\uFEFF{"name":"x"}', "utf16le")), /looks like UTF-16/],
  ["Latin-1", text(Buffer.from("# é", "latin1")), /isn't text in UTF-8/],
];

const brackets = 200_000;
/** Of a file that is parsed as well, whatever its form. */
const unparsed: readonly Fault[] = [
  ["a huge file", large(fileLimits.documentBytesMax + 1), /and at most 1048576 are read$/],
  ["deep arrays", text("[".repeat(brackets) + "]".repeat(brackets)), /nested more than|not TOML/],
  ["open brackets", text(`{"a":${"[".repeat(brackets)}`), /nested more than|not TOML/],
  ["half a file", text('{"name": "x'), /not (?:JSON|TOML): see line 1, column \d+$/],
];
const unparsedJson: readonly Fault[] = [
  ["nothing", text(""), /not JSON/],
  ["a number", text("5"), /isn't an object of sections and keys/],
  ["comments without an end", text("/*".repeat(100_000)), /not JSON/],
];
const unparsedToml: readonly Fault[] = [
  ["deep keys", text(`a${".a".repeat(brackets)} = 1`), /nested more than/],
  ["deep tables", text(`a = ${"{a=".repeat(brackets)}`), /not TOML/],
];
/** Of a file that is changed as well. */
const elsewhere: Fault = [
  "a link out of the project",
  (path) => {
    const other = join(temporaryFolder(), "other");
    writeFileSync(other, path.endsWith(".toml") ? 'name = "other"\n' : '{"name": "other"}');
    symlinkSync(other, path);
  },
  /is a link to .*other, outside of the project: name the folder that the file is in$/,
];

const wrangler = '{ "name": "shop", "main": "worker.ts" }';
const project = `{ "dependencies": { "${packageName}": "0.0.1", "dormouse": "0.0.1" } }`;

/** The commands that change a project's files, with the files that they read. */
const tables: readonly (readonly [string, readonly string[], string, readonly Fault[]])[] = [
  [
    "init",
    ["init", "--existing"],
    "wrangler.toml",
    [...unreadable, ...unparsed, ...unparsedToml, elsewhere],
  ],
  [
    "init",
    ["init", "--existing"],
    "wrangler.json",
    [...unreadable, ...unparsed, ...unparsedJson, elsewhere],
  ],
  [
    "init",
    ["init", "--existing"],
    "wrangler.jsonc",
    [...unreadable, ...unparsed, ...unparsedJson, elsewhere],
  ],
  ["init", ["init", "--existing"], "package.json", [...unreadable, ...unparsed, ...unparsedJson]],
  [
    "init",
    ["init", "--existing"],
    "worker.ts",
    [...unreadable, ["a huge file", large(fileLimits.textBytesMax + 1), /are read$/]],
  ],
  ["upgrade", ["upgrade"], "package.json", [...unreadable, elsewhere]],
  ["upgrade", ["upgrade"], "wrangler.toml", [...unreadable, elsewhere]],
];

describe("[N23] a project's file that can't be used is refused in a sentence, and nothing changes", () => {
  const cases = tables.flatMap(([command, args, name, faults]) =>
    faults.map(([fault, make, says]) => ({ command, args, name, fault, make, says })),
  );

  it.each(cases)("dormouse $command: $name is $fault", async ({ args, name, make, says }) => {
    const folder = temporaryFolder();
    if (!name.startsWith("wrangler")) writeFileSync(join(folder, "wrangler.json"), wrangler);
    if (name !== "package.json") writeFileSync(join(folder, "package.json"), project);
    make(join(folder, name));
    expect(await refused(folder, args, name)).toMatch(says);
  });

  const wrong: readonly (readonly [string, unknown])[] = [
    ["durable_objects isn't an object", { durable_objects: 5 }],
    ["durable_objects isn't an object", { durable_objects: [] }],
    ["durable_objects.bindings isn't an array", { durable_objects: { bindings: 5 } }],
    ["durable_objects.bindings isn't an array", { durable_objects: { bindings: {} } }],
    ["durable_objects.bindings[0] isn't an object", { durable_objects: { bindings: [5] } }],
    [
      "durable_objects.bindings[1].name isn't a text",
      { durable_objects: { bindings: [{ name: "A" }, { name: 5 }] } },
    ],
    [
      "durable_objects.bindings[0].class_name isn't a text",
      { durable_objects: { bindings: [{ name: "USERS", class_name: ["UsersObject"] }] } },
    ],
    ["env isn't an object", { env: "staging" }],
    ["env isn't an object", { env: [{}] }],
    ["migrations isn't an array", { migrations: "v1" }],
    ["migrations isn't an array", { migrations: { tag: "v1" } }],
    ["migrations[0] isn't an object", { migrations: ["v1"] }],
    ["migrations[0].tag isn't a text", { migrations: [{ tag: 1 }] }],
    ["migrations[0].new_classes isn't an array", { migrations: [{ new_classes: "A" }] }],
    [
      "migrations[0].new_sqlite_classes isn't an array",
      { migrations: [{ new_sqlite_classes: 5 }] },
    ],
    [
      "migrations[0].new_sqlite_classes[0] isn't a text",
      { migrations: [{ new_sqlite_classes: [5] }] },
    ],
    ["migrations[0].renamed_classes isn't an array", { migrations: [{ renamed_classes: {} }] }],
    [
      "migrations[0].renamed_classes[0] isn't an object",
      { migrations: [{ renamed_classes: ["A"] }] },
    ],
    ["migrations[0].deleted_classes isn't an array", { migrations: [{ deleted_classes: true }] }],
    ["exports isn't an object", { exports: [] }],
    ["exports.Mine isn't an object", { exports: { Mine: "durable-object" } }],
    ["exports.Mine.type isn't a text", { exports: { Mine: { type: 5 } } }],
    [
      "exports.UsersObject.storage isn't a text",
      { exports: { UsersObject: { type: "durable-object", storage: 5 } } },
    ],
    ["main isn't a text", { main: 5 }],
    ["main isn't a text", { main: ["worker.ts"] }],
  ];
  const forms = [
    ["wrangler.json", (value: object) => JSON.stringify(value)],
    ["wrangler.toml", (value: object) => tomlOf(value)],
  ] as const;

  it.each(
    forms.flatMap(([name, formOf]) =>
      wrong.map(([says, value]) => ({ name, says, content: formOf(Object(value)) })),
    ),
  )("$name: $says: $content", async ({ name, says, content }) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, name), content);
    const noted = await refused(folder, ["init", "--existing"], name);
    expect(noted).toBe(`${name}: ${says}`);
  });

  it.each([
    ["wrangler.json: migrations isn't an array", "wrangler.json", '{"migrations": null}', []],
    ["wrangler.json: env.x isn't an object", "wrangler.json", '{"env": {"x": 5}}', ["--env", "x"]],
    ["package.json: dependencies isn't an object", "package.json", '{"dependencies": 5}', []],
    [
      "package.json: devDependencies isn't an object",
      "package.json",
      '{"devDependencies": []}',
      [],
    ],
    [
      "wrangler.json has a key of durable_objects, exports or migrations twice, so that init can't add to it: keep one",
      "wrangler.json",
      '{"durable_objects": {}, "durable_objects": {"bindings": []}}',
      [],
    ],
  ])("%s", async (says, name, content, more) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "wrangler.json"), "{}");
    writeFileSync(join(folder, name), content);
    const args = ["init", "--existing", ...more];
    expect(await refused(folder, args, name)).toBe(says);
  });
});

/** Runs a command that has to refuse a file; gives what it said. */
async function refused(folder: string, args: readonly string[], name: string): Promise<string> {
  const before = contentOf(folder);
  const { code, noted, printed } = await recordedShell({}, folder)(args);
  expect([code, printed]).toEqual([1, ""]);
  expect(noted).toMatch(new RegExp(`^${name.replace(".", "\\.")}\\b[^\n]*$`));
  expect(contentOf(folder)).toEqual(before);
  return noted;
}

/** All that is in a folder: regular files with their content, links with where they lead. */
function contentOf(folder: string): readonly (readonly [string, string])[] {
  return readdirSync(folder).map((name) => {
    const path = join(folder, name);
    const stats = lstatSync(path);
    if (stats.isSymbolicLink()) return [name, readlinkSync(path)];
    return [name, stats.isFile() ? `${stats.ino} ${readFileSync(path, "latin1")}` : "no file"];
  });
}

describe("[N23] a project's file that is changed", () => {
  it.each([
    [
      "init",
      ["init", "--existing"],
      "wrangler.jsonc",
      '\uFEFF{\r\n  // Mine.\r\n  "name": "shop"\r\n}\r\n',
    ],
    ["init", ["init", "--existing"], "wrangler.toml", '\uFEFF# Mine.\r\nname = "shop"\r\n'],
    ["upgrade", ["upgrade"], "package.json", `\uFEFF// Mine.\r\n${project}\r\n`],
  ])(
    "keeps its mark, line breaks and mode, and is never half-written: %s",
    async (_, args, name, content) => {
      const folder = temporaryFolder();
      const file = join(folder, name);
      writeFileSync(file, content);
      chmodSync(file, 0o640);
      const before = statSync(file);
      const { code } = await recordedShell({}, folder)(args);
      const [after, changed] = [statSync(file), readFileSync(file, "utf8")];
      expect(code).toBe(0);
      expect(changed).not.toBe(content);
      expect(changed).toMatch(/^\uFEFF(?:[^\r\n]*\r\n)+$/);
      expect(changed).toContain("Mine.");
      expect([after.mode, after.uid, after.gid]).toEqual([before.mode, before.uid, before.gid]);
      // Another file, which was written beside it and renamed; it was never open for writing in its place.
      expect(after.ino).not.toBe(before.ino);
      expect(readdirSync(folder)).toEqual([name]);
    },
  );

  it("is found through a link within the project, which stays", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "deploy"));
    writeFileSync(join(folder, "deploy", "w.json"), "{}");
    symlinkSync("deploy/w.json", join(folder, "wrangler.json"));
    expect((await recordedShell({}, folder)(["init", "--existing"])).code).toBe(0);
    expect(readlinkSync(join(folder, "wrangler.json"))).toBe("deploy/w.json");
    expect(readFileSync(join(folder, "deploy", "w.json"), "utf8")).toContain("ChannelObject");
  });
});
