import { spawn, spawnSync } from "node:child_process";
import { Inbox } from "../inbox.ts";
import type { TestContext } from "vitest";

/** Whether this machine has curl. */
export function hasCurl(): boolean {
  return spawnSync("curl", ["--version"]).status === 0;
}

/** A request that curl makes, which doesn't outlive the test. */
export class Curl {
  /** The output so far, each time when there is more of it. */
  readonly #received = new Inbox<string>();
  /** Settled when curl has ended, with all that came. */
  readonly ended: Promise<string>;
  readonly #kill: () => void;

  /** @param words of its command line, besides the options for unbuffered output */
  constructor(test: TestContext, words: readonly string[]) {
    const curl = spawn("curl", ["--silent", "--no-buffer", "--noproxy", "*", ...words], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    let text = "";
    curl.stdout.setEncoding("utf8");
    curl.stdout.on("data", (chunk: string) => {
      text += chunk;
      this.#received.push(text);
    });
    this.ended = new Promise((resolve, reject) => {
      curl.once("error", reject);
      curl.once("close", () => resolve(text));
    });
    this.#kill = () => void curl.kill("SIGKILL");
    test.onTestFinished(() => this.hangUp());
  }

  /** Waits until this has come, and gives all that came until then. */
  upTo(part: string): Promise<string> {
    return this.#received.first((text) => text.includes(part));
  }

  async hangUp(): Promise<void> {
    this.#kill();
    await this.ended;
  }
}
