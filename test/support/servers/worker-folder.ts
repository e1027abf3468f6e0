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
    const own = readFileSync(join(packageRoot, "wrangler.toml"), "utf8")
      .replace(
        /^main = "(.+)"$/m,
        (_, path: string) => `main = ${JSON.stringify(join(packageRoot, path))}`,
      )
      .replace(
        /^directory = "(.+)"$/m,
        (_, path: string) => `directory = ${JSON.stringify(join(packageRoot, path))}`,
      );
    writeFileSync(this.configFile, `${own}\n${more}\n`);
    const lines = Object.entries(secrets).map(([name, value]) => `${name}="${value}"\n`);
    writeFileSync(join(this.path, ".dev.vars"), lines.join(""));
  }

  remove(): void {
    rmSync(this.path, { recursive: true });
  }
}

/** The first block of TOML of a page in docs, as an operator adds it to wrangler.toml. */
export function tomlOf(page: string): string {
  const text = readFileSync(join(packageRoot, "docs", page), "utf8");
  const [, block] = /```toml\n(.*?)```/s.exec(text) ?? [];
  if (block === undefined) throw new Error(`docs/${page} has no block of TOML`);
  return block;
}
