import type { ConsoleConfig } from "./config.ts";
import { readBoolean, readText } from "./fields.ts";
import type { Section } from "./section.ts";

/**
 * Reads `console`, a section of Dormouse's own: the operator's page (rule N1).
 *
 * @param section receives the problems
 * @returns undefined if the configuration doesn't say whether the page is on
 */
export function readConsoleSection(section: Section): ConsoleConfig | undefined {
  const isSaid = section.take("enabled") !== undefined;
  const enabled = readBoolean(section, "enabled");
  const team = readText(section, "access_team_domain", teamDomain);
  const audience = readText(section, "access_audience", audienceTag);
  section.refuseOthers({});
  if ((team === "") !== (audience === ""))
    section.problem(
      team === "" ? "access_team_domain" : "access_audience",
      "is missing: Cloudflare Access needs both access_team_domain and access_audience",
    );
  if (team !== "" && !isSaid) section.problem("enabled", "is missing beside access_team_domain");
  if (!isSaid) return undefined;
  return team === "" ? { enabled } : { enabled, access: { team, audience } };
}

/** Only Cloudflare's own domain, because whoever serves the keys decides who gets in. */
const teamDomain = {
  default: "",
  shape: /^(?:[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?\.cloudflareaccess\.com)?$/,
  meaning: "the domain of a team: <name>.cloudflareaccess.com",
};

const audienceTag = {
  default: "",
  shape: /^(?:[0-9a-f]{64})?$/,
  meaning: "the audience tag of an application of Cloudflare Access: 64 hexadecimal digits",
};
