import type { HttpApiConfig } from "./config.ts";
import type { Section } from "./section.ts";
import { readChoice } from "./fields.ts";
import { unsupportedHttpApiKeys } from "./unsupported.ts";

/**
 * Reads `http_api`: how the backend's API answers (reference 6.1).
 *
 * @param section takes the problems
 */
export function readHttpApiSection(section: Section): HttpApiConfig {
  const config: HttpApiConfig = {
    errorMode: readChoice(section, "error_mode", { choices: ["", "transport"] }),
  };
  section.refuseOthers(unsupportedHttpApiKeys);
  return config;
}
