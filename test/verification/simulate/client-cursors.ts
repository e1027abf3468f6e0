import { errorCodes } from "../../../src/protocol/codes.ts";
import type { StreamPosition } from "../../../src/protocol/publication.ts";
import type { MarkAnswer, UnreadAnswer } from "./cursor-rules.ts";
import type { ReceivedFrame } from "./received-frame.ts";
import type { WorldContext } from "./world-context.ts";

/** The client that marks and asks for its user. */
interface CursorClient {
  readonly name: string;
  readonly user: string;
  readonly context: WorldContext;
  /** Sends a command, and a message without an ID where no answer is awaited. */
  readonly send: (command: object, answered?: (frame: ReceivedFrame) => void) => void;
}

/** A client marks what its user has read, by `dormouse.read`. @param sends whether no answer is awaited */
export function markOwn(
  { user, name, context, send }: CursorClient,
  channel: string,
  { epoch, offset }: StreamPosition,
  sends: boolean,
): void {
  const { cursors, publicationLog } = context;
  cursors.marks(channel, user, { epoch, offset });
  const method = "dormouse.read";
  const data = { channel, offset, ...(epoch !== "" && { epoch }) };
  if (sends) {
    send({ send: { data: { method, data } } });
    return;
  }
  const known = cursors.known(channel, user);
  send({ rpc: { method, data } }, ({ rpc, error }) => {
    if (rpc !== undefined) cursors.marked(known, answerOf(rpc.data));
    else if (error?.temporary !== true && !refusals.has(error?.code ?? 0))
      publicationLog.complain(`${name} couldn't mark: ${error?.code}`);
  });
}

/** A client asks what its user hasn't read, by `dormouse.unread`. */
export function countOwn({ user, name, context, send }: CursorClient, channel: string): void {
  const { cursors, publicationLog } = context;
  const known = cursors.known(channel, user);
  send({ rpc: { method: "dormouse.unread", data: { channels: [channel] } } }, ({ rpc, error }) => {
    if (rpc === undefined) {
      if (error?.temporary !== true)
        publicationLog.complain(`${name} couldn't ask what is unread: ${error?.code}`);
      return;
    }
    const { channels }: UnreadAnswers = answerOf(rpc.data);
    const answer = channels[channel];
    if (answer === undefined)
      publicationLog.complain(`${name} wasn't told what is unread on ${channel}`);
    else if (!("error" in answer)) cursors.counted(known, answer);
    else if (answer.error.temporary !== true && !refusals.has(answer.error.code))
      publicationLog.complain(`${name} wasn't told what is unread: ${answer.error.code}`);
  });
}

/** The answer to a question for some channels. */
interface UnreadAnswers {
  readonly channels: Readonly<
    Record<
      string,
      UnreadAnswer | { readonly error: { readonly code: number; readonly temporary?: boolean } }
    >
  >;
}

function answerOf<Answer extends MarkAnswer | UnreadAnswers>(data: unknown): Answer {
  return JSON.parse(JSON.stringify(data));
}

/**
 * What a mark or a question may be refused with: the client isn't subscribed (rule CU7), the offset is beyond the top, or
 * of another epoch (rule CU3). The object may not have been reached.
 */
const refusals: ReadonlySet<number> = new Set([
  errorCodes.permissionDenied.code,
  errorCodes.badRequest.code,
  errorCodes.unrecoverablePosition.code,
  errorCodes.internal.code,
]);
