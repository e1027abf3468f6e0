import type { GatheredPresence } from "../../../src/channel/presence.ts";
import { limits } from "../../../src/limits.ts";
import type { GatewayPresence } from "../../../src/contract/relay-request.ts";
import type { Incarnation } from "./incarnation.ts";
import type { WorldContext } from "./world-context.ts";

/** The channel object that asks. */
export interface ChannelCaller {
  /** The channel's name. */
  readonly name: string;
  readonly incarnation: Incarnation;
  readonly gateways: readonly string[];
  /** Lets a call leave the object. */
  readonly gate: (work: () => void) => void;
  /** Whether it asks for the clients that a presence map shows. */
  readonly shown?: boolean;
}

/** Asks all gateways of a channel at once for their present clients (rule G6). */
export function gatherPresence(
  context: WorldContext,
  { name, incarnation, gateways, gate, shown = false }: ChannelCaller,
  answered: (others: GatheredPresence) => void,
): void {
  const answers: (GatewayPresence | undefined)[] = [];
  const settle = (): void => {
    if (answers.length < gateways.length) return;
    const clients = answers.flatMap((answer) => answer?.clients ?? []);
    answered({ clients, complete: answers.every((answer) => answer !== undefined) });
  };
  for (const gateway of gateways) {
    context.network.call<string, GatewayPresence>({
      kind: "gather",
      from: name,
      to: gateway,
      request: name,
      incarnation,
      gate,
      waitMs: limits.presenceGatherMs,
      carryOut: (channel, answer) => context.gateway(gateway).present(channel, shown, answer),
      answered: (answer) => {
        answers.push(answer);
        settle();
      },
    });
  }
  if (gateways.length === 0) settle();
}
