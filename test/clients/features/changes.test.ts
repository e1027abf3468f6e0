import { type TestContext, afterAll, beforeAll, expect, it } from "vitest";
import { startDormouse, type TestDormouse } from "../../../package/test/index.ts";
import { codeBlocksOf, codeFolder, writeCode } from "../../support/documented-code.ts";
import { hasJava, JavaEnvironment } from "../../support/environments/java-environment.ts";
import { PythonEnvironment } from "../../support/environments/python-environment.ts";
import type { Script } from "../../support/environments/script.ts";
import { BreakableNetwork } from "../../support/sockets/breakable-network.ts";
import type { SdkClient, SdkSubscription } from "../../support/sockets/sdk-client.ts";
import { type Wire, wires } from "../../support/sockets/wire.ts";

const room = "room:7";
const config = {
  channel: {
    namespaces: [
      {
        name: "room",
        allow_subscribe_for_client: true,
        allow_history_for_client: true,
        allowed_delta_types: ["fossil"],
        allow_change: true,
        history_size: 1_000,
        history_ttl: "1h",
        force_recovery: true,
      },
    ],
  },
};
const sdkWires = wires.filter(({ transport }) => transport === "websocket");

let rt: TestDormouse;
let python: PythonEnvironment;
let java: JavaEnvironment | undefined;
let documented: Documented;
const folder = codeFolder();

beforeAll(async () => {
  const code = [...codeBlocksOf("changes.md"), ...codeBlocksOf("erasure.md")]
    .map((block) => block.code)
    .filter((block) => block.startsWith('subscription.on("publication"'));
  const wrapped = `export function keep(subscription, list) { ${code.join("\n")} }`;
  documented = await import(writeCode(folder.path, "changes.mjs", wrapped));
  rt = await startDormouse({ config });
  python = await PythonEnvironment.open();
  if (hasJava()) java = await JavaEnvironment.open();
}, 300_000);
afterAll(async () => {
  await rt.stop();
  folder.remove();
});

/** A message of the room. */
interface Message {
  readonly id: number;
  readonly text: string;
}

/** What a member shows in the end. */
interface Shown {
  readonly name: string;
  readonly entries: unknown;
  /** The offsets of all publications that came; undefined for the Java client, which reads the history again. */
  readonly offsets: unknown;
}

/** The code of docs/changes.md and docs/erasure.md by which a client keeps a list, as a module. */
interface Documented {
  keep(subscription: Publications, list: Map<number, Message>): void;
}

interface Publications {
  on(event: "publication", keep: (publication: object) => void): void;
}

/** A page with the official JavaScript client, which keeps its list by the documented code. */
class Page {
  readonly name: string;
  readonly sdk: SdkClient;
  readonly subscription: SdkSubscription;
  readonly #list = new Map<number, Message>();

  /** @param more options of its subscription */
  constructor(name: string, wire: Wire, more: object, at = rt.origin) {
    this.name = name;
    this.sdk = wire.open({ address: rt.origin }, room, { token: rt.token("reader") }, at);
    this.subscription = this.sdk.subscribe(room, more);
    const { subscription } = this.subscription;
    documented.keep(
      {
        on: (_, keep) =>
          subscription.on("publication", ({ data, ...rest }) =>
            keep({ ...rest, data: wire.decode(data) }),
          ),
      },
      this.#list,
    );
  }

  async shown(top: number): Promise<Shown> {
    await this.subscription.publications.first(({ offset = 0 }) => offset >= top);
    const entries = [...this.#list].toSorted(([one], [other]) => one - other);
    const { name, subscription } = this;
    return { name, entries: entries.map(([, message]) => message), offsets: subscription.offsets };
  }
}

/** What a backend says, changes and takes away, and what must be shown of it. */
class Conversation {
  /** What must be shown, by offset. */
  readonly list = new Map<number, Message>();
  /** What nobody who comes later may get. */
  readonly gone: string[] = [];
  top = 0;
  #said = 0;

  async say(): Promise<number> {
    const message = this.#message(++this.#said);
    const { offset } = await rt.publish(room, message, { delta: true });
    this.list.set(this.#reach(offset), message);
    return this.top;
  }

  async edit(offset: number): Promise<void> {
    const before = this.list.get(offset);
    const data = this.#message(before?.id ?? 0);
    const result = await rt.api("update_publication", { channel: room, offset, data, delta: true });
    this.#reach(result["offset"]);
    this.#take(offset);
    this.list.set(offset, data);
  }

  async delete(offset: number): Promise<void> {
    this.#reach((await rt.api("delete_publication", { channel: room, offset }))["offset"]);
    this.#take(offset);
  }

  async erase(offset: number): Promise<void> {
    this.#reach((await rt.api("erase", { channel: room, offset }))["offset"]);
    this.#take(offset);
  }

  #take(offset: number): void {
    this.gone.push(this.list.get(offset)?.text ?? "");
    this.list.delete(offset);
  }

  #reach(offset: unknown): number {
    return (this.top = Number(offset));
  }

  /** A text that is long enough for deltas, and the only one with this word. */
  #message(id: number): Message {
    const word = `word-${id}-${this.gone.length}-${this.top}.`;
    return { id, text: `Something that is said in the same way each time, about ${word}` };
  }
}

/** All that happens to publications of a room, with a pause after each of them. */
async function change(conversation: Conversation, pause: () => Promise<void>): Promise<void> {
  const said: number[] = [];
  for (let count = 0; count < 6; count++) said.push(await conversation.say());
  const [once = 0, twice = 0, deleted = 0, late = 0, erased = 0, after = 0] = said;
  await pause();
  await conversation.edit(once);
  await conversation.edit(twice);
  await pause();
  await conversation.edit(twice);
  await conversation.delete(deleted);
  await pause();
  await conversation.edit(late);
  await conversation.delete(late);
  await conversation.erase(erased);
  await pause();
  await conversation.edit(after);
  await conversation.erase(after);
  await conversation.say();
}

/** How often the channel's object and the gateways have started. */
async function starts(): Promise<readonly number[]> {
  const objects = await rt.objects();
  return ["CHANNELS", "GATEWAYS"].map((kind) =>
    objects.filter((one) => one.kind === kind).reduce((sum, one) => sum + one.starts, 0),
  );
}

/** The addresses of the official clients in other languages. */
const addresses = (at: string) => ({
  channel: `${at.replace("http", "ws")}/channel/${encodeURIComponent(room)}/websocket`,
  gateway: `${at.replace("http", "ws")}/connection/websocket`,
});

/** The official Python clients, in both codecs at both addresses, with deltas and without. */
function pythonClients(at: string, name: string) {
  return Object.entries(addresses(at)).flatMap(([place, address]) => [
    { name: `${name} ${place}`, address },
    { name: `${name} ${place} protobuf`, address, protobuf: true },
    { name: `${name} ${place} delta`, address, delta: true },
  ]);
}

/** Clients in another language, which say what they show. */
class Others {
  readonly #script: Script;
  readonly #late: (coming: number) => Promise<void>;
  #comings = 0;
  #lists = 0;
  #reads = 0;

  /** @param late has further clients come, and waits for them */
  constructor(script: Script, late: (coming: number) => Promise<void>) {
    this.#script = script;
    this.#late = late;
  }

  come(): Promise<void> {
    this.#reads = this.#script.allOf("read").length;
    return this.#late(++this.#comings);
  }

  /** What was read from the history since the last ones came. */
  get read(): readonly object[] {
    return this.#script.allOf("read").slice(this.#reads);
  }

  async shown(top: number): Promise<readonly Shown[]> {
    const before = this.#script.allOf("list").length;
    this.#script.sendLine(`lists ${top}`);
    await this.#script.next("listed", ++this.#lists);
    return this.#script
      .allOf("list")
      .slice(before)
      .map(({ name, entries, offsets }) => ({ name: JSON.stringify(name), entries, offsets }));
  }
}

/** The pages in all codecs at both addresses, with deltas and without. */
function pages(name: string, at: string, more: object = {}): readonly Page[] {
  return sdkWires.flatMap((wire) =>
    [{}, { delta: "fossil" }].map(
      (options) => new Page(`${name} ${wire.name}`, wire, { ...options, ...more }, at),
    ),
  );
}

/** The official Python and Java clients, of which some are on a network that breaks. */
async function otherClients(test: TestContext, away: string): Promise<readonly Others[]> {
  const token = rt.token("reader");
  const script = python.run(test, "changes", {
    channel: room,
    token,
    clients: [...pythonClients(rt.origin, "live"), ...pythonClients(away, "away")],
    late: pythonClients(rt.origin, "late"),
  });
  await script.next("ready");
  const pythons = new Others(script, async (coming) => {
    script.sendLine("late");
    await script.next("late", coming);
  });
  if (java === undefined) return [pythons];
  const places = [
    ["live", rt.origin],
    ["away", away],
  ].flatMap(([name = "", at = ""]) =>
    Object.entries(addresses(at)).flatMap(([place, address]) => [`${name}-${place}`, address]),
  );
  const javaScript = java.run(test, "Changes", [room, token, ...places]);
  await javaScript.next("subscribed", 4);
  const javas = new Others(javaScript, async (coming) => {
    for (const [place, address] of Object.entries(addresses(rt.origin)))
      javaScript.sendLine(`late late-${place}-${coming} ${address}`);
  });
  return [pythons, javas];
}

it(
  "[ED2] [ED3] [ED11] [ED12] [ED14] everybody ends with the same list, live, away or late, with deltas and without, at both " +
    "addresses, in JavaScript, Python and Java, also if the objects are evicted and the server is deployed",
  async (test) => {
    const network = await BreakableNetwork.to(rt.origin);
    test.onTestFinished(() => network.close());
    const conversation = new Conversation();
    const { epoch = "" } = await rt.api("history", { channel: room });
    const members = [...pages("live", rt.origin), ...pages("away", network.address)];
    test.onTestFinished(() => members.forEach(({ sdk }) => sdk.close()));
    await Promise.all(members.map(({ subscription }) => subscription.subscribed.count(1)));
    const others = await otherClients(test, network.address);

    /** Lets things happen while some are away and some come late, and compares what all show. */
    const round = async (happen: () => Promise<void>): Promise<void> => {
      network.break();
      await happen();
      network.mend();
      const late = pages("late", rt.origin, { since: { offset: 0, epoch } });
      await Promise.all(others.map((one) => one.come()));
      await Promise.all(late.map(({ subscription }) => subscription.subscribed.count(1)));
      await conversation.say();
      const { top, list, gone } = conversation;
      const entries = [...list.values()];
      const all = [...members, ...late].map((page) => page.shown(top));
      const shown = [
        ...(await Promise.all(all)),
        ...(await Promise.all(others.map((one) => one.shown(top)))).flat(),
      ];
      for (const { name, ...one } of shown)
        expect({ name, entries: one.entries }).toEqual({ name, entries });
      const whole = shown.filter(
        ({ name, offsets }) => offsets !== undefined && !name.includes("late"),
      );
      for (const { name, offsets } of whole)
        expect({ name, offsets }).toEqual({ name, offsets: numbers(1, top) });
      for (const one of others) expect(one.read.length).toBeGreaterThan(0);
      const byPages = late.map(({ subscription }) => subscription.publications.all);
      const read = JSON.stringify([byPages, ...others.map((one) => one.read)]);
      for (const text of gone) expect(read).not.toContain(text);
      for (const { sdk } of late) sdk.close();
    };

    await round(() => change(conversation, () => Promise.resolve()));
    const before = await starts();
    await round(() => change(conversation, () => rt.evict(room)));
    const [channels = 0, gateways = 0] = await starts();
    expect(channels).toBeGreaterThanOrEqual((before[0] ?? 0) + 4);
    expect(gateways).toBeGreaterThanOrEqual((before[1] ?? 0) + 4);
    await round(() => change(conversation, () => rt.deploy()));
  },
);

function numbers(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
