import { type InheritedOptions, readChannelOptions } from "./channel-options.ts";
import type { ChannelConfig, ChannelOptions } from "./config.ts";
import type { Section } from "./section.ts";
import { readDurationMs, readText, readWholeNumber } from "./fields.ts";
import { unsupportedChannelKeys } from "./unsupported.ts";

/**
 * Reads `channel`: what names mean, and what channels of each namespace may do (reference 5.4 and 5.6).
 *
 * @param section takes the problems
 */
export function readChannelSection(section: Section): ChannelConfig {
  const historyMetaTtlMs = readDurationMs(section, "history_meta_ttl", {
    defaultMs: historyMetaTtlDefaultMs,
  });
  const inherited = { section, historyMetaTtlMs };
  const config: ChannelConfig = {
    maxLengthBytes: readWholeNumber(section, "max_length", { default: 255, min: 1, max: 1_000 }),
    privatePrefix: readText(section, "private_prefix", { default: "$" }),
    namespaceBoundary: readText(section, "namespace_boundary", { default: ":" }),
    userBoundary: readText(section, "user_boundary", { default: "#" }),
    userSeparator: readText(section, "user_separator", { default: "," }),
    withoutNamespace: readChannelOptions(section.section("without_namespace"), inherited),
    namespaces: readNamespaces(section.sections("namespaces", "name"), inherited),
  };
  section.refuseOthers(unsupportedChannelKeys);
  return config;
}

function readNamespaces(
  sections: readonly Section[],
  inherited: InheritedOptions,
): ReadonlyMap<string, ChannelOptions> {
  const namespaces = new Map<string, ChannelOptions>();
  const owners = new Map<string, string>();
  for (const section of sections) {
    const name = readNamespaceName(section);
    const owner = owners.get(name);
    if (owner !== undefined) section.problem("name", `is already the name of ${owner}`);
    else if (name !== "") owners.set(name, section.path);
    namespaces.set(name, readChannelOptions(section, inherited));
  }
  return namespaces;
}

/** Gives "" for a name that is missing or bad, with the problem reported. */
function readNamespaceName(section: Section): string {
  if (section.take("name") === undefined) {
    section.problem("name", "is missing");
    return "";
  }
  return readText(section, "name", {
    default: "",
    shape: /^[-a-zA-Z0-9_.]{2,}$/,
    meaning: "a namespace name: two or more of A-Z, a-z, 0-9, -, _ and .",
  });
}

/** 720h. */
const historyMetaTtlDefaultMs = 2_592_000_000;
