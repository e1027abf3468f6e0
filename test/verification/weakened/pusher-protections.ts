import type { Protection } from "./protection.ts";

/** What keeps the promises to clients of the Pusher protocol (rules PU3, PU5 and PU14). */
export const pusherProtections: readonly Protection[] = [
  {
    name: "missed-joins",
    meaning: "a gateway that may have missed who came and went asks for the members again",
    rule: "PU14",
    noticedBy: ["simulate"],
    file: "src/hub/hub.ts",
    code: "this.#joins?.missed();",
    weakened: "void this.#joins;",
  },
  {
    name: "repeated-joins",
    meaning: "subscribers aren't told again of who is there already, or has gone",
    rule: "PU14",
    noticedBy: ["simulate"],
    file: "src/features/pusher/member-lists.ts",
    code: `const isNews = this.#clients.has(info.client) === (type === "leave");`,
    weakened: `const isNews = info.client !== "";`,
  },
  {
    name: "gone-with-a-gateway",
    meaning: "members that a gateway's crash has ended leave their channels",
    rule: "PU14",
    noticedBy: ["simulate"],
    file: "src/features/pusher/channel/channel-driver.ts",
    code: "if (complete) this.#end(announced,",
    weakened: "if (complete && nowMs < 0) this.#end(announced,",
  },
  {
    name: "excluded-sender",
    meaning: "a client doesn't get its own event",
    rule: "PU5",
    noticedBy: ["simulate"],
    file: "src/hub/run-frames.ts",
    code: "if (this.#excepted.has(uuid)) return",
    weakened: `if (uuid === "") return`,
  },
];
