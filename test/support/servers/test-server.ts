import { type ChannelListener, subscribe, unsubscribe } from "node:diagnostics_channel";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createTestHarness, type TestHarness } from "wrangler";
import { unsetSecrets } from "./unset-secrets.ts";
import { TestBackend } from "./test-backend.ts";
import { movedConfiguration } from "./worker-folder.ts";
import { testSecrets } from "../test-tokens.ts";
import { keptBundle } from "../../../cli/build/kept-bundle.ts";
import { streamProbeMs } from "../../../cli/serve/local-server.ts";
import { packageRoot } from "../../../cli/package-root.ts";

/** The differences from the configuration in wrangler.toml. */
export interface TestServerOptions {
  /** Replaces `[vars.config]`, whole. */
  readonly config?: object;
  readonly secrets?: {
    readonly API_KEY: string;
    readonly TOKEN_HMAC_SECRET_KEY: string;
    readonly HOOK_SIGNING_SECRET?: string;
    readonly CONSOLE_PASSWORD?: string;
    readonly METRICS_KEY?: string;
    readonly SHARED_POLL_HMAC_SECRET_KEY?: string;
    readonly PUSHER_SECRET_SHOP?: string;
  };
}

/**
 * The deployed server on a real port, with its runtime in a process of its own that ends with {@link close}. Its
 * objects can be evicted from outside with their sockets kept, as the platform does with idle ones.
 */
export class TestServer {
  /** Such as `http://127.0.0.1:8787`. */
  readonly address: string;
  readonly backend: TestBackend;
  readonly #harness: TestHarness;
  readonly #folder: string;

  static async start({ config, secrets = testSecrets }: TestServerOptions): Promise<TestServer> {
    const folder = mkdtempSync(join(tmpdir(), "dormouse-test-"));
    // The harness keeps objects in the folder for temporary files; with a folder of its own, tests find them on disk.
    const before = process.env["TMPDIR"];
    process.env["TMPDIR"] = folder;
    process.env["CLOUDFLARE_CF_FETCH_ENABLED"] = "false";
    const harness = createTestHarness({
      root: packageRoot,
      workers: [
        {
          configPath: bundledConfig(folder),
          secrets: { ...unsetSecrets, ...secrets },
          vars: {
            // The runtime has no proxy before it that would report a client's disconnect.
            STREAM_PROBE_MS: String(streamProbeMs),
            // All clients of a test have one address, which would bound them together (rules B13 and B18).
            CLIENT_ADDRESS_HEADER: "",
            ...(config === undefined ? {} : { config: JSON.stringify(config) }),
          },
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

  /** The address for a client of one channel. */
  socketAddress(channel: string, address = this.address): string {
    return `${address.replace("http", "ws")}/channel/${encodeURIComponent(channel)}/websocket`;
  }

  /** Where a client of many channels connects. */
  gatewayAddress(address = this.address): string {
    return `${address.replace("http", "ws")}/connection/websocket`;
  }

  /**
   * The runtime's own address. The harness's proxy takes four file descriptors for each socket, and the runtime behind
   * it two more: for thousands of sockets there are enough only without the proxy.
   */
  async runtimeAddress(): Promise<string> {
    // The harness calls the runtime directly but doesn't reveal its address; the harness's HTTP client does. Other
    // requests of this process have other paths.
    const path = `/health?${crypto.randomUUID()}`;
    let origin: string | undefined;
    const note: ChannelListener = (message) => (origin ??= originOf(message, path));
    subscribe(requestMade, note);
    await this.#worker.fetch(path);
    unsubscribe(requestMade, note);
    if (origin === undefined) throw new Error("Nobody knows where it listens");
    return origin;
  }

  /**
   * Evicts the channel's object and keeps its sockets. Rejects unless an instance was running, and resolves when none
   * is running.
   */
  evict(channel: string): Promise<void> {
    return this.#evictUntilAsleep("CHANNELS", channel);
  }

  /** {@link evict} for a gateway, by its name such as `na/0`. */
  evictGateway(gateway: string): Promise<void> {
    return this.#evictUntilAsleep("GATEWAYS", gateway);
  }

  /** Ends a running gateway together with its sockets, as when its machine dies. */
  endGateway(gateway: string): Promise<void> {
    return this.#evict("GATEWAYS", gateway, "close");
  }

  /** Whether no instance of the channel's object is running. A running instance is evicted. */
  asleep(channel: string): Promise<boolean> {
    return this.#asleep("CHANNELS", channel);
  }

  /** {@link asleep} for a gateway, by its name such as `na/0`. */
  gatewayAsleep(gateway: string): Promise<boolean> {
    return this.#asleep("GATEWAYS", gateway);
  }

  /**
   * Rows that the running instance has changed through its connection to SQLite. The number only grows while an
   * instance lives, and begins anew with the next one, which this call creates if there is none.
   */
  async rowsChanged(channel: string): Promise<number> {
    const storage = await this.#worker.getDurableObjectStorage("CHANNELS", { name: channel });
    const [row] = await storage.exec("SELECT total_changes() AS changed");
    return Number(row?.["changed"]);
  }

  /**
   * The time of the channel's alarm, in ns since 1970; undefined when none is set. Read from disk, so no object wakes.
   */
  alarm(channel: string): bigint | undefined {
    return this.#alarm("dormouse-ChannelObject", channel);
  }

  /** {@link alarm} for a gateway, by its name such as `na/0`. */
  gatewayAlarm(gateway: string): bigint | undefined {
    return this.#alarm("dormouse-GatewayObject", gateway);
  }

  /**
   * What an object that collects metrics has stored: the text with its counters, which have been reported since its first
   * report; undefined before it has stored something.
   *
   * @param replace makes the text with which the object goes on, after an eviction; absent: it stays
   */
  async collected(
    collector: string,
    replace?: (text: string) => string,
  ): Promise<string | undefined> {
    const storage = await this.#worker.getDurableObjectStorage("METRICS", { name: collector });
    const [table] = await storage.exec("SELECT 1 FROM sqlite_master WHERE name = 'metrics'");
    if (table === undefined) return undefined;
    const [row] = await storage.exec("SELECT text FROM metrics WHERE part = 0");
    const text = row?.["text"];
    if (typeof text !== "string") return undefined;
    if (replace === undefined) return text;
    const replaced = replace(text);
    // The instance before would store what it remembers, and the one after hasn't read the new text.
    await this.#evict("METRICS", collector);
    await storage.exec("UPDATE metrics SET text = ? WHERE part = 0", replaced);
    await this.#evict("METRICS", collector);
    return replaced;
  }

  /** Ends the server. Rejects if the Worker or an object has logged an error, because no test causes one on purpose. */
  async close(): Promise<void> {
    const errors = this.#harness
      .getLogs()
      .filter(({ level, message }) => level === "error" && !message.startsWith(tailWasCut));
    await this.#harness.close();
    if (existsSync(this.#folder)) rmSync(this.#folder, { recursive: true });
    if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join("\n"));
  }

  get #worker() {
    return this.#harness.getWorker("dormouse");
  }

  async #evictUntilAsleep(binding: Binding, name: string): Promise<void> {
    await this.#evict(binding, name);
    while (!(await this.#asleep(binding, name)));
  }

  async #asleep(binding: Binding, name: string): Promise<boolean> {
    try {
      await this.#evict(binding, name);
      return false;
    } catch (error) {
      if (error instanceof Error && error.message.includes("not currently running")) return true;
      throw error;
    }
  }

  #evict(
    binding: Binding,
    name: string,
    webSockets: "hibernate" | "close" = "hibernate",
  ): Promise<void> {
    return this.#worker.evictDurableObject(binding, { name, webSockets });
  }

  #alarm(objects: string, name: string): bigint | undefined {
    const files = readdirSync(this.#folder, { recursive: true, encoding: "utf8" });
    const file = files.find((path) => path.endsWith(join(objects, "metadata.sqlite")));
    if (file === undefined) throw new Error("the runtime's own database of alarms isn't there");
    const database = new DatabaseSync(join(this.#folder, file), { readOnly: true });
    try {
      const query = database.prepare("SELECT scheduled_time FROM _cf_ALARM WHERE actor_name = ?");
      query.setReadBigInts(true);
      const time = query.get(name)?.["scheduled_time"];
      return typeof time === "bigint" ? time : undefined;
    } finally {
      database.close();
    }
  }
}

/** Bundling anew would take half of the processor time of each start. */
let bundle: string | undefined;

/**
 * Writes the bundle that is deployed and its configuration, that in wrangler.toml, into a new folder, and gives the path of
 * the configuration. The main module is a small one, because wrangler parses it at each start.
 */
function bundledConfig(folder: string): string {
  bundle ??= keptBundle({});
  const worker = join(folder, "worker");
  mkdirSync(worker);
  writeFileSync(join(worker, "edge.js"), bundle);
  const exported = /export\s*\{([^}]*)\};?\s*(?:\/\/#.*\s*)?$/.exec(bundle)?.[1] ?? "";
  const names = exported.split(",").map((name) => name.split(" as ").at(-1));
  writeFileSync(join(worker, "main.js"), `export { ${names.join(", ")} } from "./edge.js";\n`);
  const modules = `no_bundle = true\nrules = [{ type = "ESModule", globs = ["edge.js"] }]`;
  const own = movedConfiguration()
    .replace(/^main = .+$/m, `main = "main.js"\n${modules}`)
    .replace(/^minify = .+$/m, "");
  const path = join(worker, "wrangler.toml");
  writeFileSync(path, own);
  return path;
}

/** The Worker's bindings of the kinds of objects that a test evicts or reads. */
type Binding = "CHANNELS" | "GATEWAYS" | "METRICS";

/**
 * Logged for sockets that are cut at the runtime itself, without the proxy: their traces can't be delivered any more.
 */
const tailWasCut = "exception = workerd/io/trace-stream.c++";

/** The event for each request that undici, the harness's HTTP client, documents. */
const requestMade = "undici:request:create";

/** The origin of a request that such an event is about; undefined if it has another path. */
function originOf(message: unknown, path: string): string | undefined {
  const { request }: { request?: { origin?: string | URL; path?: string } } = Object(message);
  return request?.path === path ? String(request.origin) : undefined;
}
