import { describe, expect, it } from "vitest";
import { parseAttachment, writeSession } from "../../../../src/contract/attachment.ts";
import { usefulClaims } from "../../../../src/object/new-session.ts";
import { onlookerContext, refuseOnlooker } from "../../../../src/session/onlooker.ts";
import type { SessionContext } from "../../../../src/session/ports.ts";
import type { Command } from "../../../../src/protocol/command.ts";
import { jsonCodec } from "../../../../src/protocol/json/codec.ts";
import { Hub } from "../../../../src/hub/hub.ts";
import { configured } from "../../../support/configured.ts";
import { RecordingSubscriber } from "../../hub/recording-subscriber.ts";
import { ChannelFixture } from "../channel-fixture.ts";
import { json } from "../../api/channel-config.ts";

/**
 * Which ports an onlooker's session has. A new port fails to compile without a row, and is "left out" unless a trace of it was
 * looked for.
 */
const ports: Readonly<Record<keyof Required<SessionContext>, "given" | "left out">> = {
  config: "given",
  channels: "given",
  registrar: "given",
  namedChannels: "given",
  userRates: "left out",
  observe: "left out",
  approver: "left out",
  counts: "left out",
  deliveries: "left out",
  backlog: "given",
  subscriptionTypes: "given",
  clientMethods: "left out",
  dialect: "given",
  knownDeltas: "given",
  version: "given",
  serverSubscriptions: "given",
  node: "given",
  channel: "given",
  storesRows: "given",
  clients: "left out",
  later: "given",
  refused: "left out",
};

const commands: readonly (readonly [frame: string, "may" | "may not"])[] = [
  ['{"id":1,"connect":{}}', "may"],
  ['{"id":1,"connect":{"token":"a.b.c"}}', "may not"],
  ['{"id":1,"subscribe":{"channel":"room"}}', "may"],
  ['{"id":1,"subscribe":{"channel":"room","token":"a.b.c"}}', "may not"],
  ['{"id":1,"unsubscribe":{"channel":"room"}}', "may"],
  ['{"id":1,"presence":{"channel":"room"}}', "may"],
  ['{"id":1,"presence_stats":{"channel":"room"}}', "may"],
  ['{"id":1,"history":{"channel":"room"}}', "may"],
  ["{}", "may"],
  ['{"id":1,"ping":{}}', "may"],
  ['{"id":1,"publish":{"channel":"room","data":1}}', "may not"],
  ['{"id":1,"refresh":{"token":"a.b.c"}}', "may not"],
  ['{"id":1,"sub_refresh":{"channel":"room","token":"a.b.c"}}', "may not"],
  ['{"id":1,"rpc":{"method":"dormouse.read","data":{}}}', "may not"],
  ['{"send":{"data":1}}', "may not"],
];

const looksOn = {
  phase: "new",
  onlooker: true,
  claims: { user: "42", expireAtSeconds: 0 },
} as const;

describe("an onlooker's session", () => {
  it("[N26] has the ports of the table, and none that a feature adds later", () => {
    const { hooks, ...config } = configured({});
    const target = { connect: "asked", refresh: "asked", message: "asked", later: "asked" };
    const all = {
      ...Object.fromEntries(Object.keys(ports).map((name) => [name, name])),
      config: { ...config, hooks: { ...hooks, ...target } },
      addedLater: "a port of a feature that isn't written yet",
    };
    const given: SessionContext = JSON.parse(JSON.stringify(all));
    const context = onlookerContext(given);
    const expected = Object.entries(ports).flatMap(([name, is]) => (is === "given" ? [name] : []));
    expect(Object.keys(context).sort()).toEqual(expected.sort());
    expect(Object.keys(context.config.hooks).sort()).toEqual(["connectAt", "keepsMeta", "targets"]);
  });

  it.each(commands)("[N19] may send what only looks: %s", (frame, may) => {
    const [command] = jsonCodec.decodeFrame(frame).commands;
    const asked: Command = command ?? { id: 0, method: "ping" };
    const refused = refuseOnlooker({ identity: onlooker() }, asked);
    expect(refused === undefined).toBe(may === "may");
    const { onlooker: _, ...usual } = onlooker();
    expect(refuseOnlooker({ identity: usual }, asked)).toBeUndefined();
  });

  it("[N32] [N19] brings something in place of a token where its protocol has no frame without, and sends nothing else", () => {
    const sent = commands.flatMap(([frame]) => jsonCodec.decodeFrame(frame).commands);
    const identity = { ...onlooker(), dialect: "shop" };
    const may = sent.filter((command) => refuseOnlooker({ identity }, command) === undefined);
    expect([...new Set(may.map(({ method }) => method))].sort()).toEqual([
      "connect",
      "history",
      "ping",
      "pong",
      "presence",
      "presence_stats",
      "subscribe",
      "unsubscribe",
    ]);
  });

  it.each(["awake", "evicted"])("[N26] is neither shown nor announced, %s", (state) => {
    const options = {
      allow_subscribe_for_client: true,
      allow_presence_for_client: true,
      presence: true,
      join_leave: true,
      force_push_join_leave: true,
    };
    const fixture = new ChannelFixture({ options });
    const witness = fixture.subscribed("7");
    const looking = fixture.open(looksOn);
    fixture.send(looking, '{"id":1,"connect":{}}\n{"id":2,"subscribe":{"channel":"room"}}');
    if (state === "evicted") fixture.hibernate();
    expect(looking.saved.subscriptions).toHaveLength(1);
    expect(fixture.channel.hub.shownSize).toBe(1);
    expect(witness.takeSent()).toEqual([]);
    looking.takeSent();
    const [present = ""] = fixture.ask(looking, '{"id":3,"presence":{"channel":"room"}}');
    expect(present).toContain('"user":"7"');
    expect(present).not.toContain('"user":"42"');
    const late = fixture.connected("9");
    fixture.send(late, '{"id":2,"subscribe":{"channel":"room"}}');
    expect(looking.takeSent().join("")).toContain('"join":{"info":{"user":"9"');
    witness.takeSent();
    fixture.end(looking);
    expect(witness.takeSent()).toEqual([]);
  });

  it("[N26] [C10] closes no other connection of the user, and isn't closed by one", () => {
    const fixture = new ChannelFixture({ options: { allow_subscribe_for_client: true } });
    const looking = fixture.open(looksOn);
    fixture.send(looking, '{"id":1,"connect":{}}\n{"id":2,"subscribe":{"channel":"room"}}');
    const own = fixture.subscribed("42");
    fixture.channel.makeExclusive("42", own.session.client);
    expect(looking.session.closed).toBe(false);
    fixture.channel.makeExclusive("42", "another");
    expect(own.session.closed).toBe(true);
    expect(looking.session.closed).toBe(false);
  });

  it("[N26] counts in no frame and no delivery of its channel", () => {
    const deliveries = { value: 0 };
    const noted: { sent: number; filtered: number }[] = [];
    const frames = {
      begun: () => 1,
      sent: (_: number, { sent, filtered }: { sent: number; filtered: number }) =>
        void noted.push({ sent, filtered }),
    };
    const hub = new Hub("room", 1_000, { deliveries, frames });
    const user = new RecordingSubscriber("7");
    const looking = Object.assign(new RecordingSubscriber("42"), { onlooks: true });
    hub.add(looking);
    hub.add(user);
    hub.add(looking);
    expect([hub.size, hub.shownSize]).toEqual([2, 1]);
    hub.publish({ offset: 1, data: json("1") });
    hub.begin();
    expect([looking.frames.length, user.frames.length]).toEqual([1, 1]);
    expect(deliveries.value).toBe(1);
    expect(noted.at(-1)).toEqual({ sent: 1, filtered: 0 });
    hub.remove(looking);
    hub.remove(looking);
    expect([hub.size, hub.shownSize]).toEqual([1, 1]);
  });

  it("[N26] [V1] is stored and handed over so that the release before connects nobody as the user", () => {
    const { attachment } = writeSession({ ...onlooker(), subscriptions: [] });
    expect(attachment.v).toBe(2);
    expect(parseAttachment(attachment)?.onlooker).toBe(true);
    const { onlooker: _, ...unmarked } = attachment;
    expect(parseAttachment(unmarked)).toBeUndefined();
    const claims = { user: "42", expireAtSeconds: 0 };
    const handover = { v: 1, keepalive: "server", onlooker: claims } as const;
    expect(usefulClaims(handover, true, undefined)).toEqual(claims);
    // That release looks at `claims` alone.
    expect(handover).not.toHaveProperty("claims");
  });
});

function onlooker() {
  return { ...looksOn, client: "c1", openedAtMs: 0, keepalive: "server" } as const;
}
