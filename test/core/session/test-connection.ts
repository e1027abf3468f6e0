import type { Message } from "../../../src/protocol/codec.ts";
import type { DisconnectCode } from "../../../src/protocol/codes.ts";
import { jsonCodec } from "../../../src/protocol/json/codec.ts";
import {
  type Attachment,
  parseAttachment,
  writeSession,
  type WrittenSession,
} from "../../../src/contract/attachment.ts";
import type { Connection, SessionContext, VerifiedTokens } from "../../../src/session/ports.ts";
import { Session } from "../../../src/session/session.ts";
import type { SessionSnapshot } from "../../../src/contract/session-snapshot.ts";
import { textOf } from "../../support/text-of.ts";

/** A session whose client has answered no ping. */
export const unanswered = {
  identity: { phase: "connected", client: "c1", openedAtMs: 0, keepalive: "server" },
  answeredAtMs: undefined,
} as const;

/** The connection port of a session: passes frames to the session, and records what the session sends. */
export class TestConnection implements Connection {
  backlog = 0;
  autoResponseMs: number | undefined;
  /** The socket is gone: nothing wakes for it any more. */
  gone = false;
  session: Session;
  /** Called before a message goes to the client. */
  sending = (): void => undefined;
  #written: WrittenSession;
  #sent: string[] = [];
  #held: string[] | undefined;

  constructor(snapshot: SessionSnapshot, context: SessionContext) {
    this.#written = structuredClone(writeSession(snapshot));
    this.session = new Session(snapshot, this, context);
  }

  /** The saved session, as an object that wakes reads it. */
  get saved(): SessionSnapshot {
    const { row } = this.#written;
    const snapshot = parseAttachment(structuredClone(this.attachment), () => row);
    if (snapshot === undefined) throw new Error("what was saved can't be read");
    return snapshot;
  }

  /** The socket's attachment. */
  get attachment(): Attachment {
    return this.#written.attachment;
  }

  /** The part of the session that is stored in a row. */
  get row(): string | undefined {
    return this.#written.row;
  }

  /** Discards the session and restores it from its saved state. */
  wake(context: SessionContext): void {
    this.session = new Session(this.saved, this, context);
  }

  /** Everything sent since the last call, in order: frames as they are, and a close as `close <code> <reason>`. */
  takeSent(): readonly string[] {
    const received = this.#sent;
    this.#sent = [];
    return received;
  }

  /** Hands a frame to the session, command by command. All tokens in it come to the same verdicts. */
  receive(frame: string, tokens: VerifiedTokens, nowMs: number, afterEach: () => void): void {
    const { commands, malformed } = jsonCodec.decodeFrame(frame);
    if (malformed !== undefined) throw new Error(malformed);
    for (const command of commands) {
      this.session.receive(command, tokens, nowMs);
      afterEach();
    }
  }

  send(frame: Message): void {
    if (this.#held === undefined) this.#tell(textOf(frame));
    else this.#held.push(textOf(frame));
  }

  hold(): void {
    this.#held = [];
  }

  release(): void {
    for (const text of this.#held ?? []) this.#tell(text);
    this.#held = undefined;
  }

  close({ code, reason }: DisconnectCode, push?: Message): void {
    this.#held = undefined;
    if (push !== undefined) this.send(push);
    this.#sent.push(`close ${code} ${reason}`);
  }

  save(snapshot: SessionSnapshot): void {
    this.#written = structuredClone(writeSession(snapshot));
  }

  backlogBytes(): number {
    return this.backlog;
  }

  answeredAtMs(): number | undefined {
    return this.autoResponseMs;
  }

  lastHeardMs(): number | undefined {
    return this.autoResponseMs;
  }

  #tell(text: string): void {
    this.sending();
    this.#sent.push(text);
  }
}
