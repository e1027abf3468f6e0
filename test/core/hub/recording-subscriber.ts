import type { Subscriber } from "../../../src/hub/subscriber.ts";
import type { TagsFilter } from "../../../src/protocol/tags-filter.ts";
import type { Codec, Message } from "../../../src/protocol/codec.ts";
import type { DisconnectCode } from "../../../src/protocol/codes.ts";
import { jsonCodec } from "../../../src/protocol/json/codec.ts";
import { memberText } from "../../../src/protocol/json/text.ts";
import type { Payload } from "../../../src/protocol/payload.ts";
import type { ClientInfo, Publication } from "../../../src/protocol/publication.ts";
import { textOf } from "../../support/text-of.ts";

/**
 * The properties in which a subscriber differs from one that is present, speaks JSON, and gets all publications in
 * full.
 */
export interface SubscriberTraits {
  readonly present?: boolean;
  readonly announced?: boolean;
  readonly hearsJoinLeave?: boolean;
  readonly codec?: Codec;
  readonly filter?: TagsFilter;
  readonly delta?: boolean;
  readonly recoveredTo?: number;
}

/** A subscriber that records its events, in order. */
export class RecordingSubscriber implements Subscriber {
  readonly info: ClientInfo;
  readonly present: boolean;
  readonly announced: boolean;
  readonly hearsJoinLeave: boolean;
  readonly codec: Codec;
  readonly filter: TagsFilter | undefined;
  readonly delta: boolean;
  readonly recoveredTo: number | undefined;
  deltaBase: Payload | undefined;
  readonly frames: Message[] = [];
  readonly disconnects: DisconnectCode[] = [];
  /** The connections it may have to give way to. */
  readonly replacements: string[] = [];
  /** How often it was told to begin anew. */
  restarts = 0;
  /** Its backlog in bytes. */
  behindBytes = 0;
  /** A session's further actions, in the middle of the hub's loop. */
  onSend: (frame: Message) => void = doNothing;
  onDisconnect: () => void = doNothing;
  onReplaced: () => void = doNothing;

  constructor(user: string, traits: SubscriberTraits = {}) {
    this.info = { user, client: `client-of-${user}` };
    this.present = traits.present ?? true;
    this.announced = traits.announced ?? false;
    this.hearsJoinLeave = traits.hearsJoinLeave ?? false;
    this.codec = traits.codec ?? jsonCodec;
    this.filter = traits.filter;
    this.delta = traits.delta ?? false;
    this.recoveredTo = traits.recoveredTo;
  }

  noteSent({ data }: Publication): void {
    this.deltaBase = data;
  }

  send(frame: Message): void {
    this.frames.push(frame);
    this.onSend(frame);
  }

  backlogBytes(): number {
    return this.behindBytes;
  }

  insufficientState(): void {
    this.restarts++;
  }

  disconnect(code: DisconnectCode): void {
    this.disconnects.push(code);
    this.onDisconnect();
  }

  replacedBy(client: string): void {
    this.replacements.push(client);
    this.onReplaced();
  }

  /**
   * The received pushes, in order, if the subscriber speaks JSON: a publication's data, or `join` or `leave` with the
   * user.
   */
  get received(): string[] {
    return this.frames.flatMap((frame) => textOf(frame).split("\n")).map(parsePush);
  }
}

/** So many subscribers that only listen. */
export function recordingSubscribers(
  size: number,
  traits?: SubscriberTraits,
): RecordingSubscriber[] {
  return Array.from(
    { length: size },
    (_, index) => new RecordingSubscriber(`user${index}`, traits),
  );
}

/** The content of a push: a publication's data, or `join` or `leave` with the user. */
export function parsePush(line: string): string {
  const data = memberText(line, "push", "pub", "data");
  if (data !== undefined) return data;
  for (const type of ["join", "leave"]) {
    const user = memberText(line, "push", type, "info", "user");
    if (user !== undefined) return `${type} ${user.slice(1, -1)}`;
  }
  throw new Error(`not a push that a hub sends: ${line}`);
}

function doNothing(): void {
  // Most recipients only listen.
}
