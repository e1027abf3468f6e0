import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";

/** A TypeScript file, as the structure's figures see it. */
export interface SourceFile {
  /** Relative to the root, with forward slashes. */
  readonly path: string;
  readonly lines: number;
  /** The paths of the files that it imports, types included; packages are left out. */
  readonly imports: ReadonlySet<string>;
  /** The names of the types, interfaces and classes at its top level. */
  readonly types: ReadonlySet<string>;
}

/**
 * The files of `src` and `workers`, in the order of their paths. The page of the operators in `workers/page` is left out:
 * it runs in browsers, and is a program of its own. So are the types that a program writes.
 */
export function readSources(root: string): readonly SourceFile[] {
  return ["src", "workers"].flatMap((folder) =>
    readdirSync(posix.join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts") && !name.endsWith(".d.ts"))
      .map((name) => posix.join(folder, name.replaceAll("\\", "/")))
      .filter(
        (path) =>
          !path.startsWith("workers/page/") && !/^workers\/embedded\/\w+-types\.ts$/.test(path),
      )
      .toSorted()
      .map((path) => sourceFile(path, readFileSync(posix.join(root, path), "utf8"))),
  );
}

/** The paths of the files that are committed, or are to be. */
export function trackedFiles(root: string): readonly string[] {
  return execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).trim().split("\n");
}

/** A file from its text, which the formatter has formatted. */
export function sourceFile(path: string, text: string): SourceFile {
  return {
    path,
    lines: text.split("\n").length - 1,
    imports: new Set(
      Array.from(text.matchAll(relativeImport), ([, , name = ""]) =>
        posix.join(posix.dirname(path), name),
      ),
    ),
    types: new Set(Array.from(text.matchAll(topLevelType), ([, name = ""]) => name)),
  };
}

/** The end of an import or of a re-export, and `import("…")` as a type or a call. */
const relativeImport = /(from |import |import\()"(\.[^"]+)"/g;

const topLevelType = /^(?:export )?(?:abstract )?(?:interface|type|class) (\w+)/gm;
