import { describe, expect, it } from "vitest";
import { trialChannel } from "../../../../cli/serve/trial-channel.ts";
import { configured } from "../../../support/configured.ts";

const open = { allow_subscribe_for_client: true };
const board = { name: "board", subscription_type: "map", map: { mode: "persistent" } };

describe("the channel that npm start shows", () => {
  it.each([
    [{ without_namespace: open }, "news", "publish"],
    [{ namespaces: [{ name: "closed" }, { name: "chat", ...open }] }, "chat:news", "publish"],
    [{ namespaces: [{ ...board, ...open }] }, "board:news", "map_publish"],
    [{ namespace_boundary: "/", namespaces: [{ name: "at", ...open }] }, "at/news", "publish"],
    [
      {
        namespaces: [
          { name: "digits", channel_regex: "^[0-9]+$", ...open },
          { name: "chat", ...open },
        ],
      },
      "chat:news",
      "publish",
    ],
  ])("with %j is %s, by %s", (channel, name, method) => {
    const found = trialChannel(configured({ channel }).channel);
    expect(found).toMatchObject({ channel: name, method, isOpen: true });
    expect(JSON.parse(found?.request ?? "")).toMatchObject({ channel: name });
  });

  it.each([[{}], [{ namespaces: [{ name: "closed" }, board] }]])(
    "with %j is one to which no client may subscribe by itself",
    (channel) => {
      expect(trialChannel(configured({ channel }).channel)).toMatchObject({
        channel: "news",
        isOpen: false,
      });
    },
  );

  it("is none where a backend can't publish JSON", () => {
    const channel = { without_namespace: { publication_data_format: "binary" } };
    expect(trialChannel(configured({ channel }).channel)).toBeUndefined();
  });
});
