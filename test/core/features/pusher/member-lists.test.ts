import { describe, expect, it } from "vitest";
import { MemberLists } from "../../../../src/features/pusher/member-lists.ts";
import { infoOf } from "../../../../src/features/pusher/presence-member.ts";
import type { ClientInfo } from "../../../../src/protocol/publication.ts";

/** A connection of a user. */
function info(client: string, user: string): ClientInfo {
  return { client, user: "", chanInfo: infoOf(user, undefined) };
}

/** A channel with these connections, whose census is answered when the test says so. */
function channelWith(...present: readonly ClientInfo[]) {
  const sent: string[] = [];
  const censuses: ((clients: readonly ClientInfo[] | undefined) => void)[] = [];
  const retries: (() => void)[] = [];
  const announced: string[] = [];
  const lists = new MemberLists({
    census: (_, done) => censuses.push(done),
    announce: (_, { client }) => announced.push(client),
    later: (_, work) => retries.push(work),
    isFollowed: () => true,
  });
  const { take, missed } = lists.follow("room", (type, { client }) =>
    sent.push(`${type} ${client}`),
  );
  const give = (clients: readonly ClientInfo[] | undefined): void => {
    for (const done of censuses.splice(0)) done(clients);
  };
  const retry = (): void => {
    for (const work of retries.splice(0)) work();
  };
  return { lists, sent, announced, take, missed, answer: () => give(present), give, retry };
}

/** A subscriber of the room, whose waits end when the test says so. */
function subscriberOf(lists: MemberLists, own: ClientInfo) {
  const subscription = { channel: "room", info: own };
  let current: object | undefined = subscription;
  const ends: (() => void)[] = [];
  const listed: string[] = [];
  lists.listFor(
    {
      identity: {},
      subscriptions: { get: () => current },
      context: { later: (_: number, work: () => void) => ends.push(work) },
    },
    subscription,
    (members) => listed.push([...members.keys()].join()),
  );
  return {
    listed,
    wait: (): void => ends.shift()?.(),
    isWaiting: () => ends.length > 0,
    end: (): void => {
      current = undefined;
    },
  };
}

describe("[PU6] the members of a presence channel", () => {
  it("are added with a user's first connection, and removed with the last", () => {
    const { sent, take, answer } = channelWith(info("a", "1"));
    take("join", info("b", "2"));
    answer();
    take("join", info("c", "2"));
    take("leave", info("b", "2"));
    take("join", info("d", "1"));
    take("leave", info("c", "2"));
    take("leave", info("a", "1"));
    take("leave", info("d", "1"));
    expect(sent).toEqual(["join b", "leave c", "leave d"]);
  });

  it.each([
    ["a first connection that the census has", "join b", [info("b", "2")]],
    ["a first connection that the census has not yet", "join b", []],
    ["a last connection that the census has not any more", "leave b", []],
    ["a last connection that the census still has", "leave b", [info("b", "2")]],
  ] as const)("change once after a hibernation, by %s", (_, change, present) => {
    const { sent, take, answer } = channelWith(...present);
    take(change === "join b" ? "join" : "leave", info("b", "2"));
    answer();
    expect(sent).toEqual([change]);
  });

  it("change once, where two connections of a user come before the census", () => {
    const both = [info("b", "2"), info("c", "2")];
    const { sent, take, answer } = channelWith(...both);
    for (const one of both) take("join", one);
    answer();
    expect(sent).toEqual(["join b"]);
  });

  it("are listed for a subscriber that comes back, though the wait of its first subscription ends meanwhile", () => {
    const { lists, take, answer } = channelWith(info("a", "1"));
    const first = subscriberOf(lists, info("b", "2"));
    answer();
    take("join", info("b", "2"));
    first.end();
    take("leave", info("b", "2"));
    const second = subscriberOf(lists, info("b", "2"));
    first.wait();
    expect(second.listed).toEqual([]);
    take("join", info("b", "2"));
    expect([first.listed, second.listed]).toEqual([["1,2"], ["1,2"]]);
  });

  it("are listed once a subscriber's own join has come, which is announced again after a while", () => {
    const { lists, take, answer, announced, sent } = channelWith(info("a", "1"));
    const { listed, wait } = subscriberOf(lists, info("b", "2"));
    answer();
    wait();
    expect([listed, announced]).toEqual([[], []]);
    wait();
    expect([listed, announced]).toEqual([[], ["b"]]);
    take("join", info("b", "2"));
    expect([listed, sent]).toEqual([["1,2"], ["join b"]]);
  });

  it("are listed for a subscriber that the census has, and that isn't announced again", () => {
    const { lists, answer } = channelWith(info("a", "1"), info("b", "2"));
    const { listed, wait, isWaiting } = subscriberOf(lists, info("b", "2"));
    answer();
    wait();
    expect([listed, isWaiting()]).toEqual([["1,2"], false]);
  });

  it("aren't listed for a subscription that has ended", () => {
    const { lists, take, answer } = channelWith();
    const { listed, wait, end, isWaiting } = subscriberOf(lists, info("b", "2"));
    answer();
    end();
    wait();
    take("join", info("b", "2"));
    expect([listed, isWaiting()]).toEqual([[], false]);
  });

  it("are asked for again where a census fails, and nobody is told of a part of them", () => {
    const { lists, take, give, retry, sent } = channelWith();
    const { listed } = subscriberOf(lists, info("b", "2"));
    give(undefined);
    take("join", info("b", "2"));
    give(undefined);
    expect(listed).toEqual([]);
    retry();
    give([info("a", "1"), info("b", "2")]);
    expect([listed, sent]).toEqual([["1,2"], ["join b"]]);
  });

  it("[PU14] change once, where a join or a leave is repeated", () => {
    const { take, answer, sent } = channelWith(info("a", "1"));
    take("join", info("b", "2"));
    answer();
    take("join", info("b", "2"));
    take("leave", info("a", "1"));
    take("leave", info("a", "1"));
    expect(sent).toEqual(["join b", "leave a"]);
  });

  it("[PU14] are told by how another census differs, where joins and leaves may have been missed", () => {
    const { take, missed, answer, give, sent } = channelWith(info("a", "1"), info("b", "2"));
    take("join", info("c", "3"));
    answer();
    missed();
    take("join", info("e", "5"));
    give([info("c", "3"), info("d", "4"), info("e", "5")]);
    expect(sent).toEqual(["join c", "leave a", "leave b", "join d", "join e"]);
  });

  it("are added once, where a user's second connection comes after the census", () => {
    const { sent, take, answer } = channelWith();
    take("join", info("b", "2"));
    answer();
    take("join", info("c", "2"));
    take("leave", info("b", "2"));
    take("leave", info("c", "2"));
    expect(sent).toEqual(["join b", "leave c"]);
  });
});
