import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../src/protocol/wire-value.ts";

/**
 * Lower-cases the names of options, whose case doesn't matter to Centrifugo, and puts `client.insecure` where it is a
 * name into the section `client`, as Centrifugo does outside of lists.
 */
export function withPlainNames(document: JsonObject): JsonObject {
  return plain(document, true);
}

function plain(section: JsonObject, splits: boolean): JsonObject {
  let made: JsonObject = {};
  for (const [given, value] of Object.entries(section)) {
    const name = given.toLowerCase();
    const parts = splits && /^[^.]+(?:\.[^.]+)+$/.test(name) ? name.split(".") : [name];
    const last = parts.at(-1) ?? name;
    const below = /static_(?:http_)?headers$|metadata$/.test(last)
      ? value
      : plainValue(value, splits);
    made = joined(
      made,
      parts.reduceRight<JsonValue>((inner, part) => ({ [part]: inner }), below),
    );
  }
  return made;
}

function plainValue(value: JsonValue, splits: boolean): JsonValue {
  if (isJsonArray(value)) return value.map((one) => plainValue(one, false));
  return isJsonObject(value) ? plain(value, splits) : value;
}

/** Two sections as one; of other values the later one counts. */
function joined(before: JsonObject, later: JsonValue): JsonObject {
  if (!isJsonObject(later)) return before;
  const entries = Object.entries(later).map(([name, value]): [string, JsonValue] => {
    const old = Object.hasOwn(before, name) ? before[name] : undefined;
    const isSection = old !== undefined && isJsonObject(old) && isJsonObject(value);
    return [name, isSection ? joined(old, value) : value];
  });
  return { ...before, ...Object.fromEntries(entries) };
}
