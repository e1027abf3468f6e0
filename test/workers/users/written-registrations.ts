import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { homeName } from "../../../src/contract/object-names.ts";
import type { UsersObject } from "../../../workers/objects/users-object.ts";

/** Has the home of a user or a token write the registrations that wait for others (rule U42). */
export function writeRegistrations(key: string): Promise<void> {
  return runInDurableObject<UsersObject, void>(env.USERS.getByName(homeName(key)), ({ host }) =>
    host.writeRegistrations(),
  );
}
