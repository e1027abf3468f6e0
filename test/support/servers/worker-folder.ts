import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packageRoot } from "../../../cli/package-root.ts";

/** A folder with a wrangler.toml for the same Worker, and with its own development secrets. */
export class WorkerFolder {
  readonly path: string;
  /** The value for wrangler's `--config`. */
  readonly configFile: string;

  /**
   * @param more TOML that is added to the repository's own wrangler.toml
   * @param secrets the content of `.dev.vars`
   */
  constructor(more: string, secrets: Readonly<Record<string, string>>) {
    this.path = mkdtempSync(join(tmpdir(), "dormouse-test-"));
    this.configFile = join(this.path, "wrangler.toml");
    writeFileSync(this.configFile, `${movedConfiguration()}\n${more}\n`);
    const lines = Object.entries(secrets).map(([name, value]) => `${name}="${value}"\n`);
    writeFileSync(join(this.path, ".dev.vars"), lines.join(""));
  }

  remove(): void {
    rmSync(this.path, { recursive: true });
  }
}

/** The repository's own wrangler.toml for another folder: its paths are absolute. */
export function movedConfiguration(): string {
  const own = readFileSync(join(packageRoot, "wrangler.toml"), "utf8");
  return own.replace(
    /^(main|directory) = "(.+)"$/gm,
    (_, name: string, path: string) => `${name} = ${JSON.stringify(join(packageRoot, path))}`,
  );
}

/** The first block of TOML of a page in docs, as an operator adds it to wrangler.toml. */
export function tomlOf(page: string): string {
  const text = readFileSync(join(packageRoot, "docs", page), "utf8");
  const [, block] = /```toml\n(.*?)```/s.exec(text) ?? [];
  if (block === undefined) throw new Error(`docs/${page} has no block of TOML`);
  return block;
}
