import { describe, expect, it } from "vitest";
import { configOf, problemsOf } from "../parsed.ts";

const path = "client.subscribe_to_user_personal_channel";
const channel = { namespaces: [{ name: "personal" }] };

/** A configuration with a namespace "personal" and these settings of the personal channel. */
const personal = (settings: object) => ({
  client: { subscribe_to_user_personal_channel: settings },
  channel,
});

describe("[A8] the personal channel", () => {
  it.each([
    [{}, { enabled: false, namespace: "", singleConnection: false }],
    [{ enabled: true }, { enabled: true, namespace: "", singleConnection: false }],
    [
      { enabled: true, personal_channel_namespace: "", single_connection: true },
      { enabled: true, namespace: "", singleConnection: true },
    ],
    [
      { enabled: true, personal_channel_namespace: "personal", single_connection: false },
      { enabled: true, namespace: "personal", singleConnection: false },
    ],
    [
      { personal_channel_namespace: "personal" },
      { enabled: false, namespace: "personal", singleConnection: false },
    ],
  ])("takes %j", (settings, expected) => {
    expect(configOf(personal(settings)).client.personalChannel).toStrictEqual(expected);
  });

  const namespaceKey = `${path}.personal_channel_namespace`;
  it.each<[object, string]>([
    [
      { enabled: true, personal_channel_namespace: "persnal" },
      `${namespaceKey}: "persnal" is not the name of a namespace`,
    ],
    [
      { enabled: false, personal_channel_namespace: "__proto__" },
      `${namespaceKey}: "__proto__" is not the name of a namespace`,
    ],
    [{ single_connection: true }, `${path}.single_connection requires enabled`],
    [{ enabled: true, namespace: "personal" }, `${path}.namespace is unknown`],
  ])("refuses %j", (settings, problem) => {
    expect(problemsOf(personal(settings))).toEqual([problem]);
  });

  it("doesn't report consequences of a bad value", () => {
    const settings = { enabled: "yes", single_connection: true };
    expect(problemsOf(personal(settings))).toEqual([
      `${path}.enabled must be true or false, found a string`,
    ]);
    const { client } = personal({ enabled: true, personal_channel_namespace: "personal" });
    expect(problemsOf({ client, channel: { namespaces: {} } })).toEqual([
      "channel.namespaces must be an array of objects, found an object",
    ]);
    expect(problemsOf({ client, channel: [] })).toEqual([
      "channel must be an object, found an array",
    ]);
  });
});
