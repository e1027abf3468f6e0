import type { AddedGatewayCalls } from "../../contract/object-calls.ts";
import type { MakeCall } from "../../object/object-call.ts";
import type { AddedCalls, PartedGateway } from "../../object/part.ts";
import type { PollBatch, PollBatchReply } from "./poll-batch.ts";
import { GatewayTracking } from "./gateway-tracking.ts";

declare module "../../contract/object-calls.ts" {
  interface AddedGatewayCalls {
    /** Takes what has changed of keys, and passes it on to the connections here that track them (rule SP7). */
    polled(batch: PollBatch): Promise<PollBatchReply>;
  }
}

type PollCalls = Pick<AddedGatewayCalls, "polled">;

/** Makes the call. */
export const pollCallers: { readonly polled: MakeCall<"polled"> } = {
  polled: (objects, to, request) => objects.gateway(to, (object) => object.polled(...request)),
};

/** The call with which a channel's object tells a gateway of changes. */
export const pollCalls: AddedCalls<PollCalls, PartedGateway> = {
  polled: {
    answer(object, [batch], done) {
      object.happened("batch");
      const nowMs = object.platform.nowMs();
      if (object.backlog.overloaded()) {
        done({ outcome: "busy" });
        return;
      }
      const reply = object.part(GatewayTracking)?.polled(batch, nowMs) ?? { outcome: "left" };
      if (reply.outcome !== "busy") object.endEvent(nowMs);
      done(reply);
    },
  },
};
