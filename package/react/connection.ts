import { Centrifuge, type Options } from "centrifuge";
import {
  beginChannel,
  type ChannelCalls,
  type ChannelOptions,
  type ChannelState,
  idleChannel,
} from "./channel.ts";
import { type Current, Feed, Feeds, type Problem, type Running } from "./feed.ts";
import { beginMap, idleMap, type MapCalls, type MapKind, type MapState } from "./map.ts";
import type { Sent } from "./messages.ts";
import type { TokenGetter } from "./subscription.ts";
import { beginUnread, idleUnread, type UnreadCalls, type UnreadState } from "./unread.ts";

/** Where a connection leads, and whose it is. */
export interface ConnectionOptions {
  /** The WebSocket address. One that begins with `/` is of the page's own host. */
  readonly url: string;
  /** A connection token; another one is another connection. */
  readonly token?: string | undefined;
  /** Gets a connection token, at first and before it expires. The newest function is called. */
  readonly getToken?: (() => Promise<string>) | undefined;
  /** Who is logged in: with another user the connection and all that was heard begin anew. */
  readonly user?: string | undefined;
  /** Further options of the SDK, which are read when the connection begins. */
  readonly options?: Partial<Options> | undefined;
}

/** What is known of the connection. */
export interface ConnectionState {
  /** `disconnected` is final: the server has refused or ended the connection. While it is lost, it is `connecting`. */
  readonly state: "connecting" | "connected" | "disconnected";
  readonly problem: Problem | undefined;
  /** The official client, for everything else: `rpc`, `send`. It isn't there on the server. */
  readonly client: Centrifuge | undefined;
}

export const idleConnection: ConnectionState = {
  state: "connecting",
  problem: undefined,
  client: undefined,
};

/** A connection, and what is heard over it. Nothing happens before an effect uses it. */
export class Connection {
  readonly #options: Current<ConnectionOptions>;
  #client: Centrifuge | undefined;
  readonly #open = (): Centrifuge => (this.#client ??= this.#create());
  readonly state = new Feed<ConnectionState, object, object>(idleConnection, () => this.#begin());
  readonly channels = new Feeds<ChannelState<Sent>, ChannelOptions, ChannelCalls>(
    idleChannel,
    (channel, feed) => beginChannel(this.#open(), channel, feed),
  );
  readonly maps = {
    data: this.#maps("data"),
    clients: this.#maps("clients"),
    users: this.#maps("users"),
  };
  readonly unread = new Feeds<UnreadState, object, UnreadCalls>(idleUnread, (channel, feed) =>
    beginUnread(this.#open(), this.channels, channel, feed),
  );

  constructor(options: Current<ConnectionOptions>) {
    this.#options = options;
  }

  #maps(kind: MapKind) {
    return new Feeds<MapState<Sent>, TokenGetter, MapCalls>(idleMap, (channel, feed) =>
      beginMap(this.#open(), kind, channel, feed),
    );
  }

  #begin(): Running<object> {
    const client = this.#open();
    this.state.show({ client });
    client.connect();
    return { calls: {}, joined: () => undefined, end: () => client.disconnect() };
  }

  #create(): Centrifuge {
    const { url, token, getToken, options } = this.#options.current;
    const address = new URL(url, location.href);
    address.protocol = address.protocol.replace("http", "ws");
    const client = new Centrifuge(address.href, {
      ...options,
      ...(token !== undefined && { token }),
      ...(getToken !== undefined && {
        getToken: async () => (await this.#options.current.getToken?.()) ?? "",
      }),
    });
    client.on("connecting", () => this.state.show({ state: "connecting" }));
    client.on("connected", () => this.state.show({ state: "connected", problem: undefined }));
    client.on("disconnected", ({ code, reason }) =>
      this.state.show({ state: "disconnected", problem: { code, message: reason } }),
    );
    return client;
  }
}
