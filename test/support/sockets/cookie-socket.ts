import { WebSocket } from "ws";

/**
 * A class of WebSockets that send a cookie with their handshake, as a browser does, for the SDK's option `websocket`.
 *
 * @param cookie such as `session=…`; "" for none
 */
export function cookieSocket(
  cookie: string,
): new (address: string, protocols?: string | string[]) => WebSocket {
  return class extends WebSocket {
    constructor(address: string, protocols?: string | string[]) {
      super(address, protocols, cookie === "" ? {} : { headers: { Cookie: cookie } });
    }
  };
}

/** The cookies that a response sets, as a browser sends them back. */
export function cookiesOf(response: Response): string {
  const given = response.headers.getSetCookie();
  return given.map((cookie) => cookie.split(";")[0] ?? "").join("; ");
}
