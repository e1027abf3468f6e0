/** The banks of a world: the code of a channel transfers money between its keys (`verification/bank`). */
import { bank } from "../../bank/bank.ts";
import { namespaceOf } from "../namespace-of.ts";

/** The keys of `bank:` are those of a map, which clients follow; `vault:` keeps them beside a history, and publishes. */
export const bankKinds = ["bank:b", "vault:v"];

export function isBank(channel: string): boolean {
  return bankKinds.some((kind) => namespaceOf(kind) === namespaceOf(channel));
}

/** Whether a bank publishes what it does. */
export function isVault(channel: string): boolean {
  return namespaceOf(channel) === "vault";
}

/** Few, so that many transfers concern the same accounts, and some lack the money. */
export const bankAccounts = ["a1", "a2", "a3", "a4"];

/** The code of the channels, by namespace. */
export const bankCode = { bank: bank(false), vault: bank(true) };

const open = {
  presence: true,
  allow_subscribe_for_client: true,
  allow_presence_for_client: true,
  allow_call_for_client: true,
};

/** How the configuration describes them. */
export const bankNamespaces: readonly object[] = [
  {
    ...open,
    name: "bank",
    subscription_type: "map",
    map: {
      mode: "persistent",
      min_page_size: 1,
      default_page_size: 2,
      max_page_size: 4,
      stream_size: 40,
      stream_ttl: "1m",
    },
  },
  {
    ...open,
    name: "vault",
    history_size: 1_000,
    history_ttl: "1h",
    history_meta_ttl: "24h",
    force_recovery: true,
  },
];
