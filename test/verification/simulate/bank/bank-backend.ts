import { callChannel } from "../channel-call.ts";
import { json } from "../../../core/api/channel-config.ts";
import type { WorldContext } from "../world-context.ts";
import { BankAsker } from "./bank-asker.ts";

/** A backend that asks banks through the HTTP API. */
export function bankBackend(context: WorldContext, backoffMs: () => number): BankAsker {
  return new BankAsker(
    {
      name: "teller",
      process: () => "teller",
      backoffMs,
      call: (channel, { procedure, args, idempotencyKey }, answered) => {
        const request = { procedure, data: json(JSON.stringify(args)), idempotencyKey };
        callChannel(context, channel, { method: "call", request }, (answer) => {
          if (answer === undefined) answered(undefined);
          else if ("error" in answer) answered({ error: answer.error });
          else answered({ result: JSON.parse(answer.result).data });
        });
      },
    },
    context,
  );
}
