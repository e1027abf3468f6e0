import type { RpcConfig } from "./config.ts";
import type { Section } from "./section.ts";
import { readBoolean } from "./fields.ts";
import { unsupportedRpcKeys, unsupportedRpcPingKeys } from "./unsupported.ts";

/**
 * Reads `rpc`: which methods clients can call (reference 1.6).
 *
 * @param section takes the problems
 */
export function readRpcSection(section: Section): RpcConfig {
  const ping = section.section("ping");
  const config: RpcConfig = { pingEnabled: readBoolean(ping, "enabled") };
  ping.refuseOthers(unsupportedRpcPingKeys);
  section.refuseOthers(unsupportedRpcKeys);
  return config;
}
