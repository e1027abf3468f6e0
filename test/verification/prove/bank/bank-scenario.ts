import type { SubscriberPlan } from "../clients/plan.ts";
import type { ProvedChannel, ProvedMap } from "../scenario.ts";

/** The bank whose accounts are the keys of a map, and the one that publishes what it does. */
export const provedBanks = ["bank:a", "vault:a"] as const;

/** The accounts of each. */
export const bankAccounts = ["a1", "a2", "a3", "a4", "a5", "a6"];

/** Customers alone subscribe to it. */
export const bankChannels: readonly ProvedChannel[] = [
  { name: "vault:a", recovery: "stream", load: "clients", recoverable: 5_000, own: 0, gateways: 0 },
];

export const bankMaps: readonly ProvedMap[] = [
  { name: "bank:a", mode: "persistent", load: "code" },
];

/** Customers of gateways ask both banks. */
export function bankCustomers(): readonly SubscriberPlan[] {
  return ["1", "2", "3", "4", "5"].map((number, index): SubscriberPlan => {
    const isOwn = index % 3 === 2;
    return {
      process: `customer-${number}`,
      kind: "customer",
      endpoint: isOwn ? "channel" : "gateway",
      channels: ["vault:a"],
      asks: isOwn ? ["vault:a"] : provedBanks,
    };
  });
}

/** How the configuration describes the banks. The code of their channels is in `edge.js`. */
export const bankNamespaces: readonly object[] = [
  {
    name: "bank",
    presence: true,
    allow_subscribe_for_client: true,
    allow_call_for_client: true,
    subscription_type: "map",
    map: {
      mode: "persistent",
      stream_size: 500,
      stream_ttl: "1h",
      min_page_size: 1,
      subscribe_catch_up_timeout: "20s",
    },
  },
  {
    name: "vault",
    presence: true,
    allow_subscribe_for_client: true,
    allow_call_for_client: true,
    history_size: 10_000,
    history_ttl: "1h",
    force_recovery: true,
  },
];
