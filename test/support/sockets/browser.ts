import { spawnSync } from "node:child_process";

/** The path of Chromium on this machine; undefined if there is none. */
export function findChromium(): string | undefined {
  return ["chromium", "chromium-browser", "google-chrome"].find(
    (name) => spawnSync(name, ["--version"]).status === 0,
  );
}
