import type { Refusal } from "../access/refusal.ts";
import type { Channel } from "../channel/channel.ts";
import type { ChannelSetup } from "../channel/channel-setup.ts";
import type { Config } from "../config/config.ts";
import type { HookQuestion, HookReply } from "../contract/hook-call.ts";
import type { CarriedReport } from "../contract/metrics-report.ts";
import type { GatewaySetup } from "../gateway/gateway.ts";
import type { SessionContext } from "../session/ports.ts";
import type { Session } from "../session/session.ts";
import type { Platform } from "./platform.ts";

/** What a feature adds to an object that holds clients' sockets. A part has those members that it needs. */
export interface ObjectPart {
  /** What it adds to the setup of the object's sessions. */
  readonly ofSessions?: Partial<SessionContext>;
  /** What it adds to the setup of the channel, on the channel's own object. */
  ofChannel?(name: string): Partial<ChannelSetup>;
  /** What it adds to the setup of a gateway. */
  readonly ofGateway?: Partial<GatewaySetup>;
  /** The channel of the object is there. */
  began?(channel: Channel): void;
  /** Everything that the jobs of a round have written is durable. */
  committed?(nowMs: number): void;
  /** An event of the object ends, before the alarm is set. */
  ended?(nowMs: number): void;
  /** The alarm rings. */
  rang?(nowMs: number): void;
  /** When the alarm has to ring for it, ms since 1970; Infinity for never. */
  dueAtMs?(nowMs: number): number;
  /** Whether nothing of it is stored; absent: nothing ever is. */
  storesNothing?(): boolean;
  /** The object's events after a number, each as JSON text (rule E5). */
  eventsAfter?(since: number, limit: number, nowMs: number): readonly string[];
  /** A command or a socket was refused. */
  refused?(refusal: Refusal, nowMs: number): void;
  /** A backend was asked, and has answered after that time. */
  backendAnswered?(question: HookQuestion, reply: HookReply, seconds: number): void;
  /** All frames that were on their way have been sent, after that time. */
  sent?(seconds: number): void;
  /** A channel's object has called. */
  calledByChannel?(): void;
  /** What the answer to a caller carries that reports for the object (rule J7). */
  forAnswer?(nowMs: number): CarriedReport | undefined;
  /** Whether the object can report for another one. */
  readonly carries?: boolean;
  /** Takes what came with the answer of another object. */
  carry?(counted: CarriedReport): void;
}

/** Makes the part of one object; undefined if the configuration has no use for it there. */
export type NewPart = (object: PartHost) => ObjectPart | undefined;

/** The object, as its parts need it. */
export interface PartHost {
  readonly platform: Platform;
  readonly config: Config;
  readonly kind: "channel" | "gateway";
  /** The object's name among all objects. */
  readonly node: string;
  /** The channel whose object it is; undefined for a gateway, and if the configuration lacks the channel's namespace. */
  readonly channel: string | undefined;
  readonly awakeSinceMs: number;
  sessions(): Iterable<Session>;
  holdsSockets(): boolean;
  /** Whether it is a channel's, which has subscribers here or on gateways. */
  isOccupied(): boolean;
  /** When the job came that is being carried out, ms since 1970; undefined outside of a job. */
  jobAddedAtMs(): number | undefined;
  /** The calls since the object woke for which the platform bills, without those that are counted at the called object. */
  callsMade(): number;
  /** Counts a call. */
  called(): void;
  later(waitMs: number, work: () => void): void;
  /** Ends an event without settling: nothing was collected to be sent to clients. */
  schedule(nowMs: number): void;
}
