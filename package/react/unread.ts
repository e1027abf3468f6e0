import type { Centrifuge } from "centrifuge";
import type { ChannelCalls, ChannelOptions, ChannelState } from "./channel.ts";
import type { Feed, Feeds, Problem, Running } from "./feed.ts";
import type { Sent } from "./messages.ts";
import { isTemporary, parseProblem } from "./subscription.ts";

/** What the user hasn't read of a channel. */
export interface UnreadState {
  /** How many messages of others; undefined until it is known. */
  readonly unread: number | undefined;
  /** Whether they are more: the server counts up to `cursors.unread_max`. */
  readonly isCapped: boolean;
  /** Up to which offset the user has read. */
  readonly read: number;
  /** Why the server doesn't count, or doesn't take a mark. */
  readonly problem: Problem | undefined;
}

export interface UnreadCalls {
  /** Marks all messages up to an offset as read; all that are there without one. */
  readonly markRead: (offset?: number) => void;
}

/** What the server says of a channel. */
interface Answer {
  readonly unread?: number;
  readonly read?: number;
  readonly offset?: number;
  readonly epoch?: string;
  readonly capped?: boolean;
  readonly error?: Problem;
}

export const idleUnread: UnreadState = {
  unread: undefined,
  isCapped: false,
  read: 0,
  problem: undefined,
};

/** Asks after each message, and after each reconnect: the server knows which are the user's own. */
export function beginUnread(
  client: Centrifuge,
  channels: Feeds<ChannelState<Sent>, ChannelOptions, ChannelCalls>,
  channel: string,
  feed: Feed<UnreadState, object, UnreadCalls>,
): Running<UnreadCalls> {
  /** The newest message that is known, the one after which the server was asked, and the one that was marked. */
  let [newest, marked] = [0, 0];
  let asked: number | undefined;
  let epoch: string | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let nextAtMs = 0;
  let hasEnded = false;

  const take = ({ error, unread, read = 0, offset = 0, capped = false, ...answer }: Answer) => {
    if (error !== undefined) throw error;
    // Offsets of a history that is gone say nothing.
    if (answer.epoch !== (epoch ?? answer.epoch)) [newest, marked] = [0, 0];
    epoch = answer.epoch;
    newest = Math.max(newest, offset);
    // What was marked after the question has a question of its own.
    if (marked <= read) feed.show({ unread, read, isCapped: capped, problem: undefined });
  };
  /** Marks, if the server doesn't have the mark, and asks. */
  const send = async () => {
    [timer, nextAtMs] = [undefined, Date.now() + periodMs];
    try {
      const mark = { channel, offset: marked };
      if (marked > feed.shown.read) await client.rpc("dormouse.read", mark);
      const { data } = await client.rpc("dormouse.unread", { channels: [channel] });
      take(data.channels[channel]);
    } catch (error) {
      const problem = parseProblem(error);
      if (!isTemporary(problem)) {
        // A mark that was refused isn't repeated.
        marked = 0;
        feed.show({ problem });
      } else if (!hasEnded && channels.shown(channel).state === "subscribed") ask();
    }
  };
  const ask = () => (timer ??= setTimeout(() => void send(), Math.max(0, nextAtMs - Date.now())));
  const look = () => {
    const { state, messages } = channels.shown(channel);
    newest = Math.max(newest, messages.at(-1)?.offset ?? 0);
    const due = state === "subscribed" ? newest : undefined;
    if (due !== undefined && due !== asked) ask();
    asked = due;
  };
  // Another device may have marked while nobody looked here.
  const seen = () => document.visibilityState === "visible" && ask();
  document.addEventListener("visibilitychange", seen);
  const leave = channels.use(channel, look, { current: { keep: 1 } });
  look();
  return {
    calls: {
      markRead: (offset = newest) => {
        if (offset <= Math.max(marked, feed.shown.read)) return;
        marked = offset;
        if (offset >= newest) feed.show({ unread: 0, isCapped: false });
        ask();
      },
    },
    joined: () => undefined,
    end: () => {
      document.removeEventListener("visibilitychange", seen);
      hasEnded = true;
      clearTimeout(timer);
      leave();
    },
  };
}

/** The server is asked about a channel once in this time at most. */
const periodMs = 1_000;
