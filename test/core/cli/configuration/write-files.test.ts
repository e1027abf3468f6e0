import {
  chmodSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { writeFiles } from "../../../../cli/configuration/write-files.ts";
import { packageRoot } from "../../../../cli/package-root.ts";
import { recordedShell, temporaryFolder } from "../recorded-shell.ts";

/** A file of a folder, as a command gives it to be written. */
function given(folder: string, name: string, replaces = true) {
  return { path: join(folder, name), shown: name, contents: `new ${name}`, replaces };
}

describe("[N23] files that a command writes", () => {
  it.each([
    ["in a folder that isn't there", () => undefined, "x/b", "it doesn't exist"],
    ["in place of a folder", (path: string) => mkdirSync(path), "b", "it is a folder"],
    ["below a file", () => undefined, "a/b", "a part of its path is no folder"],
  ])("are all or none: one is %s", (_, make, name, cause) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "a"), "old");
    make(join(folder, name));
    const before = readdirSync(folder);
    expect(() => writeFiles([given(folder, "a"), given(folder, name)])).toThrow(
      `${name} can't be written: ${cause}`,
    );
    expect(readFileSync(join(folder, "a"), "utf8")).toBe("old");
    expect(readdirSync(folder)).toEqual(before);
  });

  it("replace nothing unless they may, not even a link that leads nowhere", () => {
    const folder = temporaryFolder();
    symlinkSync("nowhere", join(folder, "b"));
    const files = [given(folder, "a", false), given(folder, "b", false)];
    expect(() => writeFiles(files)).toThrow("b exists, and isn't replaced");
    expect(readdirSync(folder)).toEqual(["b"]);
  });

  it("replace a link, and not what it leads to", () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "a"), "old");
    symlinkSync("a", join(folder, "b"));
    writeFiles([given(folder, "b")]);
    expect(["a", "b"].map((name) => readFileSync(join(folder, name), "utf8"))).toEqual([
      "old",
      "new b",
    ]);
  });

  it("have the mode that is given, or else that of the file that is there", () => {
    const folder = temporaryFolder();
    for (const name of ["a", "b"]) {
      writeFileSync(join(folder, name), "old");
      chmodSync(join(folder, name), 0o664);
    }
    writeFiles([given(folder, "a"), { ...given(folder, "b"), mode: 0o600 }]);
    const modes = ["a", "b"].map((name) => statSync(join(folder, name)).mode & 0o777);
    expect(modes).toEqual([0o664, 0o600]);
  });
});

describe("[N23] commands that lay out files", () => {
  const config = JSON.stringify({ token_hmac_secret_key: "hunter2hunter2hunter2" });

  it.each([
    ["init", ["init"], ".dev.vars", "exists: init needs"],
    [
      "migrate",
      ["migrate", "config.json", "--name", "x"],
      ".dev.vars.migrated",
      "exists: use --force",
    ],
  ])("write none beside a link that leads nowhere: %s", async (_, args, name, says) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "config.json"), config);
    symlinkSync("nowhere", join(folder, name));
    const { code, noted } = await recordedShell({}, folder)([...args]);
    expect(code).toBe(2);
    expect(noted).toContain(`${name} ${says}`);
    expect(readdirSync(folder).toSorted()).toEqual([name, "config.json"].toSorted());
  });

  it("migrate replaces all or none", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "config.json"), config);
    writeFileSync(join(folder, "wrangler.jsonc"), "mine");
    mkdirSync(join(folder, ".dev.vars.migrated"));
    const run = recordedShell({}, folder);
    const { code, noted } = await run(["migrate", "config.json", "--force"]);
    expect([code, noted]).toEqual([1, ".dev.vars.migrated can't be written: it is a folder"]);
    expect(readFileSync(join(folder, "wrangler.jsonc"), "utf8")).toBe("mine");
    expect(readdirSync(folder)).toHaveLength(3);
  });
});

/** The programs that write files by themselves, with the reason. */
const writers = {
  "cli/configuration/write-files.ts": "the place for it",
  "cli/build/check-bundle.ts": "a folder of its own, which goes with the process",
  "cli/serve/start.ts":
    "copies an example unless a file is there, which no other start may replace",
};

it("[N23] files are written in one place", () => {
  const writes =
    /\b(?:writeFile|appendFile|copyFile|cp|rename|truncate|createWriteStream)(?:Sync)?\(/;
  const found = globSync("cli/**/*.ts", { cwd: packageRoot }).filter((file) =>
    writes.test(readFileSync(join(packageRoot, file), "utf8")),
  );
  expect(found.toSorted()).toEqual(Object.keys(writers).toSorted());
});
