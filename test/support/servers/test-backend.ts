/** The position of a publication in its channel. */
export interface Position {
  readonly offset: number;
  readonly epoch: string;
}

/** A present client. */
export interface Present {
  readonly user: string;
  readonly client: string;
}

export interface PresenceStats {
  readonly num_clients: number;
  readonly num_users: number;
}

export interface Kept {
  readonly offset: number;
  readonly data: TestData;
}

/** The fields of a publish request besides its channel. */
export interface PublishFields {
  readonly data?: TestData;
  /** Bytes in base64, instead of `data`. */
  readonly b64data?: string;
  readonly tags?: Readonly<Record<string, string>>;
}

/** The value of a key of a shared poll. */
export interface PolledValue {
  readonly key: string;
  readonly data: TestData;
  readonly version: number;
  readonly epoch?: string;
}

/** The result of an append; `length` is that of the text. */
export interface Appended {
  readonly length: number;
  readonly suppressed?: boolean;
}

/** The data that tests publish. */
export type TestData = number | string | { readonly [name: string]: number | string };

/** An application's backend: the HTTP API over `fetch`, with persistent connections. */
export class TestBackend {
  readonly #address: string;
  readonly #apiKey: string;

  /** @param address the server's, such as `http://127.0.0.1:8787` */
  constructor(address: string, apiKey: string) {
    this.#address = address;
    this.#apiKey = apiKey;
  }

  publish(channel: string, data: TestData, idempotencyKey = ""): Promise<Position> {
    const key = idempotencyKey === "" ? {} : { idempotency_key: idempotencyKey };
    return this.#call<Position>("publish", { channel, data, ...key });
  }

  /** Publishes with other fields of the API than `data`. */
  publishFields(channel: string, fields: PublishFields): Promise<Position> {
    return this.#call<Position>("publish", { channel, ...fields });
  }

  /** Edits a publication. @returns the position of the edit */
  edit(channel: string, offset: number, data: TestData): Promise<Position> {
    return this.#call<Position>("update_publication", { channel, offset, data });
  }

  /** Deletes a publication, for a reason that readers see. @returns the position of the deletion */
  delete(channel: string, offset: number, reason: string): Promise<Position> {
    return this.#call<Position>("delete_publication", { channel, offset, reason });
  }

  /** Removes the publications that a channel keeps. */
  async removeHistory(channel: string): Promise<void> {
    await this.#call("history_remove", { channel });
  }

  /** Publishes the newest value of a key of a shared poll. */
  sharedPollPublish(channel: string, value: PolledValue): Promise<object> {
    return this.#call<object>("shared_poll_publish", { channel, ...value });
  }

  /** Publishes several times in one request, each with its key, and gives the positions. */
  async publishBatch(
    channel: string,
    all: readonly { readonly data: TestData; readonly idempotencyKey: string }[],
  ): Promise<readonly Position[]> {
    const commands = all.map(({ data, idempotencyKey }) => ({
      publish: { channel, data, idempotency_key: idempotencyKey },
    }));
    const { replies } = await this.#send<{
      readonly replies: readonly { readonly publish?: Position }[];
    }>("batch", { commands });
    return replies.map(({ publish }) => {
      if (publish === undefined) throw new Error("a publish of a batch failed");
      return publish;
    });
  }

  /** Publishes one after the other and gives the last position. */
  async publishAll(channel: string, all: readonly TestData[]): Promise<Position> {
    let position: Position = { offset: 0, epoch: "" };
    for (const data of all) position = await this.publish(channel, data);
    return position;
  }

  /** Appends a text to the value of a key of a map. */
  append(channel: string, key: string, text: string, more: object = {}): Promise<Appended> {
    return this.#call("map_append", { channel, key, text, ...more });
  }

  /** Sets a key of a map. */
  setKey(channel: string, key: string, data: TestData): Promise<Position> {
    return this.#call("map_publish", { channel, key, data });
  }

  /** The value of a key of a map, as it is stored. */
  async mapValue(channel: string, key: string): Promise<{ readonly value: TestData | undefined }> {
    const { entries } = await this.#call<{
      readonly entries: readonly { readonly data: TestData }[];
    }>("map_read_state", { channel, key });
    return { value: entries[0]?.data };
  }

  history(channel: string): Promise<Position & { readonly publications: readonly Kept[] }> {
    return this.#call("history", { channel, limit: -1 });
  }

  async presence(channel: string): Promise<readonly Present[]> {
    const { presence } = await this.#call<{ presence: Record<string, Present> }>("presence", {
      channel,
    });
    return Object.values(presence);
  }

  /** How many are present, without their names. */
  presenceStats(channel: string): Promise<PresenceStats> {
    return this.#call("presence_stats", { channel });
  }

  /** Disconnects connections of a user, or one anonymous connection. */
  disconnect(order: {
    readonly user?: string;
    readonly client?: string;
    readonly disconnect?: { readonly code: number; readonly reason: string };
  }): Promise<object> {
    return this.#call("disconnect", order);
  }

  unsubscribe(order: { readonly user: string; readonly channel: string }): Promise<object> {
    return this.#call("unsubscribe", order);
  }

  /** Throws a user out for ever, or until {@link unblock}. */
  block(user: string): Promise<object> {
    return this.#call("block_user", { user });
  }

  unblock(user: string): Promise<object> {
    return this.#call("unblock_user", { user });
  }

  /** Revokes the token with this `jti` for ever. */
  revoke(uid: string): Promise<object> {
    return this.#call("revoke_token", { uid });
  }

  /** Makes all tokens of a user invalid that were issued until now. */
  invalidate(user: string): Promise<object> {
    return this.#call("invalidate_user_tokens", { user });
  }

  /** Subscribes the connections of a user. */
  subscribe(order: {
    readonly user: string;
    readonly channel: string;
    readonly recover_since?: Position;
  }): Promise<object> {
    return this.#call("subscribe", order);
  }

  /** Calls a procedure of a channel's code, and gives what it returns. */
  async callProcedure(channel: string, procedure: string): Promise<TestData | undefined> {
    const request = { channel, procedure };
    return (await this.#call<{ readonly data?: TestData }>("call", request)).data;
  }

  /** Throws when the answer is anything but a result. */
  async #call<Result>(method: string, request: object): Promise<Result> {
    const answer = await this.#send<{ readonly result?: Result }>(method, request);
    if (answer.result === undefined) throw new Error(`${method} was answered with an error`);
    return answer.result;
  }

  /** Throws if the status is an error. */
  async #send<Answer>(method: string, request: object): Promise<Answer> {
    const response = await fetch(`${this.#address}/api/${method}`, {
      method: "POST",
      headers: { "X-API-Key": this.#apiKey },
      body: JSON.stringify(request),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} was answered ${response.status}: ${text}`);
    const answer: Answer = JSON.parse(text);
    return answer;
  }
}
