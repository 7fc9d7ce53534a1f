/**
 * An upper bound of the UTF-16 length of what an RE2 pattern matches; Infinity when nothing bounds it, or when the pattern has something this reader
 * doesn't know. The pattern has compiled, so only lengths matter here.
 */
export function longestMatch(source: string): number {
  const reader = { source, at: 0, depth: 0 };
  const length = alternatives(reader);
  return reader.at < source.length ? Number.POSITIVE_INFINITY : length;
}

type Reader = { source: string; at: number; depth: number };

function alternatives(reader: Reader): number {
  let longest = 0;
  let sequence = 0;
  while (reader.at < reader.source.length) {
    const character = reader.source[reader.at];
    if (character === ')' && reader.depth > 0) break;
    if (character === '|') {
      longest = Math.max(longest, sequence);
      sequence = 0;
      reader.at++;
    } else sequence += repeated(reader, atom(reader));
  }
  return Math.max(longest, sequence);
}

function atom(reader: Reader): number {
  const { source } = reader;
  const character = source[reader.at++];
  if (character === '^' || character === '$') return 0;
  if (character === '[') return characterClass(reader);
  if (character === '\\') return escaped(reader);
  if (character === '(') return group(reader);
  // `.` matches a code point, which is two units above the basic plane.
  if (character === '.') return 2;
  const code = source.codePointAt(reader.at - 1) ?? 0;
  if (code > 0xffff) reader.at++;
  return code > 0xffff ? 2 : 1;
}

function group(reader: Reader): number {
  const head = /^\?(?:P?<[^>]*>|[a-zA-Z-]*:|[a-zA-Z-]*(?=\)))/.exec(reader.source.slice(reader.at, reader.at + 300));
  reader.at += head?.[0].length ?? 0;
  reader.depth++;
  const length = alternatives(reader);
  reader.depth--;
  if (reader.source[reader.at] !== ')') return Number.POSITIVE_INFINITY;
  reader.at++;
  return length;
}

/** A class matches one code point: one unit when all of its members are ASCII. */
function characterClass(reader: Reader): number {
  const { source } = reader;
  const from = reader.at;
  if (source[reader.at] === '^') reader.at++;
  if (source[reader.at] === ']') reader.at++;
  while (reader.at < source.length && source[reader.at] !== ']') {
    if (source.startsWith('[:', reader.at)) {
      const end = source.indexOf(':]', reader.at);
      reader.at = end === -1 ? reader.at + 1 : end + 2;
    } else reader.at += source[reader.at] === '\\' ? 2 : 1;
  }
  reader.at++;
  return ASCII_CLASS.test(source.slice(from, reader.at)) ? 1 : 2;
}
const ASCII_CLASS = /^(?:[\x20-\x5b\x5d\x5f-\x7e]|\\[dwsnrtfv.+*?()|[\]{}^$\\/-])(?:[\x20-\x5b\x5d-\x7e]|\\[dwsnrtfv.+*?()|[\]{}^$\\/-])*$/;

function escaped(reader: Reader): number {
  const { source } = reader;
  const kind = source[reader.at++] ?? '';
  if (/[bBAzZ]/.test(kind)) return 0;
  if (kind === 'p' || kind === 'P' || kind === 'x' || kind === 'u') {
    if (source[reader.at] === '{') {
      const end = source.indexOf('}', reader.at);
      reader.at = end === -1 ? source.length : end + 1;
    } else reader.at += kind === 'x' ? 2 : kind === 'u' ? 4 : 1;
    return 2;
  }
  if (kind === 'Q') return quoted(reader);
  if (kind >= '0' && kind <= '7') {
    while (/[0-7]/.test(source[reader.at] ?? '')) reader.at++;
    return 1;
  }
  return /[DWSC]/.test(kind) ? 2 : 1;
}

function quoted(reader: Reader): number {
  const end = reader.source.indexOf('\\E', reader.at);
  const stop = end === -1 ? reader.source.length : end;
  const length = stop - reader.at;
  reader.at = end === -1 ? stop : end + 2;
  return length;
}

function repeated(reader: Reader, length: number): number {
  let total = length;
  for (;;) {
    const count = /^(?:[*+?]|\{(\d{1,5})(,?)(\d{0,5})\})/.exec(reader.source.slice(reader.at, reader.at + 20));
    if (!count) return total;
    reader.at += count[0].length;
    if (count[0] === '*' || count[0] === '+') total = total === 0 ? 0 : Number.POSITIVE_INFINITY;
    else if (count[0] !== '?') {
      const most = count[2] && !count[3] ? Number.POSITIVE_INFINITY : Number(count[3] || count[1]);
      total = total === 0 || most === 0 ? 0 : total * most;
    }
  }
}
