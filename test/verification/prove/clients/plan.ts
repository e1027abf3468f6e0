/** The plan of a client process: the server's address, and the subscribers with their channels. Sent as JSON. */
export interface ClientsPlan {
  /** The file for the history of these clients. */
  readonly historyFile: string;
  /** The address of the server or of a proxy before it, such as `http://127.0.0.1:8787`. */
  readonly address: string;
  /** The server's own host name, where the address is that of a proxy before a deployed server. */
  readonly hostHeader?: string;
  /** The secret that signs the connection tokens (HS256). */
  readonly tokenSecret: string;
  /** The server's ping interval; a connection that is silent for 3 s longer is dead. */
  readonly pingIntervalMs: number;
  /** A whole number that seeds all random choices. */
  readonly seed: number;
  /** What each channel promises after a gap. Subscribers of a channel with `none` never ask to recover. */
  readonly recovers: Readonly<Record<string, Recovery>>;
  readonly subscribers: readonly SubscriberPlan[];
}

export type Recovery = "stream" | "cache" | "none";

export interface SubscriberPlan {
  /** The subscriber's name in the history: unique, and without a full stop. */
  readonly process: string;
  /**
   * The official client, a client of ours on a bare socket, or the official client with subscriptions to maps, to maps with
   * texts that grow, or on channels that keep what their users have got and read; one that asks banks, or
   * is shown publications that are changed; or pusher-js.
   */
  readonly kind: "sdk" | "raw" | "map" | "text" | "reader" | "customer" | "changed" | "pusher";
  /** A socket on the channel's address, or one on a gateway for all channels. */
  readonly endpoint: "channel" | "gateway";
  /** Exactly one for the endpoint `channel`. */
  readonly channels: readonly string[];
  /**
   * The user of the client's token, whose connections a backend ends, blocks and subscribes; raw clients only. Absent: a
   * user whom many clients share, and for whom no order is given.
   */
  readonly user?: string;
  /** Channels to which only orders subscribe the client; raw clients with a user, on a gateway. */
  readonly orderable?: readonly string[];
  /** Present if the server asks a backend about what the client does; raw clients without orders only. */
  readonly asked?: AskedPlan;
  /** Present if the subscriber publishes too, one publish at a time. */
  readonly publishes?: PublishingPlan;
  /** What a reader does. */
  readonly reads?: ReadingPlan;
  /** Channels of a reader on a gateway whose receipts it follows, too, and these. */
  readonly follows?: readonly { readonly channel: string; readonly receipts: string }[];
  /** The banks that a customer asks. */
  readonly asks?: readonly string[];
  /** Whether a client of maps changes no key. */
  readonly watches?: boolean;
  /** Whether a client of texts or of changes is sent deltas. */
  readonly deltas?: boolean;
  /** Whether the client pings, which wakes no object; raw clients only. */
  readonly pings?: boolean;
  /** Whether the client's token subscribes it to its channels; raw clients on a gateway only. */
  readonly given?: boolean;
  /**
   * How long a raw client stays subscribed on average before it leaves a channel and returns soon; absent for clients
   * that stay.
   */
  readonly churnMs?: number;
}

/** What a backend decides of a client, besides its subscriptions and its publishes. */
export interface AskedPlan {
  /** Whether the client connects without a token. */
  readonly connects: boolean;
  /** The mean time between two calls of the client. */
  readonly callsEveryMs: number;
}

/** What the official client does on channels that keep what their users have got and read. */
export interface ReadingPlan {
  /** The user of the client's token. */
  readonly user: string;
  /** The mean time between two marks or questions; absent for a client that has none. */
  readonly everyMs?: number;
  /** Whether the client leaves soon, and comes back in the end or never. */
  readonly leaves?: "for a while" | "for good";
}

export interface PublishingPlan {
  /** One of the channels that the client subscribes to. */
  readonly channel: string;
  /** The mean time between two publishes. */
  readonly everyMs: number;
}

/** Throws if a plan can't be carried out. */
export function checkPlan({ recovers, subscribers }: ClientsPlan): void {
  const processes = new Set<string>();
  for (const subscriber of subscribers) {
    const { process, kind, endpoint, channels, given, publishes, user, orderable } = subscriber;
    const { asked, reads, follows } = subscriber;
    const refuse = (why: string): never => {
      throw new Error(`the plan for "${process}" is wrong: ${why}`);
    };
    if (processes.has(process)) refuse("its name is another one's too");
    processes.add(process);
    if (process.includes(".")) refuse("a full stop ends a value within its padding");
    if (channels.length === 0) refuse("it has no channel");
    if (new Set(channels).size < channels.length) refuse("it names a channel twice");
    if (endpoint === "channel" && channels.length > 1) refuse("its socket is for one channel");
    if (given === true && (kind !== "raw" || endpoint === "channel")) {
      refuse("only raw ones on a gateway are given channels");
    }
    if (publishes !== undefined && !channels.includes(publishes.channel)) {
      refuse("it publishes where it isn't subscribed");
    }
    if (kind === "pusher" && (endpoint === "channel" || publishes !== undefined)) {
      refuse("those of pusher-js are on gateways, and only listen");
    }
    if (user !== undefined && kind !== "raw") refuse("orders are given for raw ones only");
    if ((kind === "reader") !== (reads !== undefined)) refuse("readers read, and nobody else");
    if (follows !== undefined && (kind !== "reader" || endpoint === "channel"))
      refuse("only readers on a gateway follow receipts");
    if (follows?.some(({ channel }) => !channels.includes(channel)) === true)
      refuse("it follows the receipts of a channel to which it doesn't subscribe");
    if (asked !== undefined && (kind !== "raw" || user !== undefined || given === true)) {
      refuse("a backend is asked about raw ones only, without orders and given channels");
    }
    if (orderable !== undefined && (user === undefined || endpoint === "channel")) {
      refuse("only users' connections on a gateway are subscribed by orders");
    }
    if (orderable?.some((channel) => channels.includes(channel)) === true) {
      refuse("it subscribes by itself where orders do");
    }
    if (subscriber.deltas !== undefined && kind !== "text" && kind !== "changed")
      refuse("only clients of texts and of changes have deltas");
    if (kind === "map" || kind === "text" || kind === "changed") continue;
    const unknown = [...channels, ...(orderable ?? [])].find(
      (channel) => recovers[channel] === undefined,
    );
    if (unknown !== undefined) refuse(`nothing is said of what ${unknown} recovers`);
  }
}
