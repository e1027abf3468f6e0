import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "vitest";
import { browserFlags } from "./shared-browser.ts";

/** The path of Chromium on this machine; undefined if there is none. */
export function findChromium(): string | undefined {
  return ["chromium", "chromium-browser", "google-chrome"].find(
    (name) => spawnSync(name, ["--version"]).status === 0,
  );
}

/** Opens a page in a headless browser, which ends with the test. */
export function openPage(test: TestContext, chromium: string, address: string): void {
  const profile = mkdtempSync(join(tmpdir(), "dormouse-browser-"));
  // In a process group of its own, because a browser has many processes.
  const browser = spawn(chromium, [...browserFlags, `--user-data-dir=${profile}`, address], {
    stdio: "ignore",
    detached: true,
  });
  test.onTestFinished(async () => {
    await end(browser);
    rmSync(profile, { recursive: true, force: true, maxRetries: 10 });
  });
}

async function end(browser: ChildProcess): Promise<void> {
  if (browser.pid === undefined || browser.exitCode !== null) return;
  const ended = once(browser, "exit");
  process.kill(-browser.pid, "SIGKILL");
  await ended;
}
