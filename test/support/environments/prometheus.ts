import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { freePort } from "../servers/listen.ts";
import { debianFolder } from "./debian-folder.ts";

/** Where a Prometheus reads metrics. */
export interface ScrapeTarget {
  /** Such as `127.0.0.1:8787`. */
  readonly host: string;
  /** The key of the scrape; absent for none. */
  readonly bearer?: string;
}

/** A series that a query found, with its labels. */
export interface FoundSeries {
  readonly metric: Readonly<Record<string, string>>;
}

/** Debian's Prometheus as a process. It scrapes and evaluates once a second. */
export class Prometheus {
  readonly #process: ChildProcess;
  readonly #address: string;
  readonly #folder: string;

  /** @returns the program; undefined on a machine whose distribution has no package of it */
  static async install(): Promise<string | undefined> {
    const folder = await debianFolder(["prometheus"], /^prometheus$/);
    return folder === undefined ? undefined : join(folder, "usr", "bin", "prometheus");
  }

  /**
   * @param program from {@link install}
   * @param targets by the name of their job
   * @param rules   the text of a file of rules
   */
  static async start(
    program: string,
    targets: Readonly<Record<string, ScrapeTarget>>,
    rules: string,
  ): Promise<Prometheus> {
    const folder = mkdtempSync(join(tmpdir(), "dormouse-prometheus-"));
    const port = await freePort();
    const jobs = Object.entries(targets).map(([name, target]) => jobOf(name, target));
    const file = join(folder, "prometheus.yml");
    const global = { scrape_interval: "1s", scrape_timeout: "1s", evaluation_interval: "1s" };
    const rulesFile = join(folder, "rules.yml");
    writeFileSync(rulesFile, rules);
    writeFileSync(file, stringify({ global, rule_files: [rulesFile], scrape_configs: jobs }));
    const started = new Prometheus(program, folder, file, port);
    await started.#ready();
    return started;
  }

  private constructor(program: string, folder: string, file: string, port: number) {
    this.#folder = folder;
    this.#address = `127.0.0.1:${port}`;
    const options = [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=${this.#address}`,
    ];
    this.#process = spawn(program, options, { stdio: "ignore" });
  }

  async #ready(): Promise<void> {
    for (;;) {
      const answer = await fetch(`http://${this.#address}/-/ready`).catch(() => undefined);
      if (answer?.ok === true) return;
      if (this.#process.exitCode !== null) throw new Error("Prometheus doesn't start");
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** What an expression gives now; throws what is wrong with it. */
  async query(expression: string): Promise<readonly FoundSeries[]> {
    const query = new URLSearchParams({ query: expression });
    const answer = await fetch(`http://${this.#address}/api/v1/query?${query}`);
    const { error, data }: QueryAnswer = JSON.parse(await answer.text());
    if (data === undefined) throw new Error(`${expression}: ${error}`);
    return data.result;
  }

  /** The names of the alerts that fire. */
  async firing(): Promise<readonly string[]> {
    const series = await this.query('ALERTS{alertstate="firing"}');
    return series.map(({ metric }) => metric["alertname"] ?? "");
  }

  async stop(): Promise<void> {
    const ended = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await ended;
    rmSync(this.#folder, { recursive: true });
  }
}

interface QueryAnswer {
  readonly error?: string;
  readonly data?: { readonly result: readonly FoundSeries[] };
}

function jobOf(name: string, { host, bearer }: ScrapeTarget): object {
  const job = { job_name: name, static_configs: [{ targets: [host] }] };
  return bearer === undefined ? job : { ...job, authorization: { credentials: bearer } };
}
