import { execute } from "../../src/api/execute.ts";
import { Channel } from "../../src/channel/channel.ts";
import { resolveChannel } from "../../src/channel/channel-name.ts";
import type { AcceptedEntry } from "../../src/channel/channel-part.ts";
import { plainPublication } from "../../src/channel/publication-request.ts";
import type { Config } from "../../src/config/config.ts";
import { parseConfig } from "../../src/config/parse-config.ts";
import type { ChannelOperation } from "../../src/contract/channel-call.ts";
import { featuredChannels } from "../../src/features/index.ts";
import type { DormouseConfig } from "../../src/features/options.ts";
import { ChannelProcedures } from "../../src/features/procedures/channel-procedures.ts";
import { withChannelCode } from "../../src/features/procedures/config.ts";
import type {
  ChannelDefinition,
  ProcedureArgs,
  ProcedureResult,
  Procedures,
} from "../../src/features/procedures/definition.ts";
import {
  type JsonText,
  memberText,
  parseJsonText,
  trustedJsonText,
} from "../../src/protocol/json/text.ts";
import { payloadText } from "../../src/protocol/payload.ts";
import type { ClientInfo } from "../../src/protocol/publication.ts";
import { type JsonData, type JsonValue, jsonValue } from "../../src/protocol/wire-value.ts";
import { forbidden } from "./forbidden.ts";
import { NodeSql } from "./node-sql.ts";
import { checkNumber, numberRules } from "./numbers.ts";
import { DormouseTestError } from "./test-error.ts";

/** How a channel without a server is made. */
export interface TestChannelOptions {
  /** The options of the channel's namespace. Absent: a stream that keeps 1,000 publications for a day. */
  readonly namespace?: NamespaceOptions;
  /** When the test begins, ms since 1970. Absent: at a fixed time, the same in every test. */
  readonly nowMs?: number;
  /** What the random numbers depend on; the same seed gives the same. */
  readonly seed?: string;
}

type NamespaceOptions = NonNullable<NonNullable<DormouseConfig["channel"]>["without_namespace"]>;

/** Who calls or publishes. Without a user and a client, and unless it is a client, it is a backend. */
export interface TestCaller {
  readonly user?: string;
  readonly client?: string;
  /** The `info` of the connection. */
  readonly info?: JsonData;
  readonly idempotencyKey?: string;
}

/** A publication of the channel, or a change of its keys if it is a map. */
export interface TestPublication {
  /** Undefined if a key was removed. */
  readonly data: JsonValue | undefined;
  /** 0 without history. */
  readonly offset: number;
  /** The user of the client that has published; absent for the code and for backends. */
  readonly user?: string;
  readonly key?: string;
  readonly removed?: true;
  readonly tags?: Readonly<Record<string, string>>;
}

/** A call or a publish that was refused: by the code itself, or by a rule or a bound of the server. */
export class TestRejection extends Error {
  override readonly name = "TestRejection";
  readonly code: number;

  constructor({ code, message }: { readonly code: number; readonly message: string }) {
    super(message);
    this.code = code;
  }
}

/**
 * Makes a channel that runs its code without a server: the real core on Node's SQLite. Time stands still until the test
 * advances it.
 *
 * @throws {DormouseTestError} with what is wrong with the definition or the options
 */
export function testChannel<const Own extends Procedures>(
  definition: ChannelDefinition<Own>,
  options: TestChannelOptions = {},
): TestChannel<Own> {
  return new TestChannel(definition, options);
}

/** The arguments of a procedure, and who calls it. */
type Given<Called> =
  ProcedureArgs<Called> extends readonly [infer Args]
    ? [Args] extends [never]
      ? [args?: JsonData, caller?: TestCaller]
      : [args: Args, caller?: TestCaller]
    : [args?: JsonData, caller?: TestCaller];

/** A channel without a server. */
export class TestChannel<Own extends Procedures> {
  /** The time, ms since 1970. */
  nowMs: number;
  /** All publications since the beginning, or all changes of the keys of a map. */
  readonly published: TestPublication[] = [];
  readonly #sql = new NodeSql();
  readonly #options: TestChannelOptions;
  #config: Config;
  #channel: Channel;
  #code: ChannelProcedures;
  #epochs = 0;
  #thrown: Error | undefined;

  constructor(definition: ChannelDefinition<Own>, options: TestChannelOptions) {
    this.#options = options;
    this.nowMs = options.nowMs ?? firstMs;
    checkNumber("testChannel: nowMs", this.nowMs, numberRules.nowMs);
    this.#config = configOf(definition, options.namespace);
    [this.#channel, this.#code] = this.#begin();
  }

  /**
   * Calls a procedure.
   *
   * @returns what it has returned
   * @throws {TestRejection} if the call is refused; what the code itself has thrown is thrown as it is
   */
  call<Name extends keyof Own & string>(
    procedure: Name,
    ...[args, caller = {}]: Given<Own[Name]>
  ): ProcedureResult<Own[Name]> {
    const data = args === undefined ? {} : { data: jsonOf(args) };
    const request = { procedure, ...data, ...keyOf(caller) };
    const answer = this.#carryOut({ method: "call", request, ...infoOf(caller) });
    const result = memberText(answer, "data");
    const value: ProcedureResult<Own[Name]> =
      result === undefined || result === "null" ? undefined : JSON.parse(result);
    return value;
  }

  /** Publishes, as a client or a backend does: `onPublish` decides. @throws as {@link call} does */
  publish(data: JsonData, caller: TestCaller = {}): void {
    const request = { ...plainPublication(jsonOf(data)), ...keyOf(caller) };
    this.#carryOut({ method: "publish", request, ...infoOf(caller) });
  }

  /**
   * Edits a publication, as a backend does, or a client that may: `onPublish` decides. The namespace needs `allow_change`.
   *
   * @returns why nothing was changed, such as `not_found`; undefined if it was
   * @throws as {@link call} does
   */
  edit(offset: number, data: JsonData, caller: TestCaller = {}): string | undefined {
    const request = { ...changeOf(offset, caller), data: jsonOf(data), delta: false };
    return this.#change({ method: "update_publication", request, ...infoOf(caller) });
  }

  /** Deletes a publication; see {@link edit}. */
  delete(offset: number, caller: TestCaller = {}): string | undefined {
    const request = { ...changeOf(offset, caller), reason: "" };
    return this.#change({ method: "delete_publication", request, ...infoOf(caller) });
  }

  #change(operation: ChannelOperation): string | undefined {
    const answer = this.#carryOut(operation);
    return memberText(answer, "suppressed") === undefined
      ? undefined
      : textIn(answer, "suppress_reason");
  }

  /** Sets a key of a map, as a client or a backend does. @throws as {@link call} does */
  set(key: string, data: JsonData, caller: TestCaller = {}): void {
    const request = {
      ...plainPublication(jsonOf(data)),
      ...keyOf(caller),
      key,
      keyMode: "",
    } as const;
    this.#carryOut({ method: "map_publish", request, ...infoOf(caller) });
  }

  /** Removes a key of a map, as a client or a backend does. @throws as {@link call} does */
  remove(key: string, caller: TestCaller = {}): void {
    const request = { key, ...keyOf(caller) };
    this.#carryOut({ method: "map_remove", request, ...infoOf(caller) });
  }

  /** Appends to the value of a key of a map, as a client or a backend does. @throws as {@link call} does */
  append(key: string, text: string, caller: TestCaller = {}): void {
    const request = { key, text, final: false, ...keyOf(caller) };
    this.#carryOut({ method: "map_append", request, ...infoOf(caller) });
  }

  /** Lets time pass: the timers call in their order, each at its time. */
  advance(ms: number): void {
    checkNumber("advance: ms", ms, numberRules.advanceMs);
    const untilMs = this.nowMs + ms;
    for (let turn = 0; turn < turnsMax; turn++) {
      const dueMs = this.#code.dueAtMs(this.nowMs);
      if (dueMs > untilMs) {
        this.nowMs = untilMs;
        return;
      }
      this.nowMs = Math.max(this.nowMs, dueMs);
      this.#run(() => this.#code.ring(this.nowMs));
    }
    throw new DormouseTestError(
      `the timers of the channel have called ${turnsMax} times and don't come to rest`,
    );
  }

  /** All keys with their values. */
  get keys(): Readonly<Record<string, JsonValue>> {
    const keys: [string, JsonValue][] = [];
    for (;;) {
      const page = this.#code.keysAfter(keys.at(-1)?.[0] ?? "", keysAtOnce);
      for (const key of page) {
        const text = this.#code.read(key);
        if (text !== undefined) keys.push([key, jsonValue(text)]);
      }
      if (page.length < keysAtOnce) return Object.fromEntries(keys);
    }
  }

  /** The timers, by their names. */
  get timers(): Readonly<Record<string, { readonly atMs: number; readonly procedure: string }>> {
    const timers = [...this.#code.look(this.nowMs).timers];
    return Object.fromEntries(
      timers.map(([name, { atMs, procedure }]) => [name, { atMs, procedure }]),
    );
  }

  /**
   * Ends the instance and begins another one on what is stored, as after hibernation, a crash or a deploy.
   *
   * @param definition the code after a deploy; absent: the same
   */
  restart(definition?: ChannelDefinition): void {
    if (definition !== undefined) this.#config = configOf(definition, this.#options.namespace);
    [this.#channel, this.#code] = this.#begin();
  }

  #begin(): [Channel, ChannelProcedures] {
    const config = this.#config;
    const resolved = resolveChannel(channelName, config.channel);
    if (resolved.outcome !== "resolved") throw new DormouseTestError(resolved.outcome);
    const channel = new Channel({
      name: channelName,
      options: resolved.options,
      client: config.client,
      sql: this.#sql,
      newEpoch: () => `${this.#options.seed ?? "seed"}${++this.#epochs}`,
      instance: this.nowMs,
      nowMs: this.nowMs,
      features: featuredChannels(config),
      accepted: (entry, position) => this.published.push(publicationOf(entry, position?.offset)),
    });
    const code = channel.parts.find((part) => part instanceof ChannelProcedures);
    if (code === undefined) throw new DormouseTestError("the channel has no code");
    code.observer = {
      called: ({ thrown }) => {
        this.#thrown ??= thrown;
      },
    };
    return [channel, code];
  }

  #carryOut(operation: ChannelOperation): JsonText {
    const answer = this.#run(() => execute(this.#channel, operation, this.nowMs));
    if ("error" in answer) throw new TestRejection(answer.error);
    return answer.result;
  }

  /** Runs the core, and throws what the code has thrown. */
  #run<Result>(work: () => Result): Result {
    this.#thrown = undefined;
    const result = forbidden(work);
    this.#channel.noteHolders(this.nowMs);
    if (this.#thrown !== undefined) throw this.#thrown;
    return result;
  }
}

const namespace = "test";
const channelName = `${namespace}:1`;
const firstMs = 1_700_000_000_000;
const keysAtOnce = 100;
/** More often timers don't call in a test, unless they call each other without end. */
const turnsMax = 10_000;
const stream: NamespaceOptions = { history_size: 1_000, history_ttl: "24h" };

function configOf(definition: object, options: NamespaceOptions = stream): Config {
  const parsed = parseConfig({ channel: { namespaces: [{ name: namespace, ...options }] } });
  if (parsed.outcome === "bad") throw new DormouseTestError(parsed.problems.join("\n"));
  const { config, problems } = withChannelCode(parsed.config, { [namespace]: definition });
  if (problems.length > 0) throw new DormouseTestError(problems.join("\n"));
  return config;
}

function infoOf({ user, client, info }: TestCaller): { readonly info?: ClientInfo } {
  if (user === undefined && client === undefined) return {};
  const connInfo = info === undefined ? {} : { connInfo: jsonOf(info) };
  return { info: { user: user ?? "", client: client ?? `client of ${user ?? ""}`, ...connInfo } };
}

function changeOf(offset: number, caller: TestCaller) {
  return { offset, epoch: "", ...keyOf(caller) };
}

/** A text of an answer. */
function textIn(answer: JsonText, name: string): string {
  const value = jsonValue(memberText(answer, name) ?? trustedJsonText('""'));
  return typeof value === "string" ? value : "";
}

function keyOf({ idempotencyKey = "" }: TestCaller) {
  return { idempotencyKey };
}

function publicationOf(
  { data, tags, info, key, removed }: AcceptedEntry,
  offset: number | undefined,
): TestPublication {
  const text = removed === true ? undefined : payloadText(data);
  return {
    data: text === undefined ? undefined : jsonValue(text),
    offset: offset ?? 0,
    ...(info !== undefined && { user: info.user }),
    ...(key !== undefined && { key }),
    ...(removed === true && { removed }),
    ...(tags !== undefined && { tags }),
  };
}

function jsonOf(value: JsonData): JsonText {
  return parseJsonText(JSON.stringify(value)) ?? trustedJsonText("null");
}
