import { randomBytes } from "node:crypto";
import { disconnectCodes } from "../../src/protocol/codes.ts";
import { trustedJsonText } from "../../src/protocol/json/text.ts";
import type { ApiAnswer, ApiClient } from "../connection/api-client.ts";
import { refusal } from "../shell.ts";
import { shown } from "../text/printable.ts";
import { PayloadText } from "../text/payload-text.ts";
import { signToken } from "../token/token-signer.ts";
import { Client, type Connected, type Handshake, type Refused, type Subscribed } from "./client.ts";
import type { Finding, Measurement } from "./findings.ts";
import { type Credentials, refusedText } from "./judge-taken.ts";
import { doctorLimits } from "./limits.ts";
import { NotAllowed, within } from "./waiting.ts";

/** What a run is to do. */
export interface RunOptions {
  readonly subscribers: number;
  readonly returning: number;
  readonly samples: number;
  readonly sleepMs: number;
  readonly quietMs: number;
  /** Whether so many texts are sent to sleeping objects that a bill shows whether they count. */
  readonly billsTexts: boolean;
  /** The namespace of the run's channels; "" for channels without one. */
  readonly namespace: string;
  /** Of a page that is to be admitted; absent if none was named. */
  readonly origin?: string;
}

/** How clients come to be subscribed to a channel of the run. */
type Opening =
  | "themselves"
  /** The API's `subscribe` subscribes them, because nothing else opens the channel. */
  | "by the API";

/** A place to connect: the gateway for many channels, or a channel's own address. */
export type Place =
  | { readonly kind: "gateway" }
  | { readonly kind: "channel"; readonly channel: string };

/** A server that is one of ours. */
export interface Identity {
  /** The release that it runs; "" if the key doesn't admit the question. */
  readonly version: string;
  /** The headers of its answer to `/health`. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A run against one server: what it made, so that it can be removed, and what it found. */
export class Run {
  readonly api: ApiClient;
  readonly options: RunOptions;
  readonly credentials: Credentials;
  readonly stop: AbortSignal;
  readonly measurements: Measurement[] = [];
  readonly findings: Finding[] = [];
  /** Channels that were named. */
  readonly channels = new Set<string>();
  readonly users = new Set<string>();
  /** What was done, which the platform bills for. */
  readonly done = { connects: 0, calls: 0, commands: 0, keepAlives: 0 };
  identity: Identity = { version: "", headers: {} };
  opening: Opening = "themselves";
  /** Whether the server is `npm start` on this machine. */
  isDevelopment = false;
  readonly #name = randomBytes(5).toString("hex");
  readonly #clients = new Set<Client>();
  readonly #userOf = new WeakMap<Client, string>();
  #published = 0;

  constructor(api: ApiClient, options: RunOptions, credentials: Credentials, stop: AbortSignal) {
    this.api = api;
    this.options = options;
    this.credentials = credentials;
    this.stop = stop;
  }

  /** What the names of all its channels begin with. */
  get channelPrefix(): string {
    const { namespace } = this.options;
    const before = namespace === "" ? "" : `${namespace}:`;
    return `${before}${doctorLimits.channelPrefix}${this.#name}-`;
  }

  /** A channel of its own. */
  channel(name: string): string {
    const channel = `${this.channelPrefix}${name}`;
    this.channels.add(channel);
    return channel;
  }

  measured(name: string, samplesMs: readonly number[], lost = 0, detail = ""): void {
    this.measurements.push({ name, samplesMs, lost, detail });
  }

  found(...findings: readonly Finding[]): void {
    this.findings.push(...findings);
  }

  /** Calls a method of the API, whatever the answer is. */
  async call(...call: Parameters<ApiClient["call"]>): Promise<ApiAnswer> {
    this.done.calls++;
    const answer = await within(this.api.call(...call), doctorLimits.callMs, this.stop);
    return answer ?? { outcome: "unreachable", cause: "no answer" };
  }

  /**
   * Publishes, and gives the number by which clients know the publication.
   *
   * @param characters of the data, at least
   * @throws {Failure} if the server refuses it or can't be reached
   */
  async publish(
    channel: string,
    characters = 0,
  ): Promise<{ readonly number: number; readonly sentAtMs: number; readonly offset: number }> {
    const number = this.nextNumber();
    const fill = characters === 0 ? {} : { fill: "x".repeat(characters) };
    const sentAtMs = performance.now();
    const data = payloadOf({ number, ...fill });
    const answer = await this.call("publish", { channel, data });
    if (answer.outcome !== "result") throw this.api.failure(answer);
    return { number, sentAtMs, offset: Number(answer.result["offset"] ?? 0) };
  }

  /** The next number of a publication. */
  nextNumber(): number {
    return ++this.#published;
  }

  /** Connects one of the run's clients, and remembers it. */
  async connect(place: Place, more: Partial<Omit<Handshake, "address">> = {}): Promise<Connected> {
    this.done.connects++;
    this.done.commands++;
    const { token, user } = await this.token();
    const connected = await Client.connect(
      { address: this.addressOf(place), ...(token !== undefined && { token }), ...more },
      this.stop,
    );
    if (connected.outcome === "connected") {
      this.#clients.add(connected.client);
      this.#userOf.set(connected.client, user);
    }
    return connected;
  }

  /**
   * A connected client.
   *
   * @throws {Failure} if the server doesn't take it
   */
  async client(place: Place, more: Partial<Omit<Handshake, "address">> = {}): Promise<Client> {
    const connected = await this.connect(place, more);
    if (connected.outcome === "connected") return connected.client;
    if (isFull(connected)) throw new NotAllowed(fullText);
    throw refusal(`a client isn't taken: ${refusedText(connected)}`);
  }

  /**
   * Subscribes a client to a channel of the run.
   *
   * @throws {Failure} if the server refuses it
   */
  async subscribe(
    client: Client,
    channel: string,
    since?: { readonly offset: number; readonly epoch: string },
  ): Promise<Subscribed> {
    this.done.commands++;
    if (this.opening === "by the API") return this.#subscribeByApi(client, channel);
    const subscribed = await client.subscribe(channel, since);
    if (subscribed === undefined) throw refusal("a subscribe wasn't answered in 10 s");
    if (!("outcome" in subscribed)) return subscribed;
    throw refusal(`a subscribe is refused: ${subscribed.code} ${subscribed.message}`);
  }

  /** A client that is subscribed. */
  async subscriber(
    place: Place,
    channel: string,
    more: Partial<Omit<Handshake, "address">> = {},
  ): Promise<Client> {
    const client = await this.client(place, more);
    await this.subscribe(client, channel);
    return client;
  }

  async #subscribeByApi(client: Client, channel: string): Promise<Subscribed> {
    const pushed = client.subscribedByServer(channel);
    const user = this.#userOf.get(client) ?? "";
    // An anonymous connection is named by its ID alone.
    const named = { client: client.id, ...(user !== "" && { user }) };
    const answer = await this.call("subscribe", { channel, ...named });
    if (answer.outcome !== "result") throw this.api.failure(answer);
    const push = await pushed;
    if (push === undefined) throw refusal("the API's subscribe has subscribed nobody in 10 s");
    return {
      recoverable: false,
      offset: Number(push["offset"] ?? 0),
      epoch: shown(push["epoch"]),
      recovered: false,
      publications: [],
    };
  }

  /** The address at which clients connect. */
  addressOf(place: Place): string {
    return `${this.httpAddressOf(place).replace(/^http/, "ws")}/websocket`;
  }

  /** The same of other transports, without their names. */
  httpAddressOf(place: Place): string {
    const path =
      place.kind === "gateway" ? "connection" : `channel/${encodeURIComponent(place.channel)}`;
    return `${this.api.address}/${path}`;
  }

  /** The token of the next client, without one for none, and its user. */
  async token(): Promise<{ readonly token?: string; readonly user: string }> {
    const { credentials } = this;
    switch (credentials.kind) {
      case "anonymous":
        return { user: "" };
      case "token":
        return credentials;
      case "secret": {
        const user = `${doctorLimits.channelPrefix}${this.#name}-${this.users.size}`;
        this.users.add(user);
        const { secret, userIdClaim } = credentials;
        return { token: await this.#tokenOf(user, secret, userIdClaim), user };
      }
    }
  }

  /** A token of a user of the run, for its channels and for an hour. */
  #tokenOf(user: string, secret: string, userIdClaim: string): Promise<string> {
    const nowSeconds = Math.floor(Date.now() / 1_000);
    const caps = [
      {
        channels: [`${this.channelPrefix}*`],
        match: "wildcard",
        allow: ["sub", "prs", "hst"],
      },
    ];
    const claims = { [userIdClaim]: user, iat: nowSeconds - 60, exp: nowSeconds + 3_600, caps };
    return signToken(claims, { algorithm: "HS256", key: secret });
  }

  /** The headers by which a request of another transport proves who it is. */
  async tokenHeaders(): Promise<Readonly<Record<string, string>>> {
    this.done.connects++;
    const { token } = await this.token();
    return token === undefined ? {} : { Authorization: `Bearer ${token}` };
  }

  /** Forgets a client that has ended by itself. */
  forget(client: Client): void {
    this.#clients.delete(client);
  }

  /** Ends one client. */
  end(client: Client): void {
    client.end();
    this.#clients.delete(client);
  }

  /** Ends all clients. */
  endAll(): void {
    for (const client of this.#clients) client.end();
    this.#clients.clear();
  }
}

/** The data of a publication. */
export function payloadOf(data: object): PayloadText {
  return new PayloadText(trustedJsonText(JSON.stringify(data)));
}

/** Whether a user may have no further connection. */
export function isFull(refused: Refused): boolean {
  return refused.outcome === "refused" && refused.code === disconnectCodes.connectionLimit.code;
}

/** Why less is measured where {@link isFull}. */
export const fullText =
  "the token's user may have no further connection (client.user_connection_limit): with TOKEN_HMAC_SECRET_KEY each client is a user";
