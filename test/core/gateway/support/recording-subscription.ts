import type { Message } from "../../../../src/protocol/codec.ts";
import type { DisconnectCode } from "../../../../src/protocol/codes.ts";
import { jsonCodec } from "../../../../src/protocol/json/codec.ts";
import type { ClientInfo } from "../../../../src/protocol/publication.ts";
import type { SubscribeReply } from "../../../../src/session/channels.ts";
import type { Cursor, SubscriptionSnapshot } from "../../../../src/contract/session-snapshot.ts";
import { Subscription } from "../../../../src/session/subscription.ts";
import { textOf } from "../../../support/text-of.ts";
import { parsePush } from "../../hub/recording-subscriber.ts";
import { unanswered } from "../../session/test-connection.ts";

/** The properties in which a subscription differs from the default. */
export interface RecordingTraits {
  readonly announced?: boolean;
  readonly hearsJoinLeave?: boolean;
  readonly present?: boolean;
  readonly hidden?: true;
  readonly onlooker?: true;
  readonly sole?: boolean;
  readonly delta?: true;
  /** Whether the attachment has no space for the gateway's cursor. */
  readonly attachmentFull?: boolean;
  /** The info that others may see. */
  readonly info?: Partial<ClientInfo>;
}

/** A subscription of a gateway, with a session that records its events. */
export class RecordingSubscription {
  readonly user: string;
  readonly channel: string;
  subscription: Subscription;
  /** A publication's data, `join` or `leave` with the user, or `lost`, in order. */
  readonly received: string[] = [];
  readonly answers: SubscribeReply[] = [];
  readonly disconnects: DisconnectCode[] = [];
  /** How often the subscription was to save the gateway's cursor. */
  cursorSaves = 0;
  savedCursor: Cursor | undefined;
  behindBytes = 0;
  /** Called in addition by the session. */
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

  /** The gateway hibernated: only the saved cursor is left. */
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
      ...(this.#traits.hidden && { hidden: true }),
      ...(this.#traits.delta && { delta: true }),
      sole: this.#traits.sole ?? false,
    };
    const connection = {
      send: (frame: Message) => {
        for (const line of textOf(frame).split("\n")) this.#receive(parsePush(line));
      },
      close: doNothing,
      save: doNothing,
      backlogBytes: () => this.behindBytes,
      answeredAtMs: () => undefined,
      lastHeardMs: () => undefined,
    };
    const session = {
      disconnect: (code: DisconnectCode) => {
        this.disconnects.push(code);
        this.onDisconnect();
      },
      insufficientState: () => {
        this.savedCursor = undefined;
        this.#receive("lost");
        this.onInsufficientState();
      },
      ...unanswered,
      identity: {
        ...unanswered.identity,
        ...(this.#traits.onlooker && { onlooker: true as const }),
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
    return new Subscription(info, granted, jsonCodec, connection, session, { cursor });
  }

  #receive(what: string): void {
    this.received.push(what);
    this.onReceived(what);
  }
}

function doNothing(): void {
  // Most listeners only listen.
}
