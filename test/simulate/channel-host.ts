import type { ChannelAnswers, ChannelCommand } from "../../src/api/channel-command.ts";
import { executeAll } from "../../src/api/execute.ts";
import { resolveChannel } from "../../src/channel/channel-name.ts";
import { Channel } from "../../src/channel/channel.ts";
import { type GatheredPresence, presence } from "../../src/channel/presence.ts";
import { limits } from "../../src/limits.ts";
import { jsonCodec } from "../../src/protocol/json-codec.ts";
import type { StreamPosition } from "../../src/protocol/publication.ts";
import { answerQuestions } from "../../src/relay/answer-questions.ts";
import type { BatchAnswer } from "../../src/relay/batch.ts";
import type { Delivery } from "../../src/relay/pipe.ts";
import type {
  Answers,
  GatewayPresence,
  PresenceAnswers,
  Question,
} from "../../src/relay/question.ts";
import { NodeSql } from "../support/node-sql.ts";
import { Life, NextTimer } from "./life.ts";
import type { Answering, ChannelCalls, Setting } from "./setting.ts";
import type { Timer } from "./timeline.ts";

/** What is lost with a crash. */
interface Memory {
  readonly life: Life;
  readonly number: number;
  readonly channel: Channel;
  readonly retryTimer: NextTimer;
  /** Jobs that wait for the commit under way. */
  waiting: (() => void)[];
  committing: boolean;
}

/** A channel's object: storage and an alarm that last, and a memory that doesn't. It drives the core as the real one does. */
export class ChannelHost implements ChannelCalls {
  readonly name: string;
  readonly #setting: Setting;
  readonly #sql = new NodeSql();
  #memory: Memory | undefined;
  #lives = 0;
  #epochs = 0;
  #upAtMs = 0;
  #alarm: Timer | undefined;
  #alarmAtMs = Number.POSITIVE_INFINITY;
  /** The next commit is the last thing that this life does: nothing of what follows from it leaves the object. */
  crashesAtCommit = false;
  /** How far the clock of the machine that it runs on is off, ms. */
  skewMs = 0;

  constructor(name: string, setting: Setting) {
    this.name = name;
    this.#setting = setting;
  }

  /** Who follows the channel. */
  get gateways(): readonly string[] {
    return this.#awake().channel.relay.gateways;
  }

  /** Where the stream stands. */
  get top(): StreamPosition | undefined {
    return this.#awake().channel.top;
  }

  get hasHistory(): boolean {
    return this.#awake().channel.hasHistory;
  }

  execute(commands: readonly ChannelCommand[], answer: Answering<ChannelAnswers>): void {
    this.#reach((memory) => {
      this.#work(memory, () => this.#execute(memory, commands), answer);
    });
  }

  ask(gateway: string, questions: readonly Question[], answer: Answering<Answers>): void {
    this.#reach((memory) => {
      this.#work(memory, () => this.#ask(memory, gateway, questions), answer);
    });
  }

  present(answer: Answering<PresenceAnswers>): void {
    this.#reach((memory) => {
      const done = memory.life.busy(() => answer(undefined));
      this.#gather(memory, (others) => {
        done();
        const { clients } = presence(memory.channel.hub.recipients, others);
        answer({ outcome: "present", clients, complete: others.complete });
      });
    });
  }

  /** The memory goes, in the middle of whatever is under way. The object is back a little later. */
  crash(): void {
    this.#memory?.life.end();
    this.#memory = undefined;
    this.#upAtMs = this.#setting.timeline.nowMs + downMs;
  }

  /** The memory goes, if nothing is under way. */
  evict(): void {
    if (this.#memory?.life.idle !== true) return;
    this.#memory.life.end();
    this.#memory = undefined;
  }

  get #nowMs(): number {
    return this.#setting.timeline.nowMs + this.skewMs;
  }

  #reach(work: (memory: Memory) => void): void {
    const { timeline } = this.#setting;
    if (timeline.nowMs < this.#upAtMs) {
      timeline.after(this.#upAtMs - timeline.nowMs, () => this.#reach(work));
    } else work(this.#awake());
  }

  #awake(): Memory {
    return (this.#memory ??= this.#wake());
  }

  #wake(): Memory {
    const { config, timeline } = this.#setting;
    const resolved = resolveChannel(this.name, config.channel);
    if (resolved.outcome !== "resolved") throw new Error(resolved.outcome);
    const life = new Life(timeline);
    const nowMs = this.#nowMs;
    const number = ++this.#lives;
    this.#setting.ledger.wake(this.name, number);
    return {
      life,
      number,
      channel: new Channel({
        name: this.name,
        options: resolved.options,
        client: config.client,
        codec: jsonCodec,
        sql: this.#sql,
        newEpoch: () => `epoch${++this.#epochs}`,
        instance: nowMs,
        nowMs,
      }),
      retryTimer: new NextTimer(life, () => this.#settle()),
      waiting: [],
      committing: false,
    };
  }

  /** Does a job in its turn, and answers when what it wrote is durable. */
  #work<Answer>(memory: Memory, job: () => Answer, answer: Answering<Answer>): void {
    const { timeline } = this.#setting;
    const done = memory.life.busy(() => answer(undefined));
    memory.waiting.push(() => {
      const result = job();
      timeline.after(commitMs, () => {
        if (memory.life.over) return;
        done();
        answer(result);
      });
    });
    if (!memory.committing) this.#commit(memory);
  }

  #commit(memory: Memory): void {
    const jobs = memory.waiting;
    memory.waiting = [];
    memory.committing = jobs.length > 0;
    if (jobs.length === 0) return;
    for (const job of jobs) job();
    this.#settle();
    if (this.crashesAtCommit) {
      this.crashesAtCommit = false;
      this.crash();
      return;
    }
    memory.life.after(commitMs, () => this.#commit(memory));
  }

  #execute(memory: Memory, commands: readonly ChannelCommand[]): ChannelAnswers {
    const { channel } = memory;
    const nowMs = this.#nowMs;
    const answers = commands.flatMap((command) => {
      const before = channel.relay.sequence;
      const answer = executeAll(channel, [command], nowMs);
      if (command.method === "publish" && channel.relay.sequence > before) {
        this.#note(memory, [command.request.data]);
      }
      return answer;
    });
    return { outcome: "answers", answers };
  }

  #ask(memory: Memory, gateway: string, questions: readonly Question[]): Answers {
    const answers = answerQuestions(memory.channel, gateway, questions, this.#nowMs);
    const published = questions.flatMap((question, index) =>
      question.method === "publish" && answers[index]?.outcome === "published"
        ? [question.data]
        : [],
    );
    this.#note(memory, published);
    return { outcome: "answers", answers };
  }

  /** These were published just now; the last of them is where the stream stands. */
  #note({ channel, number: life }: Memory, published: readonly string[]): void {
    const { top } = channel;
    for (const [index, json] of published.entries()) {
      const data: string = JSON.parse(json);
      const entry = { data, life };
      this.#setting.ledger.publish(
        this.name,
        top === undefined
          ? entry
          : { ...entry, position: { ...top, offset: top.offset - published.length + 1 + index } },
      );
    }
  }

  #gather({ life, channel }: Memory, answered: (others: GatheredPresence) => void): void {
    const { network } = this.#setting;
    const { gateways } = channel.relay;
    const answers: (GatewayPresence | undefined)[] = [];
    const settle = (): void => {
      if (answers.length < gateways.length) return;
      const clients = answers.flatMap((answer) => answer?.clients ?? []);
      answered({ clients, complete: answers.every((answer) => answer !== undefined) });
    };
    for (const gateway of gateways) {
      network.call<string, GatewayPresence>({
        kind: "gather",
        from: this.name,
        to: gateway,
        request: this.name,
        life,
        gateMs: commitMs,
        waitMs: limits.presenceGatherMs,
        carryOut: (name, answer) => this.#setting.gateway(gateway).present(name, answer),
        answered: (answer) => {
          answers.push(answer);
          settle();
        },
      });
    }
    settle();
  }

  /** Makes the calls that are due, and sees to it that the object wakes for the next ones (rule L4). */
  #settle(): void {
    const memory = this.#memory;
    if (memory === undefined) return;
    const { relay, top } = memory.channel;
    for (const delivery of relay.deliveries(top, this.#nowMs)) this.#deliver(memory, delivery);
    this.#schedule(memory);
  }

  #deliver({ life, channel }: Memory, delivery: Delivery): void {
    const { gateway, batch } = delivery;
    this.#setting.network.call<typeof batch, BatchAnswer>({
      kind: "deliver",
      from: this.name,
      to: gateway,
      request: batch,
      life,
      gateMs: commitMs,
      waitMs: limits.objectAnswerMs,
      carryOut: (sent, answer) => this.#setting.gateway(gateway).deliver(sent, answer),
      answered: (answer) => {
        channel.relay.answered(delivery, answer ?? "failed", this.#nowMs);
        this.#settle();
      },
    });
  }

  #schedule({ channel, retryTimer }: Memory): void {
    const nowMs = this.#nowMs;
    const dueMs = channel.relay.dueAtMs(nowMs) ?? Number.POSITIVE_INFINITY;
    const soon = dueMs - nowMs < limits.crashAlarmMs;
    retryTimer.set(soon ? dueMs - nowMs : undefined);
    const cleanupMs = channel.cleanupDueAtMs(nowMs) ?? Number.POSITIVE_INFINITY;
    this.#alarmAtMost(Math.min(cleanupMs, soon ? nowMs + limits.crashAlarmMs : dueMs));
  }

  #alarmAtMost(dueMs: number): void {
    if (dueMs >= this.#alarmAtMs) return;
    this.#alarm?.cancel();
    this.#alarmAtMs = dueMs;
    this.#alarm = this.#setting.timeline.after(Math.max(dueMs - this.#nowMs, 1), () => {
      this.#reach((memory) => this.#rang(memory));
    });
  }

  #rang(memory: Memory): void {
    const { channel } = memory;
    this.#alarmAtMs = Number.POSITIVE_INFINITY;
    const nowMs = this.#nowMs;
    if (nowMs - (channel.newestMs ?? 0) < limits.crashCheckMs) channel.relay.checkAfterWaking();
    channel.forgetWhatEnded(nowMs);
    this.#settle();
    if (channel.storesNothing) this.#deleteAll();
  }

  #deleteAll(): void {
    for (const { name } of this.#sql.rows("SELECT name FROM sqlite_master WHERE type = 'table'")) {
      this.#sql.run(`DROP TABLE ${name}`);
    }
  }
}

/** How long a write takes to be durable. */
const commitMs = 4;
/** How long a crashed object is gone. */
const downMs = 20;
