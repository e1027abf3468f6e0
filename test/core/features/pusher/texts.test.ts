import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { channelOf, kindOf, nameOf } from "../../../../src/features/pusher/channel-names.ts";
import { namedUser } from "../../../../src/features/pusher/presence-member.ts";
import { payloadOfText, textOfPayload } from "../../../../src/features/pusher/event-data.ts";
import {
  channelText,
  parseAuth,
  requestText,
  signinText,
} from "../../../../src/features/pusher/signed-text.ts";
import { socketIdOf, uuidOfSocket } from "../../../../src/features/pusher/socket-id.ts";
import { closeCodeOf } from "../../../../src/features/pusher/dialect.ts";

describe("names of channels", () => {
  it.each([
    ["news", "public", false, false],
    ["private-room", "private", false, false],
    ["presence-room", "presence", false, false],
    ["private-encrypted-room", "private", true, false],
    ["cache-room", "public", false, true],
    ["private-cache-room", "private", false, true],
    ["private-encrypted-cache-room", "private", true, true],
    ["presence-cache-room", "presence", false, true],
    ["#server-to-user-7", "user", false, false],
    ["my-private-room", "public", false, false],
  ])("[PU4] %s is %s", (name, access, encrypted, cache) => {
    expect(kindOf(name)).toEqual({ access, encrypted, cache });
  });

  it.each([
    "",
    "a b",
    "a:b",
    "#other",
    "#server-to-user-",
    "#server-to-user-7,8",
    "ü",
    "x".repeat(165),
  ])("[PU4] %j is no channel's", (name) => {
    expect(kindOf(name)).toBeUndefined();
  });

  it.each(["news", "private-room", "#server-to-user-7"])("[PU2] %s has a channel", (name) => {
    const channels = { namespaceBoundary: ":" };
    const channel = channelOf(name, { namespace: "shop" }, channels);
    expect(channel).toBe(name.startsWith("#") ? "shop:#7" : `shop:${name}`);
    expect(nameOf(channel, "shop:")).toBe(name);
  });
});

describe("the data of an event", () => {
  it.each([
    [`{"id":1}`, `{"id":1}`],
    [`{ "id" : 9007199254740993 }`, `{ "id" : 9007199254740993 }`],
    ["17", "17"],
    ["no JSON", `"no JSON"`],
    [`"a string"`, `"\\"a string\\""`],
    [`{"id":\n1}`, `"{\\"id\\":\\n1}"`],
    [" 1", `" 1"`],
    ["", `""`],
  ])("[PU2] %j is the payload %s, and the same text again", (text, payload) => {
    expect(payloadOfText(text)).toBe(payload);
    expect(textOfPayload(payloadOfText(text))).toBe(text);
  });
});

describe("a socket_id", () => {
  it.each([
    "00000000-0000-4000-8000-000000000000",
    "ffffffff-ffff-4fff-bfff-ffffffffffff",
    "0f8fad5b-d9cb-469f-a165-70867728950e",
  ])("[PU1] [PU3] is two numbers, from which the UUID %s follows", (uuid) => {
    const socketId = socketIdOf(`${uuid}@gateway:pusher~na/0`);
    expect(socketId).toMatch(/^\d+\.\d+$/);
    expect(uuidOfSocket(socketId)).toBe(uuid);
  });

  it.each(["", "1", "1.2.3", "a.b", "99999999999999999999.1", "-1.1"])("[PU3] is no %j", (text) => {
    expect(uuidOfSocket(text)).toBeUndefined();
  });
});

describe("the user of a sign-in", () => {
  it.each(["", "no JSON", "[]", `{"user_id":"7"}`, `{"id":""}`, `{"id":"7,8"}`])(
    "[PU7] is nobody in %j",
    (text) => {
      expect(namedUser(text, "id")).toBeUndefined();
    },
  );

  it("[PU7] has an ID, and what others get of the user", () => {
    const named = namedUser(`{"id":7,"user_info":{"a": 1}}`, "id");
    expect(named).toEqual({ id: "7", info: `{"a": 1}` });
  });
});

/** The examples of pusher.com's reference. */
describe("signatures", () => {
  const secret = "7ad3773142a6692b25b8";

  it("[PU4] of a private channel are those of the reference", () => {
    expect(sign(secret, channelText("1234.1234", "private-foobar", undefined))).toBe(
      "58df8b0c36d6982b82c3ecf6b4662e34fe8c25bba48f5369f135bf843651c3a4",
    );
  });

  it("[PU4] of a presence channel are those of the reference", () => {
    const data = `{"user_id":10,"user_info":{"name":"Mr. Channels"}}`;
    expect(sign(secret, channelText("1234.1234", "presence-foobar", data))).toBe(
      "31935e7d86dba64c2a90aed31fdc61869f9b22ba9d8863bba239c03ca481bc80",
    );
  });

  it("[PU10] of a request are those of the reference", () => {
    const parameters = new Map([
      ["auth_key", "278d425bdf160c739803"],
      ["auth_timestamp", "1353088179"],
      ["auth_version", "1.0"],
      ["body_md5", "ec365a775a4cd0599faeb73354201b6f"],
      ["auth_signature", "not signed"],
    ]);
    expect(sign(secret, requestText("POST", "/apps/3/events", parameters))).toBe(
      "da454824c97ba181a32ccc17a72625ba02771f50b50e1e7430e47a1f3f457e6c",
    );
  });

  it("[PU7] of a sign-in have the user's data", () => {
    expect(signinText("1.2", `{"id":"7"}`)).toBe(`1.2::user::{"id":"7"}`);
  });

  it("[PU4] are read with their key, and nothing else is", () => {
    const signature = "ab".repeat(32);
    expect(parseAuth(`key:${signature}`)).toEqual({ key: "key", signature });
    for (const auth of [undefined, 7, "", signature, `key:${signature}0`, "key:xyz"])
      expect(parseAuth(auth)).toBeUndefined();
  });
});

describe("the code of a close", () => {
  it.each([
    [3503, 4009],
    [3500, 4009],
    [3504, 4004],
    [3008, 4200],
    [3010, 4200],
    [3012, 4201],
    [3013, 4100],
    [3502, 4202],
    [4009, 4009],
  ])("[PU9] %d is %d for a client", (code, own) => {
    expect(closeCodeOf({ code, reason: "why" })).toEqual({ code: own, reason: "why" });
  });
});

function sign(secret: string, text: string): string {
  return createHmac("sha256", secret).update(text).digest("hex");
}
