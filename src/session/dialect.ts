import type { KeepaliveTexts } from "../contract/keepalive.ts";
import type { Codec, Message } from "../protocol/codec.ts";
import type { DisconnectCode } from "../protocol/codes.ts";
import type { Command } from "../protocol/command.ts";
import type { CommandSession, VerifiedTokens } from "./ports.ts";
import type { Subscription } from "./subscription.ts";

/**
 * Another protocol, which the clients of an object speak on sessions of the same kind. A feature brings it to the objects
 * that it has for such clients: all of an object's clients speak one protocol.
 */
export interface Dialect {
  /**
   * The codec of a session, by what its handover says of it: reads the client's frames as commands, and encodes replies and
   * pushes. It is the same for all clients of one kind, because the fan-out encodes once for each codec.
   */
  codecOf(kind: string): Codec;
  /** What the platform answers in the object's place: an object has one automatic answer (rule K3). */
  readonly keepalive: KeepaliveTexts;
  /**
   * Verifies what a command brings in place of a token, and decides whether it may publish. It calls back at once, or in an
   * event of its own.
   */
  verify(session: CommandSession, command: Command, done: (verified: VerifiedTokens) => void): void;
  /** The code with which a connection is closed that ends with one of this protocol's, and a message before the close. */
  closeOf(code: DisconnectCode): { readonly code: DisconnectCode; readonly message?: Message };
  /**
   * A subscription has begun, and its reply is about to be sent.
   *
   * @returns whether the dialect sends the reply itself, later: it has paused the subscription until then
   */
  sendsLater(session: CommandSession, subscription: Subscription, reply: Message): boolean;
}

/** The dialect of a session's client; undefined if it speaks the server's own protocol. */
export function dialectOf({
  identity,
  context,
}: Pick<CommandSession, "identity" | "context">): Dialect | undefined {
  return identity.dialect === undefined ? undefined : context.dialect;
}
