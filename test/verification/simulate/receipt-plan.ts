import type { Random } from "../../support/random.ts";
import { receiptKinds, receiptsOf } from "./cursor-kinds.ts";
import { mirrorRead, publishes } from "./mirror-plan.ts";
import type { Action, Step } from "./actions.ts";

/** Puts marks and comings in the place of changes of the receipts, and has users forgotten in four of ten plans. */
export function withReceiptActions(
  random: Random,
  steps: readonly Step[],
  clients: number,
): readonly Step[] {
  const forgets = random.chance(0.4);
  return steps.flatMap((step): readonly Step[] => {
    const action = { ...receiptAction(random, step, clients), ms: step.ms };
    if (!forgets || !random.chance(0.1)) return [action];
    const client = random.between(0, clients - 1);
    return [action, { do: "forget user", client, ms: random.between(0, 2_000) }];
  });
}

function receiptAction(random: Random, action: Action, clients: number): Action {
  if (!("channel" in action) || receiptsOf(action.channel) === undefined) return action;
  const { channel } = action;
  if (action.do === "read" || action.do === "remove") return mirrorRead(random, channel);
  if (!publishes(action)) return action;
  const client = random.between(0, clients - 1);
  if (random.chance(0.3)) return { do: "subscribe", client, channel };
  const [shown] = receiptKinds;
  if (random.chance(0.3)) return { do: "publish", channel: shown, keyed: false };
  return { do: "mark for", client, channel: shown, back: random.between(0, 2), epoch: "known" };
}
