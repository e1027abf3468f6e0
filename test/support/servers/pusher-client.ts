import PusherClient, { type Options } from "pusher-js";
import PusherServer from "pusher";
import { shopApp, shopSecrets } from "./pusher-app.ts";

/** What a client of pusher-js gets to find a server. @param address of the server */
export function pusherPlace(address: string) {
  const { hostname, port } = new URL(address);
  return {
    cluster: "any",
    wsHost: hostname,
    wsPort: Number(port),
    forceTLS: false,
    enabledTransports: ["ws"],
  } satisfies Options;
}

/** The backend of {@link shopApp}, which publishes and signs. @param more options of it */
export function pusherBackend(
  address: string,
  more: { readonly encryptionMasterKeyBase64?: string } = {},
): PusherServer {
  const { hostname: host, port } = new URL(address);
  const { id: appId, key } = shopApp;
  const secret = shopSecrets.PUSHER_SECRET_SHOP;
  return new PusherServer({ appId, key, secret, host, port, useTLS: false, ...more });
}

/**
 * An unmodified client, for which its page's backend signs.
 *
 * @param user who uses it
 * @param more options of it
 */
export function pusherClient(
  address: string,
  backend: PusherServer,
  user: string,
  more: Partial<Options> = {},
): PusherClient {
  return new PusherClient(shopApp.key, {
    ...pusherPlace(address),
    channelAuthorization: signedChannels(backend, user),
    userAuthentication: {
      endpoint: "",
      transport: "ajax",
      customHandler: ({ socketId }, done) => {
        done(null, backend.authenticateUser(socketId, { id: user }));
      },
    },
    ...more,
  });
}

/** Signs a client's subscriptions. @param user the member on presence channels */
export function signedChannels(
  backend: PusherServer,
  user: string,
): NonNullable<Options["channelAuthorization"]> {
  return {
    endpoint: "",
    transport: "ajax",
    customHandler: ({ socketId, channelName }, done) => {
      const member = { user_id: user, user_info: { name: `name of ${user}` } };
      const data = channelName.startsWith("presence-") ? member : undefined;
      done(null, backend.authorizeChannel(socketId, channelName, data));
    },
  };
}
