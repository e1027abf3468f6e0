import type { Options } from "centrifuge";
import { durationMs } from "./duration.ts";
import type { AskedQuestion, HookBackend, TestHooks } from "./hooks.ts";
import { Network } from "./network.ts";
import type { OwnObject, RunningServer, StartedObject } from "./running-server.ts";
import { checkCount } from "./numbers.ts";
import type { TestClient, TestClientSetup, TestSubscription } from "./test-client.ts";
import { DormouseTestError } from "./test-error.ts";
import { testLimits } from "./test-limits.ts";
import { signedToken, type TokenClaims } from "./tokens.ts";

/** Who connects, and how. */
export interface ClientOptions {
  /** The user of the token with which the client connects; absent: it has no token, as for a connect hook. */
  readonly user?: string;
  /** The channels to which it subscribes. */
  readonly subscribe?: string | TestSubscription | readonly (string | TestSubscription)[];
  /** What its tokens say beside the user. */
  readonly token?: TokenClaims;
  /** Options of the official client. */
  readonly options?: Partial<Options>;
}

/** The parts of a {@link TestDormouse}. */
export interface TestDormouseSetup<Bindings extends object> {
  readonly runtime: RunningServer<Bindings>;
  /** On which clients that the kit doesn't make reach the server. */
  readonly network: Network;
  readonly backend: HookBackend;
  readonly apiKey: string;
  readonly tokenSecret: string;
  readonly prefix: string;
  readonly withinMs: number;
  /** Whether the server keeps what was published, for {@link TestDormouse.published}; undefined if the kit can't know. */
  readonly keepsPublications: boolean | undefined;
}

/** What the environment of a Worker has, for a test that says no type of it. */
export interface TestBindings {
  readonly [name: string]: unknown;
}

/** A server for tests: the production server with its real objects, and what may happen to it. */
export class TestDormouse<Bindings extends object = TestBindings> {
  readonly #setup: TestDormouseSetup<Bindings>;
  readonly #clients = new Set<TestClient>();
  #lateMs = 0;

  constructor(setup: TestDormouseSetup<Bindings>) {
    this.#setup = setup;
  }

  /** Where the server is, such as `http://127.0.0.1:8787/realtime`, with the prefix; the same after a deploy. */
  get url(): string {
    return `${this.origin}${this.#setup.prefix}`;
  }

  /** Where the Worker is, such as `http://127.0.0.1:8787`, without the prefix; the same after a deploy. */
  get origin(): string {
    return this.#setup.network.address;
  }

  /**
   * What the Worker's environment has: its databases, namespaces, buckets, queues, objects, services and variables. Take them
   * from here each time: those of before a deploy or a reset can't be used any more.
   */
  get env(): Bindings {
    return this.#setup.runtime.bindings;
  }

  /** Where clients of one's own connect. */
  get websocketUrl(): string {
    return `${this.url.replace("http", "ws")}${websocketPath}`;
  }

  /** The key of the HTTP API at `${url}/api`. */
  get apiKey(): string {
    return this.#setup.apiKey;
  }

  /** The secret that signs connection and subscription tokens. */
  get tokenSecret(): string {
    return this.#setup.tokenSecret;
  }

  /** The functions that answer hooks, which a test may change. */
  get hooks(): TestHooks {
    return this.#setup.backend.functions;
  }

  /** The server's time, in ms since 1970: that of this machine, and what was advanced. */
  nowMs(): number {
    return Date.now() + this.#setup.runtime.aheadMs;
  }

  /** The questions that hooks have asked, the oldest first; of one hook, such as `publish`, if it is named. */
  asked(hook?: string): readonly AskedQuestion[] {
    return this.#setup.backend.asked.filter((one) => hook === undefined || one.hook === hook);
  }

  /** A connection token for a user. */
  token(user: string, claims: TokenClaims = {}): string {
    return signedToken(user, claims, this.tokenSecret, this.nowMs());
  }

  /** A token with which a user subscribes to a channel. */
  subscriptionToken(user: string, channel: string, { claims, ...rest }: TokenClaims = {}): string {
    return this.token(user, { ...rest, claims: { ...claims, channel } });
  }

  /**
   * Calls a method of the HTTP API, such as `presence`.
   *
   * @returns the method's result
   * @throws {DormouseTestError} with the error of the API
   */
  async api(method: string, params: object = {}): Promise<Readonly<Record<string, unknown>>> {
    const { runtime, prefix, apiKey } = this.#setup;
    const response = await fetch(new URL(`${prefix}/api/${method}`, runtime.url), {
      method: "POST",
      headers: { "X-API-Key": apiKey },
      body: JSON.stringify(params),
    });
    const text = await response.text();
    if (!response.ok) throw new DormouseTestError(`${method}: ${response.status} ${text}`);
    const { result, error }: ApiAnswer = JSON.parse(text);
    if (result === undefined)
      throw new DormouseTestError(`${method}: ${error?.code} ${error?.message}`);
    return result;
  }

  /** Publishes as a backend does; the options are those of the HTTP API, such as `idempotency_key`. */
  publish(channel: string, data: unknown, options: object = {}) {
    return this.api("publish", { ...options, channel, data });
  }

  /**
   * The data of all publications of a channel since the start or the last reset, whoever published them.
   *
   * @throws {DormouseTestError} if the configuration has `events` of its own, without those of publications, or none, in a module
   *   that was built with a server of its own
   */
  async published(channel: string): Promise<readonly unknown[]> {
    if (this.#setup.keepsPublications === false)
      throw new DormouseTestError(
        'published: the configuration has events without "publication" in their types: add it, or leave events out',
      );
    const published: unknown[] = [];
    for (let since: number | undefined; ;) {
      const { events } = await this.#eventsOf(channel, since);
      const page: readonly PublicationEvent[] = Array.isArray(events) ? events : [];
      for (const { type, data } of page) if (type === "publication") published.push(data);
      since = page.at(-1)?.number;
      if (page.length < eventsMax) return published;
    }
  }

  async #eventsOf(channel: string, since: number | undefined) {
    try {
      return await this.api("events", {
        object: `channel/${channel}`,
        limit: eventsMax,
        ...(since !== undefined && { since }),
      });
    } catch (error) {
      if (this.#setup.keepsPublications !== undefined) throw error;
      throw new DormouseTestError(
        `published: this Worker's module was built, or leaves events out, so that the kit can't add them: its configuration needs events with "publication" (${String(error)})`,
      );
    }
  }

  /**
   * Connects an official client, which subscribes. Resolves when all that is done.
   *
   * @throws {DormouseTestError} when the server refuses it
   */
  async client({ user, subscribe = [], token, options }: ClientOptions = {}): Promise<TestClient> {
    const { runtime, prefix, withinMs } = this.#setup;
    const Client = await clientClass();
    const network = await Network.to(() => runtime.url);
    network.lateMs = this.#lateMs;
    const credentials =
      user === undefined ? {} : { getToken: () => Promise.resolve(this.token(user, token)) };
    const client = new Client({
      user: user ?? "a client without a user",
      network,
      path: `${prefix}${websocketPath}`,
      options: { ...credentials, ...options },
      withinMs,
    });
    this.#clients.add(client);
    try {
      await client.connect();
      const wanted =
        typeof subscribe === "string" || "channel" in subscribe ? [subscribe] : subscribe;
      await Promise.all(wanted.map((one) => client.subscribe(one)));
    } catch (error) {
      this.#clients.delete(client);
      await client.close();
      throw error;
    }
    return client;
  }

  /** Cuts a client's connection without a close frame, or those of all clients. They come back by themselves. */
  async cut(client?: TestClient): Promise<void> {
    await Promise.all(this.#networks("cut", client).map((network) => network.cut()));
  }

  /** Lets everything between a client, or all clients, and the server arrive later, until it is set to 0. */
  late(duration: number | string, client?: TestClient): void {
    const lateMs = durationMs("late", duration, testLimits.timerMsMax);
    for (const network of this.#networks("late", client)) network.lateMs = lateMs;
    if (client === undefined) this.#lateMs = lateMs;
  }

  /** Loses the next frames with messages that the server sends to a client, or to each client. */
  lose(frames: number, client?: TestClient): void {
    checkCount("lose", frames);
    for (const network of this.#networks("lose", client)) network.lose(frames);
  }

  /**
   * Evicts a channel's object and the gateways, which hold the clients' sockets: their memory is thrown away, their sockets
   * and their storage stay. They wake when they are needed.
   *
   * @param channel or an object of the Worker's own, by the name of its binding and its own name; nothing else is evicted then
   * @throws {DormouseTestError} if the channel has no object, because nobody has used it
   */
  async evict(channel: string | OwnObject): Promise<void> {
    const { runtime } = this.#setup;
    if (typeof channel === "object") return runtime.evict(channel);
    const objects = await runtime.objects();
    const channels = objects.filter(({ kind }) => kind === "CHANNELS");
    if (!channels.some(({ name }) => name === channel))
      throw new DormouseTestError(
        `evict: nobody has used the channel "${channel}"; those with an object: ${channels.map(({ name }) => name).join(", ") || "none"}`,
      );
    await runtime.evict({ kind: "CHANNELS", name: channel });
    // One after another: an object that is being evicted waits for its calls to others, which would wait for it.
    for (const object of objects) if (object.kind === "GATEWAYS") await runtime.evict(object);
  }

  /** The objects that were started, and how often: a number that grows tells that the object was evicted and woke again. */
  objects(): Promise<readonly StartedObject[]> {
    return this.#setup.runtime.objects();
  }

  /** Deploys the server anew: all objects and connections end, the state stays, and the clients come back by themselves. */
  async deploy(): Promise<void> {
    await this.#setup.runtime.deploy();
    await this.cut();
  }

  /**
   * Sets the server's clock ahead, alarm by alarm: histories, tokens and presence end, pings are sent and answered. What waits
   * for a time of the client's own, or for a timer of the server's that lasts seconds, isn't moved.
   *
   * @throws {DormouseTestError} if so many alarms ring meanwhile that it would take minutes
   */
  async advance(duration: number | string): Promise<void> {
    const { runtime } = this.#setup;
    const untilMs = this.nowMs() + durationMs("advance", duration, testLimits.advanceMsMax);
    for (let steps = 0; steps < testLimits.advanceSteps; steps++) {
      await Promise.all(this.#networks("advance").map((network) => network.answered()));
      const { nowMs, rung } = await runtime.step(untilMs);
      if (rung === 0 && nowMs >= untilMs) return;
    }
    throw new DormouseTestError(
      `advance: alarms have rung ${testLimits.advanceSteps} times, and ${untilMs - this.nowMs()} ms remain. Each connected client is pinged at its interval: advance by less, or close the clients first`,
    );
  }

  /** Makes the server as new for the next test: no clients, no state, no questions. Its clock stays where it is. */
  async reset(): Promise<void> {
    const { runtime, backend, network } = this.#setup;
    await this.#closeClients();
    await network.cut();
    await runtime.wipe();
    backend.asked.length = 0;
    network.lateMs = 0;
    network.lose(0);
    this.#lateMs = 0;
  }

  /** Closes the clients and ends the server. */
  async stop(): Promise<void> {
    await this.#closeClients();
    await this.#setup.network.close();
    await this.#setup.runtime.stop();
  }

  async #closeClients(): Promise<void> {
    const clients = [...this.#clients];
    this.#clients.clear();
    await Promise.all(clients.map((client) => client.close()));
  }

  #networks(call: string, client?: TestClient): readonly Network[] {
    if (client === undefined)
      return [this.#setup.network, ...[...this.#clients].map(({ network }) => network)];
    if (!this.#clients.has(client))
      throw new DormouseTestError(`${call}: this is no client of the server, or no longer`);
    return [client.network];
  }
}

/** The class of clients. Its official client is the project's own, in the version that the project's users have. */
async function clientClass(): Promise<new (setup: TestClientSetup) => TestClient> {
  try {
    return (await import("./test-client.ts")).TestClient;
  } catch (error) {
    if (!String(error).includes("'centrifuge'")) throw error;
    throw new DormouseTestError(
      "client: the test kit connects the official client, which isn't installed: npm install --save-dev centrifuge",
    );
  }
}

interface ApiAnswer {
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
}

interface PublicationEvent {
  readonly number: number;
  readonly type: string;
  readonly data?: unknown;
}

const websocketPath = "/connection/websocket";

/** The most that one request for events gives. */
const eventsMax = 1_000;
