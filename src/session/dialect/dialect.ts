import type { ConnectionVerdict, SubscriptionVerdict } from "../../access/claims.ts";
import type { KeepaliveTexts } from "../../contract/keepalive.ts";
import type { SessionIdentity } from "../../contract/session-snapshot.ts";
import type { Codec, Message } from "../../protocol/codec.ts";
import { codecNamed } from "../../protocol/codecs.ts";
import type { DisconnectCode } from "../../protocol/codes.ts";
import type { Command } from "../../protocol/command.ts";
import type { Channels } from "../channels.ts";
import type { May } from "../may.ts";
import type { Subscription } from "../subscription.ts";
import type { Subscriptions } from "../subscriptions.ts";
import { disconnectPush } from "../unidirectional.ts";

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
  /** The texts by which the platform answers pings in the object's place: an object has one automatic answer (rule K3). */
  readonly keepalive: KeepaliveTexts;
  /**
   * Verifies the data that a command brings in place of a token, and decides whether it may publish. It calls back at once, or in
   * an event of its own.
   */
  verify(session: DialectSession, command: Command, done: (verdicts: Verdicts) => void): void;
  /** The code with which a connection is closed that ends with one of this protocol's, and a message before the close. */
  closeOf(code: DisconnectCode): { readonly code: DisconnectCode; readonly message?: Message };
  /**
   * A subscription has begun, and its reply is about to be sent.
   *
   * @returns whether the dialect sends the reply itself, later: it has paused the subscription until then
   */
  sendsLater(session: DialectSession, subscription: Subscription, reply: Message): boolean;
}

/** A session as its dialect sees it. */
export interface DialectSession {
  readonly identity: SessionIdentity;
  readonly user: string;
  readonly subscriptions: Pick<Subscriptions, "get">;
  readonly context: {
    readonly channels: Pick<Channels, "catchUp">;
    readonly later?: (waitMs: number, work: () => void) => void;
  };
  send(message: Message): void;
}

/** The result of verifying a command. */
export interface Verdicts {
  readonly connection?: ConnectionVerdict;
  readonly subscription?: SubscriptionVerdict;
  /** Whether the command may publish, where the dialect decides in the namespace's place. */
  readonly mayPublish?: May;
}

/** The dialect of a session's client; undefined if it speaks the server's own protocol. */
export function dialectOf({ identity, context }: SpeakingSession): Dialect | undefined {
  return identity.dialect === undefined ? undefined : context.dialect;
}

/** The codec of a session's client. That of a dialect that the object has no more is never used. */
export function codecOf(session: SpeakingSession): Codec {
  const { dialect: kind = "", codec } = session.identity;
  return dialectOf(session)?.codecOf(kind) ?? codecNamed(codec);
}

/** The code with which a session's socket is closed, and the message before that, in the words of its client's protocol. */
export function closingOf(
  session: SpeakingSession & ClosingSession,
  code: DisconnectCode,
): readonly [code: DisconnectCode, push?: Message] {
  const own = dialectOf(session)?.closeOf(code);
  const push = own === undefined ? disconnectPush(session, code) : own.message;
  return push === undefined ? [own?.code ?? code] : [own?.code ?? code, push];
}

type ClosingSession = Parameters<typeof disconnectPush>[0];

interface SpeakingSession {
  readonly identity: Pick<SessionIdentity, "dialect" | "codec">;
  readonly context: { readonly dialect?: Dialect };
}
