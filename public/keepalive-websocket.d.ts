/** Makes a WebSocket class that pings by itself out of another one, which must be an EventTarget. */
export declare function keepAlive(Base: typeof WebSocket): typeof WebSocket;

/** The platform's own WebSocket class, pinging by itself; undefined where the platform has none. */
export declare const KeepAliveWebSocket: typeof WebSocket | undefined;
