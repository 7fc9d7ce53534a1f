/** What the answer to a saved example must hold (interface rule 70 §11). */
export type Assertion =
  | { kind: 'status'; equals: number }
  | { kind: 'time'; at_most_ms: number }
  | { kind: 'header'; name: string; contains: string }
  | { kind: 'body'; contains: string }
  | { kind: 'json'; path: string; equals: string };

export const MOST_ASSERTIONS = 20;

/** The answer of a trial; `body_encoding` other than text cannot be read. */
export type Answer = {
  status: number;
  total_ms: number;
  headers: readonly { name: string; value: string }[];
  body: string;
  body_encoding: string;
  truncated: boolean;
};
/** `unknown`: the part of the answer that would tell is not here. */
export type Verdict = { verdict: 'holds' | 'fails' | 'unknown'; found: string };

/** Judges one assertion; `found` says in words what was there instead. */
export function judge(assertion: Assertion, answer: Answer): Verdict {
  switch (assertion.kind) {
    case 'status':
      return told(answer.status === assertion.equals, `got ${answer.status}`);
    case 'time':
      return told(answer.total_ms <= assertion.at_most_ms, `took ${Math.round(answer.total_ms)} ms`);
    case 'header': {
      const values = answer.headers.filter(({ name }) => name.toLowerCase() === assertion.name.toLowerCase()).map(({ value }) => value);
      if (values.length === 0) return told(false, 'the header is missing');
      return told(
        values.some((value) => value.toLowerCase().includes(assertion.contains.toLowerCase())),
        `got ${values.join(', ')}`,
      );
    }
    case 'body':
      if (answer.body_encoding !== 'text') return UNREADABLE;
      if (answer.body.includes(assertion.contains)) return told(true, '');
      return answer.truncated ? CUT : told(false, 'not in the body');
    case 'json':
      return judgeJson(assertion, answer);
  }
}

const UNREADABLE: Verdict = { verdict: 'unknown', found: 'the body isn’t text' };
const CUT: Verdict = { verdict: 'unknown', found: 'the body is truncated' };
const told = (holds: boolean, found: string): Verdict => ({ verdict: holds ? 'holds' : 'fails', found });

function judgeJson({ path, equals }: { path: string; equals: string }, answer: Answer): Verdict {
  if (answer.body_encoding !== 'text') return UNREADABLE;
  if (answer.truncated) return CUT;
  let value: unknown;
  try {
    value = JSON.parse(answer.body);
  } catch {
    return told(false, 'the body isn’t JSON');
  }
  for (const step of path.split('.').filter(Boolean)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return told(false, `${path} is missing`);
    value = (value as Record<string, unknown>)[step];
  }
  const text = typeof value === 'string' ? value : jsonText(value);
  if (text === undefined) return told(false, 'the value is nested too deeply to be compared');
  return told(text === equals, `got ${text.slice(0, 200)}`);
}

/** Undefined for what is nested more deeply than engines write: they read any depth. */
function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

/** The assertion as a sentence: what it expects. */
export function assertionWords(assertion: Assertion): string {
  switch (assertion.kind) {
    case 'status':
      return `Status is ${assertion.equals}`;
    case 'time':
      return `Responds within ${assertion.at_most_ms} ms`;
    case 'header':
      return `Header ${assertion.name} contains “${assertion.contains}”`;
    case 'body':
      return `Body contains “${assertion.contains}”`;
    case 'json':
      return `${assertion.path} is ${assertion.equals}`;
  }
}
