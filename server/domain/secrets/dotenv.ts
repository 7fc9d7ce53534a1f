export type DotenvEntry = { line: number; name: string; value: string };
export type DotenvFault = { line: number; name: string | null; reason: string };

/**
 * Reads the text of a .env file: `NAME=value`, optional `export`, comments, '…' taken literally, "…" with \n \r \t \\ \" \$ escapes, both over
 * several lines. Nothing is expanded. Faults name a line and never quote it: a broken line is often half a secret.
 */
export function parseDotenv(text: string): { entries: DotenvEntry[]; faults: DotenvFault[] } {
  const entries: DotenvEntry[] = [];
  const faults: DotenvFault[] = [];
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/);
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] ?? '';
    if (/^\s*(#|$)/.test(line)) continue;
    const head = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_.-]*)\s*=[ \t]*/.exec(line);
    const name = head?.[1];
    if (!head || name === undefined) {
      faults.push({ line: i + 1, name: null, reason: 'must be NAME=value' });
      continue;
    }
    const start = i;
    const quote = line[head[0].length];
    if (quote !== '"' && quote !== "'") {
      const rest = line.slice(head[0].length);
      const comment = rest.search(/(?:^|\s)#/);
      entries.push({ line: i + 1, name, value: (comment < 0 ? rest : rest.slice(0, comment)).trim() });
      continue;
    }
    let last = line.slice(head[0].length + 1);
    const inner: string[] = [];
    let end = closing(last, quote);
    while (end < 0 && i + 1 < lines.length) {
      i++;
      inner.push(last);
      last = lines[i] ?? '';
      end = closing(last, quote);
    }
    if (end < 0) {
      faults.push({ line: start + 1, name, reason: `has no closing ${quote}` });
      i = start;
      continue;
    }
    const value = [...inner, last.slice(0, end)].join('\n');
    if (!/^\s*(?:#|$)/.test(last.slice(end + 1))) faults.push({ line: start + 1, name, reason: `has text after the closing ${quote}` });
    else entries.push({ line: start + 1, name, value: quote === "'" ? value : unescaped(value) });
  }
  return { entries, faults };
}

/** Line by line: looking at the whole text again after each line would take minutes for a file with one quote too few. */
function closing(text: string, quote: string): number {
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\' && quote === '"') i++;
    else if (text[i] === quote) return i;
  }
  return -1;
}

const ESCAPES: Record<string, string> = { n: '\n', r: '\r', t: '\t' };
/** Unknown escapes stay as written: a Windows path in quotes must survive. */
const unescaped = (text: string) => text.replace(/\\([nrt\\"$])/g, (_, c: string) => ESCAPES[c] ?? c);
