import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Changed, Erased, HistoryEntry } from "../answers.ts";
import { answeredChange, type ChangeKind, versionOf } from "../changes.ts";
import { fieldOf, JsonField, jsonFault, Message, useAnswer } from "../parts.tsx";
import { type Answer, call } from "../server.ts";

/** A change that an operator has asked for, and hasn't confirmed yet. */
export interface AskedChange {
  readonly kind: ChangeKind;
  /** The publication as the page showed it then: another version isn't changed. */
  readonly publication: HistoryEntry;
  readonly epoch: string;
}

/** Asks before a publication is edited, deleted or erased, and does it. What goes wrong is said in a sentence. */
export function ChangeDialog({
  channel,
  asked: { kind, publication, epoch },
  loggedOut,
  changed,
  close,
}: {
  readonly channel: string;
  readonly asked: AskedChange;
  readonly loggedOut: () => void;
  /** Takes a sentence on what was done; undefined if it isn't known that something was. */
  readonly changed: (done: string | undefined) => void;
  readonly close: () => void;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [{ problem, isWaiting }, take] = useAnswer<string>(loggedOut);
  const [fault, setFault] = useState("");
  // Before it is drawn, so that who types at once types into it.
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const { title, meaning, button } = texts[kind];
  const { offset = 0 } = publication;
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const text = fieldOf(event, "payload");
    const found = kind === "edit" ? jsonFault("payload", text) : "";
    setFault(found);
    if (found !== "") return;
    const answer = carryOut(channel, { kind, publication, epoch }, text, fieldOf(event, "reason"));
    const done = await take(answer);
    changed(done);
    if (done !== undefined) close();
  };
  return (
    <dialog ref={dialog} aria-labelledby="change-title" onClose={close}>
      <h2 id="change-title">
        {title} publication {offset}?
      </h2>
      <form onSubmit={(event) => void submit(event)}>
        <p>{meaning}</p>
        {kind === "edit" && (
          <JsonField
            id="change-payload"
            name="payload"
            label="New payload"
            rows={4}
            value={JSON.stringify(publication.data)}
          />
        )}
        {kind === "delete" && (
          <>
            <label for="change-reason">Reason, which every reader sees (may be empty)</label>
            <input id="change-reason" name="reason" />
          </>
        )}
        <p class="buttons">
          <button class={kind === "edit" ? "main-button" : "danger"} disabled={isWaiting}>
            {button}
          </button>
          <button type="button" autoFocus={kind === "erase"} onClick={close}>
            Cancel
          </button>
        </p>
      </form>
      <Message text={fault === "" ? problem : fault} isProblem />
    </dialog>
  );
}

/** Asks the server for a change that the operator has confirmed. */
async function carryOut(
  channel: string,
  { kind, publication, epoch }: AskedChange,
  payload: string,
  reason: string,
): Promise<Answer<string>> {
  const names = { channel, offset: publication.offset ?? 0, epoch };
  const version = { ...names, if_version: versionOf(publication) };
  const calls: Record<ChangeKind, () => Promise<Answer<Changed | Erased>>> = {
    // The payload is published as it was typed (rule N12).
    edit: () =>
      call("update_publication", `${JSON.stringify(version).slice(0, -1)},"data":${payload}}`),
    delete: () => call("delete_publication", { ...version, ...(reason !== "" && { reason }) }),
    erase: () => call("erase", names),
  };
  return answeredChange(await calls[kind](), publication);
}

const texts: Readonly<
  Record<ChangeKind, { readonly title: string; readonly meaning: string; readonly button: string }>
> = {
  edit: {
    title: "Edit",
    meaning: "From then on readers get the new payload, and never this one. The tags stay.",
    button: "Save the edit",
  },
  delete: {
    title: "Delete",
    meaning:
      "From then on readers get no payload. The publication keeps its place and its publisher, and its bytes may stay in the database’s file: an erasure overwrites them.",
    button: "Delete it",
  },
  erase: {
    title: "Erase",
    meaning:
      "Payload, tags and publisher are overwritten in all rows and memory of Dormouse. Nobody can take that back. Cloudflare’s own recovery goes back 30 days all the same, and what backends and browsers have stored is theirs.",
    button: "Erase it",
  },
};
