import { errorCodes } from "../../../src/protocol/codes.ts";
import type { ReceivedFrame } from "./received-frame.ts";
import type { WorldContext } from "./world-context.ts";

/** A client appends to values of maps, by the method for that (rule Z45). */
export class ClientAppends {
  readonly #client: AppendingClient;
  readonly #context: WorldContext;
  readonly #send: SendCommand;

  constructor(client: AppendingClient, context: WorldContext, send: SendCommand) {
    this.#client = client;
    this.#context = context;
    this.#send = send;
  }

  /** Appends what the key's producer has to append next, once. A client without a connection appends nothing. */
  append(channel: string, key: string): void {
    const { growth, producers, publicationLog } = this.#context;
    const { connected, name } = this.#client;
    const piece = producers().pieceOf(channel, key);
    if (connected === undefined || !this.#client.knows(channel) || piece === undefined) return;
    const { number, at, text } = piece;
    growth.sends(channel, key, number, at + text.length, true);
    const known = growth.known(channel, key);
    const data = { channel, key, text, at };
    this.#send({ rpc: { method: "dormouse.append", data } }, ({ rpc, error }) => {
      const length = rpc?.data.length;
      if (rpc !== undefined && length !== undefined)
        growth.answered(known, piece, { ...rpc.data, length });
      else if (error?.temporary !== true && error?.code !== errorCodes.internal.code)
        publicationLog.complain(`${name} couldn't append: ${error?.code}`);
    });
  }
}

/** The client that appends. */
interface AppendingClient {
  readonly name: string;
  readonly connected: object | undefined;
  knows(channel: string): boolean;
}

type SendCommand = (command: object, answered: (frame: ReceivedFrame) => void) => void;
