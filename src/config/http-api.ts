import { apiMethods } from "../access/api-keys.ts";
import { limits } from "../limits.ts";
import type { ApiKeyConfig, HttpApiConfig } from "./config.ts";
import { isJsonArray } from "../protocol/wire-value.ts";
import { readChoice, readText, readTexts } from "./fields.ts";
import { readInsecure } from "./insecure.ts";
import type { Section } from "./section.ts";
import { unsupportedApiKeyKeys, unsupportedHttpApiKeys } from "./unsupported.ts";

/**
 * Reads `http_api`: the error mode of the HTTP API, and keys beside `API_KEY` (docs/protocol.md 6.1).
 *
 * @param section receives the problems
 */
export function readHttpApiSection(section: Section): HttpApiConfig {
  const config: HttpApiConfig = {
    errorMode: readChoice(section, "error_mode", { choices: ["", "transport"] }),
    insecure: readInsecure(section, "needs no API key"),
    keys: readKeys(section),
  };
  section.refuseOthers(unsupportedHttpApiKeys);
  return config;
}

/** Reads `http_api.keys` (rule A14). */
function readKeys(section: Section): readonly ApiKeyConfig[] {
  const sections = section.sections("keys", "name");
  if (sections.length > limits.apiKeysMax)
    section.problem("keys", `has more than ${limits.apiKeysMax} entries`);
  const keys = sections.map((one) => ({ section: one, key: readKey(one) }));
  for (const name of ["name", "secret"] as const) {
    const owners = new Map<string, string>();
    for (const { section: one, key } of keys) {
      const owner = owners.get(key[name]);
      if (owner !== undefined) one.problem(name, `is already the ${name} of ${owner}`);
      else if (key[name] !== "") owners.set(key[name], one.path);
    }
  }
  return keys.map(({ key }) => key);
}

function readKey(section: Section): ApiKeyConfig {
  const key: ApiKeyConfig = {
    name: required(section, "name", keyName),
    secret: required(section, "secret", secretName),
    rights: {
      methods: requiredList(section, "methods", methodName()),
      channels: requiredList(section, "channels", channelGlob),
    },
  };
  section.refuseOthers(unsupportedApiKeyKeys);
  return key;
}

interface Shape {
  readonly shape: RegExp;
  readonly meaning: string;
}

function required(section: Section, name: string, shape: Shape): string {
  if (section.take(name) !== undefined) return readText(section, name, { default: "", ...shape });
  section.problem(name, "is missing");
  return "";
}

/** An empty list would admit nothing, so it is a mistake, and so is one that was forgotten. */
function requiredList(section: Section, name: string, shape: Shape): readonly string[] {
  const list = readTexts(section, name, shape);
  const given = section.take(name);
  if (given === undefined || (isJsonArray(given) && given.length === 0))
    section.problem(name, `is missing: list what the key admits, or "*" for everything`);
  return list;
}

const keyName: Shape = {
  shape: /^[-a-zA-Z0-9_.]{1,64}$/,
  meaning: "a name of a key: at most 64 of A-Z, a-z, 0-9, -, _ and .",
};

/**
 * The name of a secret, which is told to whoever asks while the secret is missing (rule A8). With the prefix, nobody
 * writes the value by mistake, and no key has the name of another binding.
 */
const secretName: Shape = {
  shape: /^API_KEY_(?!(?:[A-Z0-9_]*_)?PREVIOUS$)[A-Z0-9_]{1,64}$/,
  meaning:
    "the name of a secret: API_KEY_ and at most 64 of A-Z, 0-9 and _, not ending with _PREVIOUS. The key itself is a secret of the Worker",
};

/** Made when it is needed, because an isolate starts for every object that wakes. */
function methodName(): Shape {
  return {
    shape: new RegExp(`^(?:\\*|${apiMethods.join("|")})$`),
    meaning: `"*" or a method of the API: ${apiMethods.join(", ")}`,
  };
}

const channelGlob: Shape = {
  shape: /./su,
  meaning: `a channel's name, in which "*" stands for any characters`,
};
