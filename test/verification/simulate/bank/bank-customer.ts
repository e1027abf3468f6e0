import type { Transfer } from "../../bank/bank.ts";
import type { ClientSubscription } from "../client-subscription.ts";
import type { ReceivedFrame } from "../received-frame.ts";
import type { WorldContext } from "../world-context.ts";
import { type AskTraits, BankAsker } from "./bank-asker.ts";
import { isVault } from "./bank-kinds.ts";

/** A client that asks banks. It gets what its transfer has published before the answer. */
export class BankCustomer {
  readonly asker: BankAsker;
  readonly #client: CallingClient;
  readonly #context: WorldContext;

  constructor(
    client: CallingClient,
    context: WorldContext,
    send: (command: object, answered: (frame: ReceivedFrame) => void) => void,
  ) {
    this.#client = client;
    this.#context = context;
    this.asker = new BankAsker(
      {
        name: client.name,
        process: (channel) => client.subscription(channel).process,
        backoffMs: client.backoffMs,
        call: (channel, { procedure, args, idempotencyKey }, answered) => {
          if (client.connected === undefined || !client.knows(channel)) return;
          const key = idempotencyKey === "" ? {} : { idempotency_key: idempotencyKey };
          const data = { channel, procedure, args, ...key };
          send({ rpc: { method: "dormouse.call", data } }, ({ rpc, error }) => {
            if (error !== undefined) answered({ error });
            else if (rpc !== undefined) answered({ result: rpc.data });
          });
        },
      },
      context,
    );
  }

  transfer(channel: string, traits: Omit<Transfer, "id"> & AskTraits): void {
    const subscription = this.#client.subscription(channel);
    const { generation } = subscription;
    const wasOn = subscription.state === "on";
    this.asker.transfer(channel, traits, ({ offset }) => {
      const { position, state } = subscription;
      const isSame = wasOn && state === "on" && subscription.generation === generation;
      const madeTo = offset + (isVault(channel) ? 1 : 2);
      if (isSame && position !== undefined && position.offset < madeTo)
        this.#context.publicationLog.complain(
          `${this.#client.name} was answered at ${position.offset} of ${channel}, and is told ${madeTo} later`,
        );
    });
  }
}

/** The client that calls. */
interface CallingClient {
  readonly name: string;
  readonly connected: object | undefined;
  readonly backoffMs: () => number;
  knows(channel: string): boolean;
  subscription(channel: string): ClientSubscription;
}
