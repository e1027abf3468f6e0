/** What a client process is told: where the server is, and who subscribes to what. It travels as JSON. */
export interface ClientsPlan {
  /** Where the history of these clients is written. */
  readonly historyFile: string;
  /** Of the server or of a proxy before it, such as `http://127.0.0.1:8787`. */
  readonly address: string;
  /** What the clients call the server, where the address is that of a proxy before a deployed one. */
  readonly hostHeader?: string;
  /** Signs the connection tokens (HS256). */
  readonly tokenSecret: string;
  /** As the server is configured: a connection that is silent for 3 s more is dead. */
  readonly pingIntervalMs: number;
  /** A whole number, from which everything that is left to chance is drawn. */
  readonly seed: number;
  /** What subscribers of each channel are promised. Those of a channel with `none` never ask for what they missed. */
  readonly recovers: Readonly<Record<string, Recovery>>;
  readonly subscribers: readonly SubscriberPlan[];
}

export type Recovery = "stream" | "cache" | "none";

export interface SubscriberPlan {
  /** Its name in the history: nobody else's, and without a full stop. */
  readonly process: string;
  /** The official client, or one of ours on a bare socket. */
  readonly kind: "sdk" | "raw";
  /** A socket of the channel's own, or one for all its channels. */
  readonly endpoint: "channel" | "gateway";
  /** Exactly one for the endpoint `channel`. */
  readonly channels: readonly string[];
  /** It publishes too, one thing at a time. */
  readonly publishes?: PublishingPlan;
  /** It pings by itself, which wakes nobody; raw ones only. */
  readonly pings?: boolean;
  /** Its token subscribes it to its channels, not it itself; raw ones on a gateway only. */
  readonly given?: boolean;
  /** How long a raw one stays subscribed on average before it leaves one of its channels, to come back soon; others stay. */
  readonly churnMs?: number;
}

export interface PublishingPlan {
  /** One of those that it subscribes to. */
  readonly channel: string;
  /** From one publish to the next, on average. */
  readonly everyMs: number;
}

/** Throws where a plan can't be carried out. */
export function checkPlan({ recovers, subscribers }: ClientsPlan): void {
  const processes = new Set<string>();
  for (const { process, kind, endpoint, channels, given, publishes } of subscribers) {
    const refuse = (why: string): never => {
      throw new Error(`the plan for "${process}" is wrong: ${why}`);
    };
    if (processes.has(process)) refuse("its name is another one's too");
    processes.add(process);
    if (process.includes(".")) refuse("a full stop ends a value within its padding");
    if (channels.length === 0) refuse("it has no channel");
    if (new Set(channels).size < channels.length) refuse("it names a channel twice");
    if (endpoint === "channel" && channels.length > 1) refuse("its socket is for one channel");
    if (given === true && (kind === "sdk" || endpoint === "channel")) {
      refuse("only raw ones on a gateway are given channels");
    }
    if (publishes !== undefined && !channels.includes(publishes.channel)) {
      refuse("it publishes where it isn't subscribed");
    }
    const unknown = channels.find((channel) => recovers[channel] === undefined);
    if (unknown !== undefined) refuse(`nothing is said of what ${unknown} recovers`);
  }
}
