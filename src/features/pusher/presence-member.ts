import { isJsonObject, type JsonValue, jsonValue } from "../../protocol/wire-value.ts";
import {
  type JsonText,
  memberText,
  parseJsonObject,
  trustedJsonText,
} from "../../protocol/json/text.ts";
import type { ClientInfo } from "../../protocol/publication.ts";
import { isUserId } from "./channel-names.ts";

/**
 * A user on a presence channel, as others get it: the `chan_info` of the user's connections.
 *
 * @param data the text that the application's server has signed
 * @returns undefined if the text names no user
 */
export function memberInfo(data: string): JsonText | undefined {
  const named = namedUser(data, "user_id");
  return named && infoOf(named.id, named.info);
}

/**
 * The user that a signed text names; undefined if it names none.
 *
 * @param field the member with the user's ID
 */
export function namedUser(
  data: string,
  field: "id" | "user_id",
): { readonly id: string; readonly info: JsonText | undefined } | undefined {
  const parsed = parseJsonObject(data);
  const id = idText(parsed?.fields[field]);
  if (parsed === undefined || id === undefined || !isUserId(id)) return undefined;
  return { id, info: memberText(parsed.text, "user_info") };
}

/** The same for a user who has signed in. */
export function infoOf(id: string, userInfo: JsonText | undefined): JsonText {
  const info = userInfo === undefined ? "" : `,"user_info":${userInfo}`;
  return trustedJsonText(`{"user_id":${JSON.stringify(id)}${info}}`);
}

/** The ID of the user in a connection's info on a presence channel; undefined if it isn't a member. */
export function memberOf({ chanInfo }: Pick<ClientInfo, "chanInfo">): string | undefined {
  const value = chanInfo === undefined ? null : jsonValue(chanInfo);
  return isJsonObject(value) ? idText(value["user_id"]) : undefined;
}

/** Servers give numbers, too; clients compare texts. */
function idText(id: JsonValue | undefined): string | undefined {
  if (typeof id === "number") return String(id);
  return typeof id === "string" ? id : undefined;
}

/** The list of members that a new member gets, as the text in `data`: each user once. */
export function presenceData(members: ReadonlyMap<string, JsonText>): string {
  const ids = [...members.keys()];
  const hash = [...members].map(
    ([id, info]) => `${JSON.stringify(id)}:${memberText(info, "user_info") ?? "null"}`,
  );
  const list = `"ids":${JSON.stringify(ids)},"hash":{${hash.join()}},"count":${ids.length}`;
  return `{"presence":{${list}}}`;
}
