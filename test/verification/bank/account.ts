/** An account of the bank, as the bank keeps it: a text with the name, the balance and all movements. */
export interface Account {
  readonly name: string;
  readonly balance: number;
  /** In the order in which they were made. */
  readonly movements: readonly Movement[];
}

/** What one transfer or one interest has done to an account. */
export interface Movement {
  /** Of the transfer or the promise; unique in its bank, without spaces and colons. */
  readonly id: string;
  readonly by: number;
}

/** What every account has at first, without a key. */
export const startBalance = 100;

/** What a promise pays once its time has come. */
export const interestPaid = 1;

export function newAccount(name: string): Account {
  return { name, balance: startBalance, movements: [] };
}

/** The account after a movement. */
export function moved({ name, balance, movements }: Account, id: string, by: number): Account {
  return { name, balance: balance + by, movements: [...movements, { id, by }] };
}

/** Two accounts never have the same text, and an account never has the same one twice. */
export function accountText({ name, balance, movements }: Account): string {
  return [name, balance, ...movements.map(({ id, by }) => `${id}:${by}`)].join(" ");
}

/** @throws if the text is none that {@link accountText} gives */
export function accountOf(text: string): Account {
  const [name = "", balance = "", ...moves] = text.split(" ");
  const movements = moves.map((move) => {
    const [id = "", by = ""] = move.split(":");
    return { id, by: Number(by) };
  });
  const account = { name, balance: Number(balance), movements };
  if (name === "" || accountText(account) !== text) throw new Error(`${text} is no account`);
  return account;
}
