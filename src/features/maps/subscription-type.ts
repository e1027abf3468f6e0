import type { SubscriptionType } from "../../session/ports.ts";
import { changeMap } from "./map-commands.ts";
import { beginMapFlow, continueMapFlow, lostFlow } from "./map-subscribe.ts";

/** Subscriptions to maps, presence maps included (docs/protocol.md 3.4). */
export const mapSubscriptions: SubscriptionType = {
  goOn: continueMapFlow,
  refuse: lostFlow,
  begin: beginMapFlow,
  publish: changeMap,
  asksBeforePublish: ({ map }) => (map?.publishHook ?? map?.removeHook) !== undefined,
};
