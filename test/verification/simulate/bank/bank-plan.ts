import type { Random } from "../../../support/random.ts";
import { drawnTransfer } from "../../bank/drawn-transfer.ts";
import type { Action, Step } from "../actions.ts";
import { bankAccounts, isBank } from "./bank-kinds.ts";
import type { AskTraits } from "./bank-asker.ts";

/** Puts transfers and promises in the place of publishes, and faults while some of them are carried out. */
export function withBankActions(random: Random, steps: readonly Step[]): readonly Step[] {
  return steps.flatMap((step): readonly Step[] => {
    const action = bankAction(random, step);
    const asks =
      action.do === "transfer" || action.do === "transfer own" || action.do === "promise";
    if (!asks || !random.chance(0.4)) return [{ ...action, ms: step.ms }];
    const object = action.channel;
    const fault = random.pick(["crash", "crash", "crash at commit", "evict", "close"] as const);
    if (fault === "crash at commit")
      return [
        { do: fault, object, ms: 0 },
        { ...action, ms: step.ms },
      ];
    // On its way, while it is carried out, before or after it is durable, or while it is answered.
    return [
      { ...action, ms: random.between(1, 60) },
      { do: fault, object, ms: step.ms },
    ];
  });
}

function bankAction(random: Random, action: Action): Action {
  if (!("channel" in action) || !isBank(action.channel)) return action;
  const { channel } = action;
  const what = action.do;
  if (what === "publish" || what === "reuse key")
    return random.chance(0.6)
      ? { do: "transfer", channel, ...transferOf(random) }
      : { do: "promise", channel, ...promiseOf(random) };
  if (what === "publish version")
    return { do: "promise own", client: random.between(0, 1), channel, ...promiseOf(random) };
  if (what === "publish own")
    return { do: "transfer own", client: action.client, channel, ...transferOf(random) };
  if (what === "remove") return { do: "fail bank", channel, account: random.pick(bankAccounts) };
  return what === "read" ? { do: "read bank", channel } : action;
}

function transferOf(random: Random) {
  const from = random.pick(bankAccounts);
  return { ...drawnTransfer(random, from, bankAccounts), ...asked(random) };
}

function promiseOf(random: Random) {
  const afterMs = random.chance(0.5) ? random.between(0, 200) : random.between(200, 90_000);
  return { account: random.pick(bankAccounts), afterMs, ...asked(random) };
}

function asked(random: Random): AskTraits {
  if (random.chance(0.2)) return { keyed: false };
  return { keyed: true, ...(random.chance(0.3) ? { repeats: random.between(1, 2) } : {}) };
}
