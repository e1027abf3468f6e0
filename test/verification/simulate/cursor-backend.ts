import { userKey } from "../../../src/contract/identity-key.ts";
import { homeName } from "../../../src/contract/object-names.ts";
import { homeCalls } from "../../../src/features/index.ts";
import type { CallAnswer, CallRequest } from "../../../src/object/object-call.ts";
import type { ChannelOperation } from "../../../src/contract/channel-call.ts";
import { errorCodes } from "../../../src/protocol/codes.ts";
import { limits } from "../../../src/limits.ts";
import { callChannel } from "./channel-call.ts";
import type {
  CursorRules,
  DeliveredAnswer,
  KnownMarks,
  MarkAnswer,
  UnreadAnswer,
} from "./cursor-rules.ts";
import type { WorldContext } from "./world-context.ts";

/** Marks what users have read through the HTTP API, and asks what is unread. */
export class CursorBackend {
  readonly #context: WorldContext;
  readonly #rules: CursorRules;

  constructor(context: WorldContext) {
    this.#context = context;
    this.#rules = context.cursors;
  }

  /** @param epoch "" for the epoch of now */
  mark(channel: string, user: string, offset: number, epoch: string): void {
    this.#rules.marks(channel, user, { epoch, offset }, false);
    const known = this.#rules.known(channel, user);
    const operation = { method: "mark_read", request: { user, offset, epoch } } as const;
    this.#call(known, operation, (text) => {
      const answer: MarkAnswer = JSON.parse(text);
      this.#rules.marked(known, answer);
    });
  }

  countUnread(channel: string, user: string): void {
    const known = this.#rules.known(channel, user);
    const operation = { method: "unread", request: { user } } as const;
    this.#call(known, operation, (text) => {
      const answer: UnreadAnswer = JSON.parse(text);
      this.#rules.counted(known, answer);
    });
  }

  /** Asks what the user is known to have got. @param heard takes the answer */
  askDelivered(channel: string, user: string, heard?: (answer: DeliveredAnswer) => void): void {
    const known = this.#rules.known(channel, user);
    const operation = { method: "delivered", request: { user } } as const;
    this.#call(known, operation, (text) => {
      const answer: DeliveredAnswer = JSON.parse(text);
      this.#rules.delivered(known, answer);
      heard?.(answer);
    });
  }

  /** Changes an audience that a backend names. */
  changeAudience(
    channel: string,
    method: "add_audience" | "remove_audience" | "set_audience",
    users: readonly string[],
  ): void {
    if (method !== "remove_audience") this.#rules.names(channel, users);
    const operation = { method, request: { users } } as const;
    this.#call({ channel }, operation, () => undefined);
  }

  /** Has everything deleted that channels keep of a user. */
  forget(user: string): void {
    const name = homeName(userKey(user));
    const acknowledged = this.#rules.forgets(user);
    this.#context.network.call<CallRequest<"forgetUser">, CallAnswer<"forgetUser">>({
      kind: "register",
      from: "backend",
      to: `home ${name}`,
      request: [{ user }],
      waitMs: limits.objectAnswerMs,
      carryOut: (request, answer) =>
        this.#context
          .home(name)
          .call((host, done) => homeCalls.forgetUser.answer(host, request, done), answer),
      answered: (ordered) => {
        if (ordered?.outcome === "done") acknowledged();
      },
    });
  }

  #call(
    { channel }: Pick<KnownMarks, "channel">,
    operation: ChannelOperation,
    answered: (result: string) => void,
  ): void {
    callChannel(this.#context, channel, operation, (answer) => {
      if (answer === undefined) return;
      if ("result" in answer) answered(answer.result);
      else if (!refusals.has(answer.error.code))
        this.#context.publicationLog.complain(
          `${operation.method} was refused: ${answer.error.code}`,
        );
    });
  }
}

/** A mark may be beyond the top, or of another epoch (rule CU3). */
const refusals: ReadonlySet<number> = new Set([
  errorCodes.badRequest.code,
  errorCodes.unrecoverablePosition.code,
]);
