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
  const censuses: (() => void)[] = [];
  const lists = new MemberLists({
    census: (_, done) => censuses.push(() => done(present)),
    isFollowed: () => true,
  });
  const take = lists.follow("room", (type, { client }) => sent.push(`${type} ${client}`));
  return { lists, sent, take, answer: () => censuses.splice(0).forEach((one) => one()) };
}

/** A session whose later work the test does. */
function sessionWith(later: (waitMs: number, work: () => void) => void) {
  return { identity: {}, context: { later } };
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
    const ends: (() => void)[] = [];
    const session = sessionWith((_, work) => ends.push(work));
    const listed: string[] = [];
    const subscribe = (which: string): void => {
      const list = (members: ReadonlyMap<string, string>) =>
        listed.push(`${which}: ${[...members.keys()].join()}`);
      lists.listFor(session, { channel: "room", info: info("b", "2") }, list);
    };
    subscribe("first");
    answer();
    take("join", info("b", "2"));
    take("leave", info("b", "2"));
    subscribe("second");
    ends[0]?.();
    take("join", info("b", "2"));
    ends[1]?.();
    expect(listed).toEqual(["first: 1,2", "second: 1,2"]);
  });

  it("are listed without the join of a subscriber that hasn't come in time", () => {
    const { lists, answer } = channelWith(info("a", "1"));
    const ends: (() => void)[] = [];
    const listed: (readonly string[])[] = [];
    lists.listFor(
      sessionWith((_, work) => ends.push(work)),
      { channel: "room", info: info("b", "2") },
      (members) => listed.push([...members.keys()]),
    );
    answer();
    expect(listed).toEqual([]);
    ends[0]?.();
    expect(listed).toEqual([["1", "2"]]);
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
