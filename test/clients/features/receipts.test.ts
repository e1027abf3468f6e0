import type { Centrifuge, MapSubscription } from "centrifuge";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startDormouse, type TestDormouse } from "../../../package/test/index.ts";
import { codeBlocksOf, codeFolder, configOf, writeCode } from "../../support/documented-code.ts";
import { Inbox } from "../../support/inbox.ts";

/** Who has read up to an offset, and how many. */
type SeenBy = (offset: number) => { readonly count: number; readonly users: readonly string[] };

/** What the code of docs/cursors.md exports. */
interface Documented {
  readonly showReceipts: (
    client: Centrifuge,
    room: string,
    show: (seenBy: SeenBy) => void,
  ) => MapSubscription;
}

let rt: TestDormouse;
let documented: Documented;
const folder = codeFolder();

/** The code of the section about receipts in that language. */
const codeIn = (language: string): string =>
  codeBlocksOf("cursors.md")
    .filter((block) => block.heading === "Seen by, live" && block.language === language)
    .map(({ code }) => code)
    .join("\n");

beforeAll(async () => {
  rt = await startDormouse({ config: configOf(codeIn("toml")) });
  documented = await import(writeCode(folder.path, "receipts.mjs", codeIn("js")));
});
afterAll(async () => {
  await rt.stop();
  folder.remove();
});

/** A client that is subscribed to a room, and what it shows of a message. */
async function reader(user: string, room: string, offset: number) {
  const { sdk } = await rt.client({ user });
  const subscription = sdk.newSubscription(`room:${room}`);
  subscription.subscribe();
  const seen = new Inbox<string>();
  const map = documented.showReceipts(sdk, room, (seenBy) => {
    const { count, users } = seenBy(offset);
    seen.push(`${count}: ${users.toSorted().join(", ")}`);
  });
  const read = (to: number) => sdk.rpc("dormouse.read", { channel: `room:${room}`, offset: to });
  return { sdk, subscription, map, seen, read };
}

describe("[CU36] [CU37] the code of docs/cursors.md", () => {
  it("shows who has read a message, as soon as they mark it, also after the connection was lost", async () => {
    const channel = "room:7";
    for (const data of [1, 2, 3]) await rt.api("publish", { channel, data });
    const ann = await reader("ann", "7", 2);
    expect(await ann.seen.next()).toBe("0: ");
    const bob = await reader("bob", "7", 2);
    await bob.subscription.ready();
    await bob.read(1);
    expect(await ann.seen.next()).toBe("0: ");
    await bob.read(2);
    expect(await ann.seen.next()).toBe("1: bob");
    ann.sdk.disconnect();
    await bob.read(3);
    ann.sdk.connect();
    expect(await ann.seen.next()).toBe("1: bob");
    await ann.read(3);
    await ann.seen.first((text) => text === "2: ann, bob");
    const { data } = await bob.sdk.rpc("dormouse.marks", { channel, offset: 2 });
    expect(data).toMatchObject({ count: 2, offset: 3 });
  });

  it("[CU41] shows nothing any more to those who leave the room, and again when they come back", async () => {
    const channel = "room:8";
    await rt.api("publish", { channel, data: 1 });
    const ann = await reader("ann", "8", 1);
    await ann.seen.next();
    const left = new Promise<number>((resolve) =>
      ann.map.once("unsubscribed", ({ code }) => resolve(code)),
    );
    ann.subscription.unsubscribe();
    expect(await left).toBe(2000);
    await rt.api("mark_read", { channel, user: "bob", offset: 1 });
    const refused = new Promise<number>((resolve) =>
      ann.map.once("error", ({ error }) => resolve(error.code)),
    );
    ann.map.subscribe();
    expect(await refused).toBe(103);
    ann.subscription.subscribe();
    await ann.seen.first((text) => text === "1: bob");
  });
});
