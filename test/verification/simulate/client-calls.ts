import { errorCodes } from "../../../src/protocol/codes.ts";
import type { StreamPosition } from "../../../src/protocol/publication.ts";
import type { NamedEpoch } from "./actions.ts";
import type { UnreadAnswer } from "./cursor-rules.ts";
import type { ReceivedFrame } from "./received-frame.ts";
import type { WorldContext } from "./world-context.ts";

/** The calls of a client: it marks what its user has read, asks what is unread, and appends to values of maps. */
export class ClientCalls {
  readonly #client: CallingClient;
  readonly #context: WorldContext;
  readonly #send: SendCommand;

  constructor(client: CallingClient, context: WorldContext, send: SendCommand) {
    this.#client = client;
    this.#context = context;
    this.#send = send;
  }

  /** Marks what the client has got, see `actions`. A client that has no position marks nothing. */
  mark(channel: string, back: number, epoch: NamedEpoch, sends: boolean): void {
    const { connected, user, name } = this.#client;
    const { position } = this.#client.subscription(channel);
    if (connected === undefined || !this.#client.knows(channel) || position === undefined) return;
    const named = { known: position.epoch, none: "", other: "another" }[epoch];
    const offset = Math.max(position.offset - back, 0);
    const { cursors, publicationLog } = this.#context;
    cursors.marks(channel, user, { epoch: named, offset }, true);
    const method = "dormouse.read";
    const data = { channel, offset, ...(named !== "" && { epoch: named }) };
    if (sends) {
      this.#send({ send: { data: { method, data } } });
      return;
    }
    const known = cursors.known(channel, user);
    this.#send({ rpc: { method, data } }, ({ rpc, error }) => {
      if (rpc?.data.read !== undefined) cursors.marked(known, rpc.data);
      else if (!isExpected(error)) publicationLog.complain(`${name} couldn't mark: ${error?.code}`);
    });
  }

  /** Asks how much the user hasn't read of a channel. */
  countUnread(channel: string): void {
    const { connected, user, name } = this.#client;
    if (connected === undefined || !this.#client.knows(channel)) return;
    const { cursors, publicationLog } = this.#context;
    const known = cursors.known(channel, user);
    const rpc = { method: "dormouse.unread", data: { channels: [channel] } };
    this.#send({ rpc }, (frame) => {
      const answer = frame.rpc?.data.channels?.[channel];
      const error = answer === undefined || !("error" in answer) ? frame.error : answer.error;
      if (answer !== undefined && !("error" in answer)) cursors.counted(known, answer);
      else if (!isExpected(error))
        publicationLog.complain(`${name} wasn't told what is unread: ${error?.code}`);
    });
  }

  /** Appends what the key's producer has to append next, once (rule Z45). A client without a connection appends nothing. */
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

/** The client that calls. */
interface CallingClient {
  readonly name: string;
  readonly user: string;
  readonly connected: object | undefined;
  knows(channel: string): boolean;
  subscription(channel: string): { readonly position: StreamPosition | undefined };
}

/** Sends a command, or a message where no answer is awaited. */
type SendCommand = (command: object, answered?: (frame: ReceivedFrame) => void) => void;

/** The result of `dormouse.read` or `dormouse.unread`. */
export interface CursorResult {
  readonly epoch: string;
  readonly read: number;
  readonly channels?: Readonly<Record<string, UnreadAnswer | { readonly error: ReceivedError }>>;
}

interface ReceivedError {
  readonly code: number;
  readonly temporary?: boolean;
}

/**
 * Whether a mark or a question may be refused so: the client isn't subscribed (rule CU7), the offset is beyond the top, or
 * of another epoch (rule CU3), or the object wasn't reached.
 */
function isExpected(error: ReceivedError | undefined): boolean {
  return error?.temporary === true || refusals.has(error?.code ?? 0);
}

const refusals: ReadonlySet<number> = new Set([
  errorCodes.permissionDenied.code,
  errorCodes.badRequest.code,
  errorCodes.unrecoverablePosition.code,
  errorCodes.internal.code,
]);
