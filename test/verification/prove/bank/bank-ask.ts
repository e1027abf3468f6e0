import type { Random } from "../../../support/random.ts";
import { drawnTransfer } from "../../bank/drawn-transfer.ts";
import { type BankAsk, ToldAsk } from "../../checker/bank/told-ask.ts";
import type { HistoryEvent } from "../../checker/history-event.ts";
import { microseconds } from "../history/clock.ts";
import { bankAccounts } from "./bank-scenario.ts";

/** A recorder of a history. */
interface EventRecorder {
  record(event: HistoryEvent): void;
}

/** Somebody asks a bank for a transfer or a promise, drawn at random. */
export function askBank(
  asked: { readonly id: string; readonly process: string; readonly channel: string },
  random: Random,
  recorder: EventRecorder,
): ToldAsk {
  const { id, process, channel } = asked;
  const asking = { process, channel, publishes: channel.startsWith("vault:") };
  return new ToldAsk(asking, drawnAsk(id, random), (event) =>
    recorder.record({ ...event, time: microseconds() }),
  );
}

function drawnAsk(id: string, random: Random): BankAsk {
  const account = random.pick(bankAccounts);
  if (random.chance(0.75)) {
    const args = { id, ...drawnTransfer(random, account, bankAccounts) };
    return { procedure: "transfer", args };
  }
  const afterMs = random.between(0, longestPromiseMs);
  return { procedure: "promise", args: { id, account, afterMs } };
}

/** Shorter than everything takes to settle. */
const longestPromiseMs = 6_000;

/** How long somebody repeats what has no outcome: much shorter than a bank remembers results. */
export const repeatsForMs = 100_000;
