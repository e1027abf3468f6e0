import type { PeerName } from "./peer.ts";
import type { ArrivalRule } from "./weakened.ts";

/** The systems under test. */
export type SystemName = StartedName | WeakenedName | PeerName;

/** Dormouse without one of the rules for arrivals, as `--without` asks for. */
export type WeakenedName = `${"channel" | "gateway"}-without-${ArrivalRule}`;

/**
 * The systems that the bench starts itself. The first four are one server, Dormouse's production bundle, used in four
 * ways.
 */
export type StartedName =
  /** Sockets on the channel's own object. */
  | "channel"
  | "channel-no-history"
  /** Sockets on a gateway. */
  | "gateway"
  | "gateway-no-history"
  /** The limit of the runtime: an object that only collects and sends. */
  | "limit"
  /** The same, which also writes a row for each publication, as Dormouse does with history. */
  | "durable-limit"
  /** npm's `ws` on Node with a plain loop. */
  | "ws"
  /** npm's `socket.io` on Node with connection state recovery. */
  | "socket.io"
  /** npm's `partyserver` on workerd. */
  | "partyserver"
  /** Sends prepared bytes: shows the maximum of the load generator. */
  | "null";

/** A client, and the position from which it recovers. */
export interface Caller {
  readonly channel: string;
  /** The caller's connection token, "" for none. */
  readonly token: string;
  /** The position from which the caller recovers, if it does. */
  readonly since?: { readonly offset: number; readonly epoch: string };
  /** Entries of a page, if the channel is a map: the caller reads all of it before it is subscribed. */
  readonly pageSize?: number;
  /** Whether the caller of a map asks for deltas. */
  readonly deltas?: boolean;
}

/** How a subscriber connects to one system, as text. */
export interface ConnectScript {
  /** Path and query of the WebSocket. */
  readonly path: string;
  /** The text frames that the subscriber sends after the upgrade, each when the one before is answered. */
  readonly steps: readonly Step[];
}

export interface Step {
  readonly send: string;
  /** The step is answered when this text has arrived in a frame; "" for at once. */
  readonly answer: string;
  /**
   * What is sent when the step is answered but not complete, and is answered by the same text; undefined if it is
   * complete. Steps without this function are complete with their answer.
   *
   * @param answered the rest of the answering frame, after that text
   */
  readonly again?: (answered: string) => string | undefined;
}

/** One POST of a backend. */
export interface Post {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The path for another body, where the path signs it; absent if it doesn't. */
  readonly pathOf?: (body: string) => string;
}

/**
 * How to speak to one system. All requests are text that is prepared beforehand, so that the load generator does the
 * same work for each system. A publication contains {@link marker} exactly once, and nothing else does: publications
 * are counted by it.
 */
export interface Wire {
  connectScript(caller: Caller): ConnectScript;
  /** One publication in one channel. */
  publish(channel: string, data: string): Post;
  /** The same data in several channels by one request; undefined if the system has no such request. */
  publishBatch?(channels: readonly string[], data: string): Post;
  /** The change of a key in a channel that is a map; undefined if the system has no maps. */
  publishKey?(channel: string, key: string, data: string): Post;
  /** A text that the value of a key grows by in a channel that is a map; undefined if the system has no such values. */
  appendKey?(channel: string, key: string, text: string): Post;
  /** A call of a channel's code, which publishes the data; undefined if channels of the system have none. */
  call?(channel: string, data: string): Post;
  /** A text frame that must be answered at once to stay connected; undefined if the server sends ping frames. */
  readonly ping?: Ping;
  /** A text frame of a subscriber that the system answers by one line; undefined for a system that isn't asked. */
  readonly receipt?: string;
  /**
   * A text frame by which a subscriber marks that its user has read the channel up to an offset, and which the system
   * answers by one line; undefined if the system keeps no marks.
   */
  readonly mark?: (channel: string, offset: number) => string;
}

interface Ping {
  readonly sent: string;
  readonly answer: string;
  /** Whether a ping may be a line of a frame with other lines; otherwise it is always a frame of its own. */
  readonly sharesFrames?: boolean;
}

/** Occurs in each publication's data once, and nowhere else: deltas have no such digit. */
export const marker = "^";

/** The secret that signs the tokens of all callers, with HS256, in each system that takes tokens. */
export const tokenSecret = "the bench's secret, of thirty-two bytes and more";
