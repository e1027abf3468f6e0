import type { Delivery } from "../../../src/channel/follower-progress.ts";
import type { Relay } from "../../../src/channel/relay.ts";
import type { RelayBatch, RelayBatchReply } from "../../../src/contract/relay-batch.ts";
import { limits } from "../../../src/limits.ts";
import type { Incarnation } from "./incarnation.ts";
import type { PresenceObject } from "./presence-host.ts";
import type { WorldContext } from "./world-context.ts";

/** The channel object that delivers. */
interface Deliverer {
  readonly object: PresenceObject;
  readonly relay: Relay;
  readonly incarnation: Incarnation;
}

/** Calls a gateway with the entries that it is due, and reports the answer to the relay. */
export function deliver(
  delivery: Delivery,
  { object, relay, incarnation }: Deliverer,
  context: WorldContext,
): void {
  const { gateway, batch } = delivery;
  context.network.call<RelayBatch, RelayBatchReply>({
    kind: "deliver",
    from: object.name,
    to: gateway,
    request: batch,
    incarnation,
    gate: (work) => object.gate(work),
    waitMs: limits.objectAnswerMs,
    carryOut: (sent, answer) => context.gateway(gateway).deliver(sent, answer),
    answered: (answer) => {
      object.guard(() => {
        relay.answered(delivery, answer ?? "failed", object.nowMs);
        object.acted();
      });
    },
  });
}
