/**
 * The texts by which the platform keeps a connection alive in place of a hibernating object (rule K3). An object can
 * have one automatic answer, to one exact text, for all of its sockets.
 */

/** A text that a client sends, and the text that it is sent back. */
export interface KeepaliveTexts {
  readonly request: string;
  readonly answer: string;
}

/**
 * The text of clients that the platform answers, and its answer. Unmodified JSON clients send `{}` as their answer to
 * a ping. Were `{}` answered by `{}`, they would take that for the next ping, and so on without end. This answer is a
 * push of no kind to a channel without a name, which every SDK skips.
 */
export const keepaliveTexts: KeepaliveTexts = { request: "{}", answer: '{"push":{"channel":""}}' };

/** The same of the first release, whose clients still send that text. Today the object answers it. */
export const firstKeepaliveTexts: KeepaliveTexts = { request: "ping", answer: "pong" };

/**
 * The object's answer to a client's text that the platform didn't answer; undefined if the text isn't one for
 * keep-alive.
 *
 * @param own those of the object's clients, if they speak another protocol
 */
export function keepaliveAnswer(text: string, own?: KeepaliveTexts): string | undefined {
  const known = own === undefined ? [keepaliveTexts, firstKeepaliveTexts] : [own];
  return known.find(({ request }) => request === text)?.answer;
}

/**
 * The object's text to the edge about a client on a stream, which no client sees: first, before the connect reply, that the
 * client was asked for pongs, and then that it has posted one (rule K7).
 */
export const pongText = "pong posted";

/**
 * The header, with the value 1, of an object's response that accepts a socket of the edge: {@link keepaliveTexts} is what the
 * platform answers for this object. An object of the first release doesn't send it, and {@link firstKeepaliveTexts} applies
 * (rule V1).
 */
export const keepaliveHeader = "Dormouse-Keepalive";
