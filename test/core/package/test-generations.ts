import type { BegunAnswer, ChatBackend, Chunk } from "../../../package/ai/index.ts";

/** What an object's storage is for a generation, and how many rows were written. */
class TestStorage extends Map<string, unknown> {
  rows = 0;
  #alarms = 0;
  put = async (key: string, value: unknown): Promise<void> => {
    this.rows++;
    this.set(key, structuredClone(value));
  };
  setAlarm = async (): Promise<void> => {
    this.rows++;
    this.#alarms++;
  };
  deleteAll = async (): Promise<void> => {
    this.rows += this.size + this.#alarms;
    this.#alarms = 0;
    this.clear();
  };
}

/** What tests call of `GenerationObject`, whose own types need those of the platform. */
interface Generations {
  begin(generation: {
    readonly channel: string;
    readonly messageId: string;
    readonly job: string;
    readonly begun: BegunAnswer | undefined;
  }): Promise<void>;
  alarm(): Promise<void>;
}

const file: string = "../../../package/ai-object.ts";
const { GenerationObject }: { readonly GenerationObject: new () => Generations } = await import(
  file
);

/** The object that writes an answer, without a platform: the test file has to replace `cloudflare:workers`. */
export class TestGenerations extends GenerationObject {
  readonly stored = new TestStorage();
  readonly ctx = { storage: this.stored };
  readonly realtime: () => ChatBackend;
  readonly generate: () => Promise<ReadableStream<Chunk>>;

  /** @param answer is called for each producer */
  constructor(backend: ChatBackend, answer: () => Promise<ReadableStream<Chunk>>) {
    super();
    this.realtime = () => backend;
    this.generate = answer;
  }
}
