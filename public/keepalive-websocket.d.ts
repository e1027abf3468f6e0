/** Derives a WebSocket class that sends pings from another one, which must be an EventTarget. */
export declare function keepAlive(Base: typeof WebSocket): typeof WebSocket;

/** The platform's WebSocket class, with pings; undefined if the platform has none. */
export declare const KeepAliveWebSocket: typeof WebSocket | undefined;
