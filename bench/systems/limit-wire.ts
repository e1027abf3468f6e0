import { centrifugoReceipt } from "./centrifugo-requests.ts";
import { dormouseWire } from "./dormouse-wire.ts";
import type { Wire } from "./wire.ts";

/** An object that only collects and sends. Its clients send the frames of Dormouse's clients. */
export const limitWire: Wire = {
  connectScript: (caller) => {
    const { path, steps } = dormouseWire("channel").connectScript(caller);
    return { path: `${path}${caller.token === "" ? "" : `?token=${caller.token}`}`, steps };
  },
  receipt: centrifugoReceipt,
  publish: (channel, data) => ({
    path: `/channel/${encodeURIComponent(channel)}/publish`,
    headers: {},
    body: data,
  }),
  publishBatch: (channels, data) => ({
    path: "/publish",
    headers: {},
    body: `{"channels":${JSON.stringify(channels)},"data":${data}}`,
  }),
};
