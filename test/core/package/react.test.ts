import { createElement } from "react";
import { renderToString } from "react-dom/server";
import { expect, expectTypeOf, it } from "vitest";
import {
  type Message,
  RealtimeProvider,
  useChannel,
  useConnection,
  useMap,
  usePresence,
  useUnread,
} from "../../../package/react/index.ts";

function Shown(): string {
  const all = [useChannel("a"), useMap("b"), usePresence("c"), useUnread("d"), useConnection()];
  return JSON.stringify(all);
}

it("dormouse-realtime/react has the types of what a component names", () => {
  interface Said {
    readonly text: string;
  }
  expectTypeOf<Message<Said>["data"]>().toEqualTypeOf<Said>();
  expectTypeOf<ReturnType<typeof useChannel<Said>>["messages"]>().toEqualTypeOf<
    readonly Message<Said>[]
  >();
  expectTypeOf<ReturnType<typeof useMap<Said>>["entries"]>().toEqualTypeOf<
    ReadonlyMap<string, Said>
  >();
  // What isn't named is unknown, and never any.
  expectTypeOf<ReturnType<typeof useChannel>["messages"][number]["data"]>().toBeUnknown();
});

it("dormouse-realtime/react hears nothing on a server that renders, and shows what isn't known yet", () => {
  const provider = createElement(RealtimeProvider, { url: "/realtime" }, createElement(Shown));
  const html = renderToString(provider).replaceAll("&quot;", '"');
  expect(JSON.parse(html)).toEqual([
    { state: "subscribing", messages: [], hasGap: false },
    { state: "subscribing", entries: {} },
    { state: "subscribing", entries: {} },
    { isCapped: false, read: 0 },
    { state: "connecting" },
  ]);
  expect(() => renderToString(createElement(Shown))).toThrow("no <RealtimeProvider>");
});
