import { invalid } from '#server/kernel/errors.ts';

/** The records of a file as RFC 4180 has them; lines may end in LF alone. Empty lines are skipped. @throws Refusal validation_error for an open quote */
export function* csvRecords(text: string): Generator<string[], undefined> {
  let at = text.startsWith('\ufeff') ? 1 : 0;
  let record: string[] = [];
  while (at < text.length) {
    let cell = '';
    if (text[at] === '"') {
      for (;;) {
        const quote = text.indexOf('"', at + 1);
        if (quote === -1) throw invalid('content', 'has a quoted cell that never ends');
        cell += text.slice(at + 1, quote);
        at = quote + 1;
        if (text[at] !== '"') break;
        cell += '"';
      }
    }
    const end = endOfCell(text, at);
    cell += text.slice(at, end);
    record.push(cell);
    at = end;
    if (text[at] === ',') {
      at++;
      if (at === text.length) record.push('');
      continue;
    }
    at += text.startsWith('\r\n', at) ? 2 : 1;
    if (record.length > 1 || record[0] !== '') yield record;
    record = [];
  }
  if (record.length > 0) yield record;
}

function endOfCell(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (character === ',' || character === '\n' || (character === '\r' && text[at + 1] === '\n')) return at;
  }
  return text.length;
}
