import { useEffect, useState } from "preact/hooks";
import { leadsTo, Message, type PageProps } from "../parts.tsx";
import { RuleLink, type Rules, rulesOfServer } from "../rules.tsx";

/** The text of a rule, and the others of its part. */
export function RulePage({ params }: PageProps) {
  const [rules, setRules] = useState<Rules>();
  const [problem, setProblem] = useState("");
  const id = (params.get("id") ?? "").trim().toUpperCase();
  useEffect(() => {
    void rulesOfServer().then((loaded) =>
      loaded === undefined ? setProblem("The rules can't be loaded.") : setRules(loaded),
    );
  }, []);
  const rule = rules?.[id];
  return (
    <>
      <h1>Rule {id}</h1>
      <form class="line" onSubmit={leadsTo("rule", "id")}>
        <label for="id">Rule</label>
        <input id="id" name="id" value={id} placeholder="such as R5" required />
        <button>Show</button>
      </form>
      <Message text={problem} isProblem />
      {rules !== undefined && rule === undefined && (
        <Message text={id === "" ? "" : `This server has no rule ${id}.`} isProblem />
      )}
      {rules !== undefined && rule !== undefined && (
        <>
          <p class="answer">
            <RuleText text={rule.text} rules={rules} />
          </p>
          <Part part={rule.part} rules={rules} except={id} />
        </>
      )}
    </>
  );
}

/** All rules of a part but one. */
function Part({
  part,
  rules,
  except,
}: {
  readonly part: string;
  readonly rules: Rules;
  readonly except: string;
}) {
  const others = Object.entries(rules).filter(([id, rule]) => rule.part === part && id !== except);
  return (
    <section>
      <h2>{part}</h2>
      <dl class="rules">
        {others.map(([id, { text }]) => (
          <div key={id}>
            <dt>
              <RuleLink id={id} />
            </dt>
            <dd>
              <RuleText text={text} rules={rules} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** A text with its code, and with links to the rules that it names. */
function RuleText({ text, rules }: { readonly text: string; readonly rules: Rules }) {
  return (
    <>
      {text
        .split("`")
        .map((part, index) =>
          index % 2 === 1 ? (
            <code key={index}>{part}</code>
          ) : (
            part
              .split(/\b([A-Z]{1,2}\d+)\b/)
              .map((word, at) =>
                Object.hasOwn(rules, word) ? <RuleLink id={word} key={at} /> : word,
              )
          ),
        )}
    </>
  );
}
