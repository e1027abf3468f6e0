import type { Random } from "../../support/random.ts";
import type { Transfer } from "./bank.ts";

/** A transfer from an account to another one of these. Some are so large that the account may lack the money. */
export function drawnTransfer(
  random: Random,
  from: string,
  accounts: readonly string[],
): Omit<Transfer, "id"> {
  const to = random.pick(accounts.filter((account) => account !== from));
  const amount = random.chance(0.8) ? random.between(1, 9) : random.between(60, 130);
  return { from, to, amount };
}
