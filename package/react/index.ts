"use client";
/** Hooks for React 18 and 19: a channel, a map, who is there, what is unread, and the connection. */
import type { ClientInfo } from "centrifuge";
import {
  createContext,
  createElement,
  type ReactElement,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useInsertionEffect,
  useMemo,
  useRef,
  useSyncExternalStore,
} from "react";
import type { ChannelCalls, ChannelOptions, ChannelState } from "./channel.ts";
import {
  Connection,
  type ConnectionOptions,
  type ConnectionState,
  idleConnection,
} from "./connection.ts";
import type { Current, Feeds } from "./feed.ts";
import type { MapCalls, MapState } from "./map.ts";
import type { TokenGetter } from "./subscription.ts";
import type { UnreadCalls, UnreadState } from "./unread.ts";

export type { ChannelCalls, ChannelOptions, ChannelState, JsonData } from "./channel.ts";
export type { ConnectionOptions, ConnectionState } from "./connection.ts";
export type { Problem } from "./feed.ts";
export type { MapCalls, MapState } from "./map.ts";
export type { Message } from "./messages.ts";
export type { SubscriptionState, TokenGetter } from "./subscription.ts";
export type { UnreadCalls, UnreadState } from "./unread.ts";

const Connected = createContext<Connection | undefined>(undefined);

/** Connects while it is there. Its components share the connection, and those of one channel a subscription. */
export function RealtimeProvider({
  children,
  ...options
}: ConnectionOptions & { readonly children?: ReactNode }): ReactElement {
  const newest = useNewest<ConnectionOptions>(options);
  const { url, token, user } = options;
  const connection = useMemo(() => new Connection(newest), [newest, url, token, user]);
  useEffect(() => connection.state.use(nothing, newest, nothing), [connection, newest]);
  return createElement(Connected.Provider, { value: connection }, children);
}

/** The state of the connection, and the official client. */
export function useConnection(): ConnectionState {
  const { state } = useTheConnection();
  const use = useCallback(
    (changed: () => void) => state.use(changed, { current: {} }, nothing),
    [state],
  );
  return useSyncExternalStore(
    use,
    () => state.shown,
    () => idleConnection,
  );
}

/**
 * Subscribes to a channel, and gives its messages, and `publish`.
 *
 * @param channel undefined subscribes to none, in all hooks
 */
export function useChannel<Data = unknown>(
  channel: string | undefined,
  options: ChannelOptions = {},
): ChannelState<Data> & ChannelCalls {
  const { channels } = useTheConnection();
  const calls = useMemo<ChannelCalls>(
    () => ({ publish: async (data) => subscribed(channel, channels.calls(channel)).publish(data) }),
    [channels, channel],
  );
  return { ...useFeed(channels, channel, options, options.history), ...calls };
}

/** Subscribes to a map, and gives the newest value of each key, `set` and `remove`. */
export function useMap<Value = unknown>(
  channel: string | undefined,
  options: TokenGetter = {},
): MapState<Value> & MapCalls {
  const { data } = useTheConnection().maps;
  const calls = useMemo<MapCalls>(
    () => ({
      set: async (key, value) => subscribed(channel, data.calls(channel)).set(key, value),
      remove: async (key) => subscribed(channel, data.calls(channel)).remove(key),
    }),
    [data, channel],
  );
  return { ...useFeed(data, channel, options), ...calls };
}

/**
 * Subscribes to a presence map, and gives who is there, by the IDs of connections or of users.
 *
 * @param channel of the presence map, such as `clients:room:7`
 * @param options `of` says which of the two the map has; `clients` by default
 */
export function usePresence(
  channel: string | undefined,
  options: TokenGetter & { readonly of?: "clients" | "users" } = {},
): MapState<ClientInfo> {
  return useFeed(useTheConnection().maps[options.of ?? "clients"], channel, options);
}

/** Counts what the user hasn't read of a channel with `cursors`, and gives `markRead`. */
export function useUnread(channel: string | undefined): UnreadState & UnreadCalls {
  const { unread } = useTheConnection();
  const calls = useMemo<UnreadCalls>(
    () => ({ markRead: (offset) => unread.calls(channel)?.markRead(offset) }),
    [unread, channel],
  );
  return { ...useFeed(unread, channel, {}), ...calls };
}

function useTheConnection(): Connection {
  const connection = useContext(Connected);
  if (connection === undefined) throw new Error("there is no <RealtimeProvider> around it");
  return connection;
}

function subscribed<Calls>(channel: string | undefined, calls: Calls | undefined): Calls {
  if (calls === undefined) throw new Error(`nothing is subscribed to ${channel ?? "no channel"}`);
  return calls;
}

/** Uses a feed while the component is there, and joins it anew when a number of its wish changes. */
function useFeed<Shown extends object, Wish, Calls>(
  feeds: Feeds<Shown, Wish, Calls>,
  channel: string | undefined,
  wish: Wish,
  number?: number,
): Shown {
  const newest = useNewest(wish);
  const use = useCallback(
    (changed: () => void) =>
      channel === undefined ? nothing : feeds.use(channel, changed, newest),
    [feeds, channel, newest, number],
  );
  return useSyncExternalStore(
    use,
    () => feeds.shown(channel),
    () => feeds.idle,
  );
}

/** What the newest render gave, for functions that are called later. It is there before any effect. */
function useNewest<Value>(value: Value): Current<Value> {
  const newest = useRef(value);
  useInsertionEffect(() => {
    newest.current = value;
  });
  return newest;
}

function nothing(): void {}
