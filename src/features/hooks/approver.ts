import { acceptsData } from "../../channel/publication-request.ts";
import type { HookTarget } from "../../config/config.ts";
import type { KeptHeaders } from "../../contract/session-snapshot.ts";
import { disconnectCodes } from "../../protocol/codes.ts";
import type { JsonText } from "../../protocol/json/text.ts";
import type { Payload } from "../../protocol/payload.ts";
import type {
  Answer,
  ConnectQuestion,
  Approver,
  Grants,
  Inquiry,
  Questions,
  CommandSession,
} from "../../session/ports.ts";
import { protocolOf, transportOf } from "../../session/connection-state.ts";
import type { RefusedCommand } from "../../session/decision.ts";
import { connectAnswer } from "./connect-answer.ts";
import { afterConnect, fitHeaders, headersFor, withEmulated, withTrace } from "./headers.ts";
import { failedAnswer, type HookAnswer, type HookRefused, Hooks, reasonOf } from "./hooks.ts";
import { type HookClient, type HookSubject, hookRequest } from "./request.ts";
import {
  type Invalid,
  parseMapPublishResult,
  parseMapRemoveResult,
  parsePublishResult,
  parseRpcResult,
  parseSubscribeResult,
} from "./response.ts";
import { ServerRefresh } from "./server-refresh.ts";
import type { ObjectPart, PartHost } from "../../object/part.ts";

/**
 * Lets backends decide on commands of one object's sessions (docs/protocol.md 7). What it keeps of a session is there only
 * while a backend is asked for it.
 */
export class BackendApprover implements Approver {
  readonly refresh: ServerRefresh;
  readonly #hooks: Pick<Hooks, "ask">;
  /** For how many commands of a session a backend is asked, whose answers its client awaits. */
  readonly #awaited = new WeakMap<CommandSession, number>();

  constructor(hooks: Pick<Hooks, "ask">) {
    this.#hooks = hooks;
    this.refresh = new ServerRefresh((...asked) => this.#ask(...asked));
  }

  ask<Hook extends keyof Questions>(
    session: CommandSession,
    { hook, question, target, nowMs }: Inquiry<Hook>,
    done: (answer: Answer<Hook>, nowMs: number) => void,
  ): void {
    const reading: HookReading<Hook> = readings[hook];
    // A message has no reply.
    const isAwaited = hook !== "message";
    if (isAwaited) this.#await(session, 1);
    this.#ask(session, target, { hook, ...question }, nowMs, (answer, answeredMs) => {
      if (isAwaited) this.#await(session, -1);
      const read = reading(answer, question, session, answeredMs);
      done(read.outcome === "granted" ? read : refusedBy(read, target), answeredMs);
    });
  }

  headersAtConnect(
    { context }: CommandSession,
    kept: KeptHeaders,
    given: ReadonlyMap<string, string>,
  ): KeptHeaders | undefined {
    const headers = withEmulated(context.config.hooks.targets, kept, given);
    return fitHeaders(headers) ? headers : undefined;
  }

  headersAfterConnect({ context }: CommandSession, kept: KeptHeaders): KeptHeaders | undefined {
    return afterConnect(context.config.hooks.targets, kept);
  }

  /** Asks a backend for a session. If the connection ends first, the answer does nothing (rule Q4). */
  #ask(
    session: CommandSession,
    target: HookTarget,
    subject: HookSubject,
    nowMs: number,
    done: (answer: HookAnswer, nowMs: number) => void,
  ): void {
    const body = hookRequest(clientOf(session, target), subject, target.binaryEncoding);
    const { headers: kept = {}, traceparent } = session.identity;
    const headers = withTrace(headersFor(target, kept), traceparent);
    const { user, identity } = session;
    const asker = user === "" ? `client ${identity.client}` : `user ${user}`;
    const question = { hook: subject.hook, body, headers, asker, isWanted: () => !session.closed };
    this.#hooks.ask(target, question, nowMs, (answer, answeredMs) => {
      if (session.closed) return;
      try {
        done(answer, answeredMs);
      } catch (error) {
        // A bug of the server must not leave the client waiting: this code makes the client reconnect.
        session.disconnect(disconnectCodes.internalServerError);
        throw error;
      }
    });
  }

  /** Until the last answer, the connection ends if it is restored. */
  #await(session: CommandSession, more: 1 | -1): void {
    const before = this.#awaited.get(session) ?? 0;
    const now = before + more;
    if (now === 0) this.#awaited.delete(session);
    else this.#awaited.set(session, now);
    if (before === 0 || now === 0) session.awaitAnswer(now > 0);
  }
}

/** How the answer to a question is read. */
type HookReading<Hook extends keyof Questions> = (
  answer: HookAnswer,
  question: Questions[Hook],
  session: CommandSession,
  nowMs: number,
) => HookRead<Grants[Hook]>;

type HookRead<Grant> = { readonly outcome: "granted"; readonly granted: Grant } | HookRefused;

const readings: { readonly [Hook in keyof Questions]: HookReading<Hook> } = {
  connect: readConnect,
  subscribe: (answer) => readResult(answer, parseSubscribeResult, ({ terms }) => terms),
  publish: (answer, { channel, data }, session) => {
    const read = readResult(answer, (result) => parsePublishResult(result, data), requestOf);
    return withData(session, channel, read);
  },
  map_publish: (answer, wanted, session) => {
    const read = readResult(answer, (result) => parseMapPublishResult(result, wanted), requestOf);
    return withData(session, wanted.channel, read);
  },
  map_remove: (answer, { key }) =>
    readResult(answer, (result) => parseMapRemoveResult(result, key), requestOf),
  rpc: (answer) => readResult(answer, parseRpcResult, ({ data }) => data),
  message: (answer) =>
    answer.outcome === "result" ? { outcome: "granted", granted: undefined } : answer,
};

function readConnect(
  answer: HookAnswer,
  _: ConnectQuestion,
  { context }: CommandSession,
  nowMs: number,
): HookRead<Grants["connect"]> {
  const read = connectAnswer(answer, context.config.hooks, nowMs);
  switch (read.outcome) {
    case "admitted":
      return { outcome: "granted", granted: read };
    case "no-credentials":
      return { outcome: "granted", granted: undefined };
    case "error":
    case "disconnect":
    case "failed":
      return read;
  }
}

function readResult<Result extends { readonly outcome: "read" }, Grant>(
  answer: HookAnswer,
  parse: (result: JsonText | undefined) => Result | Invalid,
  grantOf: (result: Result) => Grant,
): HookRead<Grant> {
  if (answer.outcome !== "result") return answer;
  const result = parse(answer.result);
  return result.outcome === "invalid"
    ? unusable(result.reason)
    : { outcome: "granted", granted: grantOf(result) };
}

function requestOf<Request>({ request }: { readonly request: Request }): Request {
  return request;
}

/** Refuses a publication whose data the channel doesn't take. */
function withData<Grant extends { readonly data: Payload }>(
  { context }: CommandSession,
  channel: string,
  read: HookRead<Grant>,
): HookRead<Grant> {
  if (read.outcome !== "granted") return read;
  const known = context.channels.resolve(channel);
  return known.outcome === "resolved" && acceptsData(known.options, read.granted.data)
    ? read
    : unusable("the namespace doesn't accept such data");
}

function unusable(reason: string): HookRefused {
  return failedAnswer(`the result can't be used: ${reason}`);
}

/** The decision on a command that a backend refuses, or for which it gives no usable answer (rule Q5). */
function refusedBy(answer: HookRefused, target: HookTarget): RefusedCommand {
  const why = { rule: "Q5", reason: reasonOf(answer, target) };
  return answer.outcome === "disconnect"
    ? { outcome: "disconnect", code: answer.code, why }
    : { outcome: "error", error: answer.error, why };
}

function clientOf(session: CommandSession, { includesMeta }: HookTarget): HookClient {
  const { identity, user } = session;
  const meta = includesMeta ? identity.claims?.meta : undefined;
  return {
    client: identity.client,
    transport: transportOf(identity),
    protocol: protocolOf(identity),
    user,
    ...(meta === undefined ? {} : { meta }),
  };
}

/** The hooks of an object: asks backends for its sessions, and for other parts, which share the bounds of a backend. */
export class ObjectHooks extends Hooks implements ObjectPart {
  readonly ofSessions = { approver: new BackendApprover(this) };
}

/** Makes the hooks of an object; undefined where the configuration has none. */
export function newHooks({ config, askBackend }: PartHost): ObjectHooks | undefined {
  return config.hooks.targets.size === 0 ? undefined : new ObjectHooks(askBackend);
}
