import { compileGlob } from "../access/name-glob.ts";
import type { OperationRows } from "../access/operations.ts";
import { limits } from "../limits.ts";
import type { ApiKeyConfig, HttpApiConfig } from "./config.ts";
import { isJsonArray } from "../protocol/wire-value.ts";
import { readOptions, readTexts } from "./fields.ts";
import { apiKeyOptions, httpApiOptions } from "./http-api-options.ts";
import type { TextRule } from "./option.ts";
import type { Section } from "./section.ts";
import { unsupportedApiKeyKeys, unsupportedHttpApiKeys } from "./unsupported.ts";

/**
 * Reads `http_api`: the error mode of the HTTP API, and keys beside `API_KEY` (docs/protocol.md 6.1).
 *
 * @param section receives the problems
 * @param operations those that a key may admit
 */
export function readHttpApiSection(section: Section, operations: OperationRows): HttpApiConfig {
  const config: HttpApiConfig = {
    ...readOptions(section, httpApiOptions),
    keys: readKeys(section, Object.keys(operations)),
  };
  section.refuseOthers(unsupportedHttpApiKeys);
  return config;
}

/** Reads `http_api.keys` (rule A14). */
function readKeys(section: Section, methods: readonly string[]): readonly ApiKeyConfig[] {
  const sections = section.sections("keys", "name", limits.apiKeysMax);
  const [names, secrets] = [new Map<string, string>(), new Map<string, string>()];
  return sections.map((one) => {
    const key = readKey(one, methods);
    one.demandUnique("name", names);
    one.demandUnique("secret", secrets);
    return key;
  });
}

function readKey(section: Section, methods: readonly string[]): ApiKeyConfig {
  const key: ApiKeyConfig = {
    ...readOptions(section, apiKeyOptions),
    rights: {
      methods: readAdmitted(section, "methods", methodName(methods)),
      channels: readAdmitted(section, "channels", channelGlob),
    },
  };
  section.demand("name");
  if (section.take("secret") === undefined)
    section.note("secret", "is absent: only a Worker with a service binding has this name");
  else section.demand("secret");
  section.refuseOthers(unsupportedApiKeyKeys);
  return key;
}

/**
 * Reads a list of what is admitted. An empty list would admit nothing, so it is a mistake, and so is one that was
 * forgotten.
 */
export function readAdmitted(section: Section, name: string, rule: TextRule): readonly string[] {
  const given = section.take(name);
  if (given === undefined || (isJsonArray(given) && given.length === 0))
    section.problem(name, `is missing: list what is admitted, or "*" for everything`);
  return readTexts(section, name, rule);
}

/**
 * The rule for a list of methods: it may have these methods, and "*". The expression is compiled only when it is
 * needed, because an isolate starts for every object that wakes.
 */
export function methodName(methods: readonly string[]): TextRule {
  return {
    shape: new RegExp(`^(?:\\*|${methods.join("|")})$`),
    meaning: `"*" or one of ${methods.join(", ")}`,
  };
}

/** The rule for a list of channels. */
export function channelGlob(text: string): string | undefined {
  const isGlob = text !== "" && compileGlob(text) !== undefined;
  return isGlob ? undefined : "is not a channel's name or a pattern of names";
}
