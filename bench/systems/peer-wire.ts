import {
  centrifugoBatch,
  centrifugoPublish,
  centrifugoReceipt,
  centrifugoSteps,
} from "./centrifugo-requests.ts";
import type { Peer } from "./peer.ts";
import { pusherWire } from "./pusher-wire.ts";
import type { Wire } from "./wire.ts";

/** A server that runs already: the requests are those of Dormouse, with other addresses, or those of the Pusher protocol. */
export function peerWire(peer: Peer): Wire {
  if (peer.protocol === "pusher") return pusherWire(peer);
  const { sockets, api, key } = peer;
  return {
    connectScript: (caller) => ({
      path: sockets.path.replaceAll("%7Bchannel%7D", encodeURIComponent(caller.channel)),
      steps: centrifugoSteps(caller),
    }),
    publish: (channel, data) => centrifugoPublish({ path: api.path, key }, channel, data),
    publishBatch: (channels, data) => centrifugoBatch({ path: api.path, key }, channels, data),
    receipt: centrifugoReceipt,
    ping: { sent: "{}", answer: "{}", sharesFrames: true },
  };
}
