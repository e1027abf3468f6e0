import { describe, expect, test } from "vitest";
import { channel } from "../../../../src/features/procedures/definition.ts";
import { mayCallProcedures } from "../../../../src/features/procedures/may.ts";
import { sendAll } from "../../../support/send-all.ts";
import { configured } from "../../../support/configured.ts";
import { ChannelFixture, type ChannelFixtureSetup } from "../../session/channel-fixture.ts";

const code = channel({
  procedures: {
    say(ctx, text: string) {
      if (text === "") ctx.reject(1_001, "say something");
      ctx.set("last", text);
      ctx.publish({ text, by: ctx.user, n: (ctx.get<number>("n") ?? 0) + 1 });
      return { said: text };
    },
    broken() {
      throw new Error("broken");
    },
  },
  clients: ["say", "broken"],
});

const open = { allow_subscribe_for_client: true, allow_call_for_client: true };

/** A channel whose clients call its code. */
const codedFixture = (options: object = open) => new ChannelFixture({ code, options });

function call(id: number, data: object, method = "dormouse.call"): string {
  return JSON.stringify({ id, rpc: { method, data: { channel: "room", ...data } } });
}

const say = (id: number, text: string) => call(id, { procedure: "say", args: text });
const push = (text: string) =>
  `{"push":{"channel":"room","pub":{"data":{"text":"${text}","by":"42","n":1}}}}`;
const error = (id: number, code_: number, message: string, temporary = "") =>
  `{"id":${id},"error":{"code":${code_},"message":"${message}"${temporary}}}`;

describe("a client's call", () => {
  test("[PC3] [PC6] is a method, and what it has published comes before the reply", () => {
    const fixture = codedFixture();
    const caller = fixture.subscribed();
    const others = Array.from({ length: 200 }, () => fixture.subscribed("7"));
    fixture.publish("0");
    fixture.dropSent();
    // A frame is on its way to others.
    expect(fixture.ask(caller, say(3, "hello"))).toStrictEqual([
      push("hello"),
      '{"id":3,"rpc":{"data":{"said":"hello"}}}',
    ]);
    sendAll(fixture.channel.hub);
    expect(others.at(-1)?.takeSent().at(-1)).toBe(push("hello"));
  });

  test("[PC1] [PC6] has written everything before its reply, and is written whole in a map of nothing else", () => {
    const fixture = codedFixture({ ...open, history_size: 10, history_ttl: "1m" });
    const caller = fixture.subscribed();
    fixture.ask(caller, say(3, "first"));
    const before = fixture.sql.changes;
    const written: number[] = [];
    caller.sending = () => written.push(fixture.sql.changes - before);
    expect(fixture.ask(caller, say(4, "second")).length).toBe(2);
    // The key and the publication, and nothing after the first frame.
    expect(written).toEqual([2, 2]);
    expect(fixture.ask(caller, say(5, "")).length).toBe(1);
    expect(fixture.sql.changes - before).toBe(2);
    fixture.hibernate();
    expect(fixture.ask(caller, say(6, "third")).at(-1)).toContain('"said":"third"');
  });

  test("[PC2] that fails is answered with the code's error, or with the server's", () => {
    const fixture = codedFixture();
    const caller = fixture.connected();
    expect(fixture.ask(caller, say(2, ""))).toStrictEqual([error(2, 1_001, "say something")]);
    expect(fixture.ask(caller, call(3, { procedure: "broken" }))).toStrictEqual([
      error(3, 100, "internal server error", ',"temporary":true'),
    ]);
    expect(fixture.ask(caller, call(4, { procedure: "none" }))).toStrictEqual([
      error(4, 104, "method not found"),
    ]);
  });

  test("[PC9] with data that calls nothing is answered 107", () => {
    const fixture = codedFixture();
    const caller = fixture.connected();
    const bad = [
      { procedure: 1 },
      {},
      { procedure: "say", idempotency_key: 1 },
      { procedure: "say", args: "x".repeat(100_000) },
      { procedure: "say", idempotency_key: "x".repeat(1_000) },
    ];
    for (const data of bad)
      expect(fixture.ask(caller, call(2, data))).toStrictEqual([error(2, 107, "bad request")]);
    expect(fixture.ask(caller, `{"id":2,"rpc":{"method":"dormouse.call"}}`)).toStrictEqual([
      error(2, 107, "bad request"),
    ]);
  });

  test("[PC3] needs an option of the namespace or a capability, and code", () => {
    const calls = (options: object) => {
      const fixture = codedFixture(options);
      return fixture.ask(fixture.connected(), say(2, "x"))[0]?.includes("said");
    };
    expect(calls({})).toBe(false);
    expect(calls({ allow_call_for_subscriber: true })).toBe(false);
    expect(calls({ allow_call_for_client: true })).toBe(true);
    // Without any code the method is a backend's.
    const plain = new ChannelFixture({ options: { allow_call_for_client: true } });
    expect(plain.ask(plain.connected(), say(2, "x"))).toStrictEqual([
      error(2, 108, "not available"),
    ]);
  });

  test("[PC3] may be made as the options, the subscription and the capabilities say", () => {
    const { withoutNamespace: options } = configured({
      channel: { without_namespace: { allow_call_for_subscriber: true } },
    }).channel;
    const asked = { private: false, options: { ...options, code: {} } };
    const may = (user: string, subscribed: boolean, capabilities?: readonly "call"[]) =>
      mayCallProcedures(asked, { user, subscribed, ...(capabilities && { capabilities }) });
    expect(may("42", true).allowed).toBe(true);
    expect(may("42", false)).toMatchObject({ allowed: false, rule: "PC3" });
    expect(may("", true).allowed).toBe(false);
    expect(may("42", false, []).allowed).toBe(false);
    expect(may("42", false, ["call"]).allowed).toBe(true);
    expect(
      mayCallProcedures({ ...asked, options }, { user: "42", subscribed: true }),
    ).toMatchObject({ because: "the channels have no code" });
  });
});

/** What a channel with these options writes, makes and keeps of a client. */
function costOf(setup: ChannelFixtureSetup) {
  const options = { allow_subscribe_for_client: true, history_size: 10, history_ttl: "1m" };
  const fixture = new ChannelFixture({ ...setup, options });
  const subscriber = fixture.subscribed();
  for (let id = 0; id < 20; id++) fixture.publish(String(id));
  fixture.hibernate();
  fixture.publish("0");
  const tables = fixture.sql.rows("SELECT name FROM sqlite_master WHERE type = 'table'");
  return {
    changes: fixture.sql.changes,
    tables: tables.map(({ name }) => name),
    attachment: JSON.stringify(subscriber.attachment).length,
  };
}

describe("a channel without code", () => {
  test("[PC13] writes and reads what it did before", () => {
    const without = costOf({});
    expect(costOf({ code })).toEqual(without);
    expect(without.tables).toEqual(["stream", "publication"]);
  });
});
