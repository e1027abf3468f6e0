import type { SharedPresence } from "../../../src/channel/shared-presence.ts";
import type { CommitTurns } from "./commit-turns.ts";
import type { Incarnation, NextTimer, TurnTimer } from "./incarnation.ts";
import type { SocketMemory } from "./object-sockets.ts";
import type { PollHost } from "./poll-host.ts";
import type { PresenceHost } from "./presence-host.ts";
import type { WatchedChannel } from "./watched-channel.ts";

/** The state of a simulated channel object that a crash destroys. */
export interface ChannelMemory extends SocketMemory {
  readonly incarnation: Incarnation;
  readonly wokeAtMs: number;
  readonly channel: WatchedChannel;
  readonly sendTimer: TurnTimer;
  readonly retryTimer: NextTimer;
  /** Writes an ephemeral map down. */
  readonly restTimer: NextTimer;
  readonly commits: CommitTurns;
  readonly presence: SharedPresence;
  /** Undefined unless the channel has presence maps, or is one. */
  readonly presenceMaps: PresenceHost | undefined;
  /** Undefined unless the channel is a shared poll. */
  readonly polls: PollHost | undefined;
  hadStorage: boolean;
}
