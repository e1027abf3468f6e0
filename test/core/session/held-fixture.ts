import type { CarriedOut, NumberedOrder } from "../../../src/contract/user-order.ts";
import { ScriptedHome } from "../users/scripted-home.ts";
import { ManyChannelsFixture, type ManyChannelsSetup } from "./many-channels-fixture.ts";
import type { TestConnection } from "./test-connection.ts";
import { connectionToken } from "./verified-tokens.ts";

const connect = `{"id":1,"connect":{}}`;

/** Sessions whose users have homes that answer when the test says so. */
export class HeldFixture extends ManyChannelsFixture {
  readonly home: ScriptedHome;

  constructor(setup: ManyChannelsSetup = {}, home = new ScriptedHome()) {
    super({ ...setup, users: home.users });
    this.home = home;
  }

  /** A connection whose connect was accepted and whose home hasn't answered. */
  held(user = "42", frame = connect): TestConnection {
    const connection = this.open();
    this.send(connection, frame, connectionToken(user));
    return connection;
  }

  /** A connection whose home has answered. */
  admitted(user = "42", lastOrder = 0): TestConnection {
    const connection = this.held(user);
    this.home.answer(lastOrder);
    connection.takeSent();
    return connection;
  }

  /** Has the object carry out orders; gives the answers so far, of which there is one at last. */
  carryOut(
    user: string,
    orders: readonly NumberedOrder[],
    ...all: readonly TestConnection[]
  ): readonly (CarriedOut | undefined)[] {
    const answers: (CarriedOut | undefined)[] = [];
    const sessions = () => all.map(({ session }) => session);
    this.home.users.carryOut(user, orders, sessions, this.nowMs, (answer) => answers.push(answer));
    return answers;
  }
}
