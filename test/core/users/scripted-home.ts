import type { Registered } from "../../../src/contract/user-order.ts";
import type { SlotAnswer, UserConnection } from "../../../src/contract/user-order.ts";
import { LocalUsers } from "../../../src/users/local-users.ts";

/** One call that registers users. */
export interface RegisterCall {
  readonly home: string;
  readonly users: readonly string[];
  readonly ends: readonly number[];
  readonly answer: (registered: Registered | undefined) => void;
}

/** One call that asks for slots. */
interface AdmitCall {
  readonly connections: readonly UserConnection[];
  readonly answer: (answer: SlotAnswer | undefined) => void;
}

/** The users of one object, whose homes answer when a test says so. */
export class ScriptedHome {
  /** The calls that haven't been answered, oldest first. */
  readonly calls: RegisterCall[] = [];
  /** The calls for slots that haven't been answered, oldest first. */
  readonly admissions: AdmitCall[] = [];
  readonly users = new LocalUsers(
    (home, users, done, ends) => {
      this.calls.push({ home, users, ends, answer: done });
    },
    (_home, connections, done) => {
      this.admissions.push({ connections, answer: done });
    },
  );

  /** Answers the oldest call; undefined for no answer in time. */
  answer(lastOrder: number | undefined, more: Partial<Registered> = {}): void {
    const call = this.calls.shift();
    if (call === undefined) throw new Error("no home was asked");
    call.answer(lastOrder === undefined ? undefined : { lastOrder, ...more });
  }
}
