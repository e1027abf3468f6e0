import type { ObjectPart, PartedChannelObject } from "../../../object/part.ts";
import { HomeTeller } from "../../cursors/forgetting/home-teller.ts";
import type { ChannelAuthors } from "./channel-authors.ts";

/** Reports to homes whose clients have published to the channel (rule ED18). */
export class AuthorTeller extends HomeTeller implements ObjectPart {
  readonly #authors: ChannelAuthors;

  constructor(object: PartedChannelObject, authors: ChannelAuthors) {
    super(object, authors, "keepAuthors");
    this.#authors = authors;
  }

  storageDeleted(): void {
    this.#authors.deleted();
  }
}
