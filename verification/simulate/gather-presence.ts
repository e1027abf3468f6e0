import type { GatheredPresence } from "../../src/channel/presence.ts";
import { limits } from "../../src/limits.ts";
import type { GatewayPresence } from "../../src/contract/relay-request.ts";
import type { Life } from "./life.ts";
import type { Setting } from "./setting.ts";

/** Who asks. */
export interface Asker {
  /** The channel's name. */
  readonly name: string;
  readonly life: Life;
  readonly gateways: readonly string[];
  /** Lets a call leave the object. */
  readonly gate: (work: () => void) => void;
}

/** Asks all gateways of a channel at once who is present there (rule G6). */
export function gatherPresence(
  setting: Setting,
  { name, life, gateways, gate }: Asker,
  answered: (others: GatheredPresence) => void,
): void {
  const answers: (GatewayPresence | undefined)[] = [];
  const settle = (): void => {
    if (answers.length < gateways.length) return;
    const clients = answers.flatMap((answer) => answer?.clients ?? []);
    answered({ clients, complete: answers.every((answer) => answer !== undefined) });
  };
  for (const gateway of gateways) {
    setting.network.call<string, GatewayPresence>({
      kind: "gather",
      from: name,
      to: gateway,
      request: name,
      life,
      gate,
      waitMs: limits.presenceGatherMs,
      carryOut: (channel, answer) => setting.gateway(gateway).present(channel, answer),
      answered: (answer) => {
        answers.push(answer);
        settle();
      },
    });
  }
  if (gateways.length === 0) settle();
}
