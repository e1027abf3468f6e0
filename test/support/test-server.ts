import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { createTestHarness, type TestHarness } from "wrangler";
import { TestBackend } from "./test-backend.ts";
import { testSecrets } from "./test-tokens.ts";

/** How a server differs from what wrangler.toml makes of it. */
export interface TestServerOptions {
  /** Replaces `[vars.config]`, whole. */
  readonly config?: object;
  readonly secrets?: { readonly API_KEY: string; readonly TOKEN_HMAC_SECRET_KEY: string };
}

/**
 * The server that is deployed, on a real port, with its runtime in a process of its own that ends with {@link close}.
 * Its objects can be thrown away from outside, with their sockets kept, as the platform does it to idle ones.
 */
export class TestServer {
  /** Such as `http://127.0.0.1:8787`. */
  readonly address: string;
  readonly backend: TestBackend;
  readonly #harness: TestHarness;
  readonly #folder: string;

  static async start({ config, secrets = testSecrets }: TestServerOptions): Promise<TestServer> {
    const folder = mkdtempSync(join(tmpdir(), "dormouse-test-"));
    // The harness keeps objects in the folder for temporary files: with one of its own, tests find them on disk.
    const before = process.env["TMPDIR"];
    process.env["TMPDIR"] = folder;
    process.env["CLOUDFLARE_CF_FETCH_ENABLED"] = "false";
    const harness = createTestHarness({
      root,
      workers: [
        {
          configPath: "wrangler.toml",
          secrets: { ...secrets },
          ...(config === undefined ? {} : { vars: { config: JSON.stringify(config) } }),
        },
      ],
    });
    try {
      const { url } = await harness.listen();
      return new TestServer(url.origin, harness, folder, secrets.API_KEY);
    } finally {
      if (before === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = before;
    }
  }

  private constructor(address: string, harness: TestHarness, folder: string, apiKey: string) {
    this.address = address;
    this.backend = new TestBackend(address, apiKey);
    this.#harness = harness;
    this.#folder = folder;
  }

  /** Where a client of the channel connects. */
  socketAddress(channel: string, address = this.address): string {
    return `${address.replace("http", "ws")}/channel/${encodeURIComponent(channel)}/websocket`;
  }

  /**
   * Throws the channel's object away and keeps its sockets. Rejects unless an instance was running, and returns when none
   * is: whatever happens next happens to another one.
   */
  async evict(channel: string): Promise<void> {
    await this.#evict(channel);
    while (!(await this.asleep(channel)));
  }

  /** Whether no instance of the channel's object is running. If one was, it isn't any more. */
  async asleep(channel: string): Promise<boolean> {
    try {
      await this.#evict(channel);
      return false;
    } catch (error) {
      if (error instanceof Error && error.message.includes("not currently running")) return true;
      throw error;
    }
  }

  /**
   * Rows that the running instance has changed through its connection to SQLite. It only grows while an instance lives,
   * and begins anew with the next one, which asking makes if there is none.
   */
  async rowsChanged(channel: string): Promise<number> {
    const storage = await this.#worker.getDurableObjectStorage("CHANNELS", { name: channel });
    const [row] = await storage.exec("SELECT total_changes() AS changed");
    return Number(row?.["changed"]);
  }

  /** When the channel's alarm goes off, in ns since 1970; undefined when none is set. Read from disk: nothing wakes. */
  alarm(channel: string): bigint | undefined {
    const files = readdirSync(this.#folder, { recursive: true, encoding: "utf8" });
    const file = files.find((name) =>
      name.endsWith(join("dormouse-ChannelObject", "metadata.sqlite")),
    );
    if (file === undefined) throw new Error("the runtime's own database of alarms isn't there");
    const database = new DatabaseSync(join(this.#folder, file), { readOnly: true });
    try {
      const query = database.prepare("SELECT scheduled_time FROM _cf_ALARM WHERE actor_name = ?");
      query.setReadBigInts(true);
      const time = query.get(channel)?.["scheduled_time"];
      return typeof time === "bigint" ? time : undefined;
    } finally {
      database.close();
    }
  }

  /** Ends the server. Rejects when the Worker or an object has logged an error: no test means to cause one. */
  async close(): Promise<void> {
    const errors = this.#harness.getLogs().filter(({ level }) => level === "error");
    await this.#harness.close();
    if (existsSync(this.#folder)) rmSync(this.#folder, { recursive: true });
    if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join("\n"));
  }

  get #worker() {
    return this.#harness.getWorker("dormouse");
  }

  #evict(channel: string): Promise<void> {
    return this.#worker.evictDurableObject("CHANNELS", { name: channel, webSockets: "hibernate" });
  }
}

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
