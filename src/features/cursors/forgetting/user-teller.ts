import type { PartedChannelObject } from "../../../object/part.ts";
import { HomeTeller } from "./home-teller.ts";
import type { KeptUsers } from "./kept-users.ts";

/** Reports to homes of whom the channel keeps marks or memberships (rule CU31). */
export class UserTeller extends HomeTeller {
  constructor(object: PartedChannelObject, kept: KeptUsers) {
    super(object, kept, "keepUsers");
  }
}
