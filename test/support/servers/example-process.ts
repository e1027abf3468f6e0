import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { wranglerConfigOf } from "../../../cli/deployment/wrangler-config.ts";
import { packageRoot } from "../../../cli/package-root.ts";
import { Inbox } from "../inbox.ts";

/** The server of a folder of examples as a process of its own, started as its package.json says. */
export class ExampleProcess {
  readonly address: string;
  /** What it prints. */
  readonly lines: Inbox<string>;
  readonly #process: ChildProcess;

  /** @param variables of its environment, beside those of this process */
  static async start(
    example: string,
    variables: Readonly<Record<string, string>>,
  ): Promise<ExampleProcess> {
    const cwd = exampleFolder(example);
    const { scripts }: { scripts: { start: string } } = JSON.parse(
      readFileSync(join(cwd, "package.json"), "utf8"),
    );
    const [, ...words] = scripts.start.split(" ");
    const env = { ...process.env, ...variables };
    const stdio = ["ignore", "pipe", "inherit"] as const;
    const started = spawn(process.execPath, words, { cwd, env, stdio: [...stdio] });
    const lines = new Inbox<string>();
    createInterface(started.stdout).on("line", (line) => lines.push(line));
    const ended = once(started, "exit").then(() => {
      throw new Error(`${example} ended before it listened`);
    });
    const line = await Promise.race([lines.first((one) => one.includes("http://")), ended]);
    ended.catch(() => undefined); // The test ends it.
    return new ExampleProcess(/http:\S+/.exec(line)?.[0] ?? "", lines, started);
  }

  private constructor(address: string, lines: Inbox<string>, started: ChildProcess) {
    this.address = address;
    this.lines = lines;
    this.#process = started;
  }

  /** Ends the process at once. */
  async kill(): Promise<void> {
    const ended = once(this.#process, "exit");
    if (this.#process.kill("SIGKILL")) await ended;
  }
}

/** A folder of examples. */
export function exampleFolder(example: string): string {
  return join(packageRoot, "examples", example);
}

/**
 * The options of `npm start` for an example's configuration: with the port of the example's server in place of 3000, and
 * patience for a busy machine.
 *
 * @param file a copy of the configuration, in place of the example's own
 */
export function exampleOptions(
  example: string,
  port: number,
  file = `examples/${example}/wrangler.toml`,
): readonly string[] {
  const config = JSON.stringify(wranglerConfigOf({ file }).vars["config"])
    .replaceAll("localhost:3000", `localhost:${port}`)
    .replaceAll(/,"timeout":"\w+"/g, "")
    .replaceAll('"endpoint":', '"timeout":"20s","endpoint":');
  return ["--config", file, "--var", `config:${config}`];
}
