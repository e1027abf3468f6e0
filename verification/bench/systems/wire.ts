/** What the bench measures, by name. The first four are one server, Dormouse's production bundle, used in four ways. */
export type SystemName =
  /** Sockets on the channel's own object. */
  | "channel"
  | "channel-no-history"
  /** Sockets on a gateway. */
  | "gateway"
  | "gateway-no-history"
  /** What the runtime itself can do: an object that does nothing but batch and send. */
  | "limit"
  /** npm's `ws` on Node with a plain loop. */
  | "ws"
  /** npm's `socket.io` on Node with connection state recovery. */
  | "socket.io"
  /** npm's `partyserver` on workerd. */
  | "partyserver"
  /** Sends what was made beforehand: shows what the load generator itself can bear. */
  | "null";

/** Who connects, and what it missed. */
export interface Caller {
  readonly channel: string;
  /** A connection token of the caller's own, "" for none. */
  readonly token: string;
  /** Where it stood, when it wants what it missed since. */
  readonly since?: { readonly offset: number; readonly epoch: string };
}

/** How a subscriber gets into one system, as text. */
export interface ConnectScript {
  /** Path and query of the WebSocket. */
  readonly path: string;
  /** The text frames it sends after the upgrade, each as soon as what comes before it was answered. */
  readonly steps: readonly Step[];
}

export interface Step {
  readonly send: string;
  /** The step is answered when this text has come in some frame; "" for at once. */
  readonly answer: string;
}

/** One POST of a backend. */
export interface Post {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * How one system is spoken to. Everything is text that is made beforehand, so that the load generator does the same for
 * each of them. A publication carries {@link marker} exactly once, and nothing else that is sent does: publications are counted
 * by it.
 */
export interface Wire {
  connectScript(caller: Caller): ConnectScript;
  /** One publication in one channel. */
  publish(channel: string, data: string): Post;
  /** The same data in several channels by one request; undefined where the system has no such thing. */
  publishBatch?(channels: readonly string[], data: string): Post;
  /** A text frame that is answered by another at once, to stay connected; undefined where the server pings by frames of the protocol. */
  readonly ping?: { readonly sent: string; readonly answer: string };
}

/** Stands in each publication's data once, and nowhere else. */
export const marker = "~";

/** The secret that signs the tokens of all callers, with HS256, in each system that takes tokens. */
export const tokenSecret = "the bench's secret, of thirty-two bytes and more";
