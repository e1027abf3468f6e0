import type { Message } from "../../../src/protocol/codec.ts";
import type { DisconnectCode } from "../../../src/protocol/codes.ts";
import { jsonCodec } from "../../../src/protocol/json/codec.ts";
import type { ClientInfo } from "../../../src/protocol/publication.ts";
import type { SubscribeReply } from "../../../src/session/ports.ts";
import type { Cursor, SubscriptionSnapshot } from "../../../src/contract/session-snapshot.ts";
import { Subscription } from "../../../src/session/subscription.ts";
import { textOf } from "../../support/text-of.ts";
import { parsePush } from "../hub/recording-subscriber.ts";

/** What is special about a listener. */
export interface RecordingTraits {
  readonly announced?: boolean;
  readonly hearsJoinLeave?: boolean;
  readonly present?: boolean;
  readonly sole?: boolean;
  /** It has no room to note where the gateway stands. */
  readonly attachmentFull?: boolean;
  /** What others may know of it. */
  readonly info?: Partial<ClientInfo>;
}

/** A subscriber of a gateway, with a session that writes down what happens to it. */
export class RecordingSubscription {
  readonly user: string;
  readonly channel: string;
  subscription: Subscription;
  /** A publication's data, `join` or `leave` and who, `lost`, in order. */
  readonly received: string[] = [];
  readonly answers: SubscribeReply[] = [];
  readonly disconnects: DisconnectCode[] = [];
  flushes = 0;
  /** How often it was to note where the gateway stands. */
  cursorSaves = 0;
  savedCursor: Cursor | undefined;
  behindBytes = 0;
  /** What a session does besides. */
  onReceived: (what: string) => void = doNothing;
  onInsufficientState: () => void = doNothing;
  onDisconnect: () => void = doNothing;
  readonly #traits: RecordingTraits;

  constructor(user: string, traits: RecordingTraits = {}, channel = "news") {
    this.user = user;
    this.channel = channel;
    this.#traits = traits;
    this.subscription = this.#newSubscription(undefined);
  }

  /** The answer to its join. */
  readonly answered = (answer: SubscribeReply): void => {
    this.answers.push(answer);
  };

  /** Its object slept: what it noted is all that is left. */
  wake(): void {
    this.subscription = this.#newSubscription(this.savedCursor);
  }

  #newSubscription(cursor: Cursor | undefined): Subscription {
    const { announced = false, hearsJoinLeave = false, present = true } = this.#traits;
    const granted: SubscriptionSnapshot = {
      channel: this.channel,
      expireAtSeconds: 0,
      present,
      announced,
      hearsJoinLeave,
      sole: this.#traits.sole ?? false,
    };
    const connection = {
      send: (frame: Message) => {
        for (const line of textOf(frame).split("\n")) this.#receive(parsePush(line));
      },
      close: doNothing,
      save: doNothing,
      backlogBytes: () => this.behindBytes,
      lastHeardMs: () => undefined,
    };
    const session = {
      outbox: {
        flushed: () => {
          this.flushes++;
        },
      },
      disconnect: (code: DisconnectCode) => {
        this.disconnects.push(code);
        this.onDisconnect();
      },
      insufficientState: () => {
        this.savedCursor = undefined;
        this.#receive("lost");
        this.onInsufficientState();
      },
      hasRoomForCursor: () => {
        this.cursorSaves++;
        return this.#traits.attachmentFull !== true;
      },
      save: () => {
        this.savedCursor = this.subscription.cursor;
      },
      subscriptionChanged: () => undefined,
    };
    const info = { user: this.user, client: `client-of-${this.user}`, ...this.#traits.info };
    return new Subscription(info, granted, jsonCodec, connection, session, cursor);
  }

  #receive(what: string): void {
    this.received.push(what);
    this.onReceived(what);
  }
}

function doNothing(): void {
  // Most listeners only listen.
}
