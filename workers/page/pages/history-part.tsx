import { useEffect, useState } from "preact/hooks";
import type { History, HistoryEntry, NamespaceSettings, Publication } from "../answers.ts";
import { type ChangeKind, changeNote, changesOf, hasNoPayload } from "../changes.ts";
import { type ChannelQuestions, isMap } from "../channel-questions.ts";
import { href } from "../hash-route.ts";
import { type Asked, Message, Table, useAnswer } from "../parts.tsx";
import { call } from "../server.ts";
import { newest, shortened } from "../text.ts";
import { withoutChangeTags } from "../../../src/protocol/change-tags.ts";
import { type AskedChange, ChangeDialog } from "./change-dialog.tsx";

/** What a channel keeps: publications, which may be edited, deleted and erased where the namespace has it; of a map, its changes. */
export function HistoryPart({
  channel,
  namespace,
  questions: { history },
  round,
  loggedOut,
  changed,
}: Asked & {
  readonly channel: string;
  readonly namespace: NamespaceSettings;
  readonly questions: ChannelQuestions;
  /** Called after a change of a publication, so that everything is read again. */
  readonly changed: () => void;
}) {
  const [{ result, problem }, take] = useAnswer<History>(loggedOut);
  const [asked, ask] = useState<AskedChange>();
  const [done, setDone] = useState("");
  useEffect(() => {
    if (history !== undefined) void take(call(history.method, history.params));
  }, [history?.method, channel, round]);
  if (history === undefined)
    return namespace.type === "stream" ? (
      <section>
        <h2>History</h2>
        <p>The namespace keeps no history.</p>
      </section>
    ) : null;
  const mayChange = namespace.options.changes !== undefined;
  const change = (kind: ChangeKind, publication: HistoryEntry) => {
    setDone("");
    ask({ kind, publication, epoch: result?.epoch ?? "" });
  };
  return (
    <section>
      <h2>{isMap(namespace) ? "Changes" : "History"}</h2>
      <Message text={result === undefined && problem === "" ? "Asking…" : problem} />
      <Message text={done} />
      {result !== undefined && (
        <Publications
          channel={channel}
          isOfMap={isMap(namespace)}
          publications={result.publications ?? result.entries ?? []}
          {...(mayChange && { change })}
        />
      )}
      {namespace.type === "stream" && !mayChange && (
        <p class="quiet">
          Nothing can be edited, deleted or erased here: the namespace has no{" "}
          <code>allow_change</code>.
        </p>
      )}
      {asked !== undefined && (
        <ChangeDialog
          channel={channel}
          asked={asked}
          loggedOut={loggedOut}
          changed={(text = "") => {
            setDone(text);
            changed();
          }}
          close={() => ask(undefined)}
        />
      )}
    </section>
  );
}

/** What a publication holds, or why it holds nothing any more. */
export function Contents({ publication }: { readonly publication: Publication }) {
  const note = changeNote(publication);
  return (
    <>
      {note !== "" && <span class="note">{note}</span>}
      {!hasNoPayload(publication) && <code>{shortened(publication.data)}</code>}
    </>
  );
}

function Publications({
  channel,
  isOfMap,
  publications,
  change,
}: {
  readonly channel: string;
  readonly isOfMap: boolean;
  readonly publications: readonly HistoryEntry[];
  /** Absent where publications can't be changed. */
  readonly change?: (kind: ChangeKind, publication: HistoryEntry) => void;
}) {
  const heads = ["Offset", ...(isOfMap ? ["Key", "Value"] : ["Payload"]), "Tags", "Publisher"];
  const actions = change === undefined ? [] : ["Change it"];
  const what = isOfMap ? "change" : "publication";
  const { length } = publications;
  return (
    <Table
      caption={length === 0 ? "What is kept" : `The ${newest(length, what)}`}
      heads={[...heads, "Who got it", ...actions]}
    >
      {publications.map((one) => (
        <Row key={one.offset} {...{ channel, isOfMap, one }} {...(change && { change })} />
      ))}
      {length === 0 && (
        <tr>
          <td colSpan={heads.length + 1 + actions.length}>Nothing is kept at the moment.</td>
        </tr>
      )}
    </Table>
  );
}

function Row({
  channel,
  isOfMap,
  one,
  change,
}: {
  readonly channel: string;
  readonly isOfMap: boolean;
  readonly one: HistoryEntry;
  readonly change?: (kind: ChangeKind, publication: HistoryEntry) => void;
}) {
  const { offset = 0, key = "", removed, tags, info } = one;
  const own = withoutChangeTags(tags);
  return (
    <tr data-offset={offset}>
      <th scope="row" class="number">
        {offset}
      </th>
      {isOfMap && (
        <td>
          <code>{key}</code>
        </td>
      )}
      <td>{removed === true ? "removed" : <Contents publication={one} />}</td>
      <td>{own === undefined ? "" : JSON.stringify(own)}</td>
      <td>{info?.user ?? ""}</td>
      <td>
        <a href={href("why", { channel, offset: String(offset) })}>Why?</a>
      </td>
      {change !== undefined && (
        <td>
          <span class="buttons">
            {changesOf(one).map((kind) => (
              <button
                key={kind}
                class={kind === "edit" ? "" : "danger"}
                aria-label={`${names[kind]} ${offset}`}
                onClick={() => change(kind, one)}
              >
                {names[kind]}
              </button>
            ))}
          </span>
        </td>
      )}
    </tr>
  );
}

const names: Readonly<Record<ChangeKind, string>> = {
  edit: "Edit",
  delete: "Delete",
  erase: "Erase",
};
