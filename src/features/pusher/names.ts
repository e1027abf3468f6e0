/** The name of the protocol among those of gateways. Two releases agree on it. */
export const dialectName = "pusher";
