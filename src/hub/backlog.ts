import { limits } from "../limits.ts";
import { type DisconnectCode, disconnectCodes } from "../protocol/codes.ts";

/**
 * Decides what becomes of sockets whose backlogs together exceed `limits.backlogBytesMax` (rule B3). Nothing is sent to
 * them for a moment, which shows who reads: sockets that have taken next to nothing by then are cut, the largest backlog
 * first, until there is room. Where everybody reads, only slowly, that goes on for `limits.overloadMsMax`; then sockets
 * are cut whose backlog still exceeds their share.
 */
export class Overload<Socket extends { backlogBytes(): number }> {
  #sinceMs: number | undefined;
  #notedAtMs = 0;
  /** The backlogs at that time of sockets that had more than their share. */
  #noted: ReadonlyMap<Socket, number> = new Map();

  /**
   * Judges the backlogs.
   *
   * @param sockets all that share the bound
   */
  judge(sockets: readonly Socket[], nowMs: number): Judgement<Socket> {
    const bytes = sockets.reduce((sum, socket) => sum + socket.backlogBytes(), 0);
    // This is all for a healthy object, whose thousands of sockets are counted several times a second.
    if (bytes <= limits.backlogBytesMax) {
      this.#sinceMs = undefined;
      return { bytes, tooMuch: false, cut: [] };
    }
    // From the smallest backlog on.
    const backlogs = sockets
      .map((socket): Backlogged<Socket> => ({ socket, bytes: socket.backlogBytes() }))
      .toSorted((one, other) => one.bytes - other.bytes);
    const shareBytes = limits.backlogBytesMax / sockets.length;
    if (this.#sinceMs === undefined || nowMs < this.#notedAtMs) {
      this.#sinceMs = nowMs;
      this.#note(backlogs, shareBytes, nowMs);
      return { bytes, tooMuch: true, cut: [] };
    }
    if (nowMs - this.#sinceMs >= limits.overloadMsMax) {
      return this.#cut(backlogs, ({ bytes: behind }) => behind > shareBytes);
    }
    if (nowMs - this.#notedAtMs < limits.stalledMs) return { bytes, tooMuch: true, cut: [] };
    const judgement = this.#cut(backlogs, (one) => this.#isStalled(one));
    this.#note(backlogs, shareBytes, nowMs);
    return judgement;
  }

  #note(backlogs: readonly Backlogged<Socket>[], shareBytes: number, nowMs: number): void {
    this.#notedAtMs = nowMs;
    const large = backlogs.filter(({ bytes }) => bytes > shareBytes);
    this.#noted = new Map(large.map(({ socket, bytes }) => [socket, bytes]));
  }

  #isStalled({ socket, bytes }: Backlogged<Socket>): boolean {
    const before = this.#noted.get(socket);
    return before !== undefined && bytes >= before * stalledShare;
  }

  /** Cuts the largest of those that may be cut, until the others have room. */
  #cut(
    backlogs: readonly Backlogged<Socket>[],
    mayBeCut: (one: Backlogged<Socket>) => boolean,
  ): Judgement<Socket> {
    const cut: Socket[] = [];
    let bytes = 0;
    for (const one of backlogs) {
      if (bytes + one.bytes > limits.backlogBytesMax * roomShare && mayBeCut(one))
        cut.push(one.socket);
      else bytes += one.bytes;
    }
    const tooMuch = bytes > limits.backlogBytesMax;
    if (!tooMuch) this.#sinceMs = undefined;
    return { bytes, tooMuch, cut: cut.toReversed() };
  }
}

/** The decision of {@link Overload.judge}. */
export interface Judgement<Socket> {
  /** The backlogs together, without those that are to be cut. */
  readonly bytes: number;
  /** Whether nothing is to be sent. */
  readonly tooMuch: boolean;
  /** The sockets to be disconnected as slow, the worst first. */
  readonly cut: readonly Socket[];
}

interface Backlogged<Socket> {
  readonly socket: Socket;
  readonly bytes: number;
}

/** A socket whose backlog is at least this part of what it was has taken next to nothing. */
const stalledShare = 7 / 8;
/** The part of the bound that is taken after a cut, so that the next frame doesn't exceed it again. */
const roomShare = 3 / 4;

/** A socket that has a backlog. */
export interface BackloggedSocket {
  /** Bytes handed to it that the client has not taken yet. */
  backlogBytes(): number;
  disconnect(code: DisconnectCode): void;
}

/**
 * The backlog of all sockets of an object. No single hub sees them all: a socket may have many channels, or none yet. A
 * hub counts its own subscribers, as often as it sends to them.
 */
export class Backlog {
  readonly #object: BackloggedObject;
  readonly #overload = new Overload<BackloggedSocket>();
  /** As it was last counted, with the replies since then. */
  #bytes = 0;
  #countedAtMs = Number.NEGATIVE_INFINITY;
  #tooMuch = false;

  constructor(object: BackloggedObject) {
    this.#object = object;
  }

  /** Notes that a client was sent a reply of so many bytes. */
  sent(bytes: number): void {
    this.#bytes += bytes;
  }

  /**
   * Whether the sockets' backlogs together take too much memory (rule B3). Disconnects sockets that don't read.
   *
   * @param moreBytes that are about to be sent
   */
  overloaded(moreBytes = 0): boolean {
    const nowMs = this.#object.nowMs();
    const age = nowMs - this.#countedAtMs;
    const isFresh = age >= 0 && age < countEveryMs;
    // Counting asks every socket, which would be too much for every publication.
    if (isFresh && this.#tooMuch) return true;
    if (isFresh && this.#bytes + moreBytes <= limits.backlogBytesMax) return false;
    this.#countedAtMs = nowMs;
    const { bytes, tooMuch, cut } = this.#overload.judge(this.#object.sockets(), nowMs);
    this.#bytes = bytes;
    this.#tooMuch = tooMuch;
    for (const socket of cut) socket.disconnect(disconnectCodes.slow);
    return tooMuch || bytes + moreBytes > limits.backlogBytesMax;
  }
}

/** The object that holds the sockets. */
export interface BackloggedObject {
  /** All sockets; called only when they are counted. */
  sockets(): readonly BackloggedSocket[];
  /** The time, ms since 1970. */
  nowMs(): number;
}

/** Within so many ms a fast publisher adds no more than the hub of one channel lets through. */
const countEveryMs = 250;
