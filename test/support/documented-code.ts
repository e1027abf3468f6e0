import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parse } from "smol-toml";
import { packageRoot } from "../../cli/package-root.ts";

/** A block of code of a page of docs. */
export interface CodeBlock {
  /** The heading above it. */
  readonly heading: string;
  readonly language: string;
  readonly code: string;
}

/** The blocks of code of a page, in their order. */
export function codeBlocksOf(page: string): readonly CodeBlock[] {
  const text = readFileSync(join(packageRoot, "docs", page), "utf8");
  return text.split(/^#+ /m).flatMap((section) => {
    const [heading = ""] = section.split("\n", 1);
    const blocks = section.matchAll(/^```(\w+)\n(.*?)^```/gms);
    return Array.from(blocks, ([, language = "", code = ""]) => ({ heading, language, code }));
  });
}

/** The configuration of channels, and of what else a page sets. */
export interface DocumentedConfig {
  readonly channel: { readonly namespaces: readonly object[] };
}

/** The configuration in the lines of `[vars.config]`. */
export function configOf(toml: string): DocumentedConfig {
  const file: { readonly vars: { readonly config: DocumentedConfig } } = JSON.parse(
    JSON.stringify(parse(toml)),
  );
  return file.vars.config;
}

/** A folder for code of pages, whose modules find the packages of this repository; and what removes it. */
export function codeFolder(): { readonly path: string; readonly remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), "dormouse-test-"));
  symlinkSync(join(packageRoot, "node_modules"), join(path, "node_modules"));
  return { path, remove: () => rmSync(path, { recursive: true }) };
}

/** Writes code into a folder, where the modules of the package are those of this repository, and gives the file's path. */
export function writeCode(folder: string, name: string, code: string): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, code.replaceAll(/"dormouse-realtime\/(\w+)"/g, ownModule));
  return path;
}

function ownModule(_: string, exported: string): string {
  const place = join(packageRoot, "package", exported);
  return JSON.stringify(existsSync(place) ? join(place, "index.ts") : `${place}.ts`);
}
