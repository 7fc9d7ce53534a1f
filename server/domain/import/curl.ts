import { parse } from 'shell-quote';

/** What a curl command says, before anything is judged. */
export type CurlCall = {
  url: string;
  method: string;
  headers: { name: string; value: string }[];
  /** The body as curl sends it; with -G it was moved into the query of `url`. */
  body?: string;
  /** The options of a body that only curl can build: a form, or a file of the caller's machine. */
  bodyOptions?: string[];
  /** `user:password` of -u. */
  user?: string;
  warnings: string[];
};
export type CurlParsed = { ok: true; call: CurlCall } | { ok: false; problem: string };

/** Options followed by a value; every other option is a switch. */
const WITH_VALUE = new Map(
  Object.entries({
    '-X': '--request',
    '-H': '--header',
    '-d': '--data',
    '-F': '--form',
    '-u': '--user',
    '-b': '--cookie',
    '-A': '--user-agent',
    '-e': '--referer',
    '-o': '--output',
    '-m': '--max-time',
    '-w': '--write-out',
    '-c': '--cookie-jar',
    '-x': '--proxy',
    '-E': '--cert',
    '-T': '--upload-file',
    '-r': '--range',
    '-K': '--config',
    '-D': '--dump-header',
  }),
);
const LONG_WITH_VALUE = new Set([
  ...WITH_VALUE.values(),
  ...'--data-raw --data-ascii --data-binary --data-urlencode --json --url --oauth2-bearer --connect-timeout --retry --retry-delay --retry-max-time --cacert --capath --key --cert-type --key-type --resolve --connect-to --interface --form-string --proxy-user --noproxy --aws-sigv4 --ciphers --limit-rate --max-redirs --proto --tls-max --url-query --pass --unix-socket --trace --trace-ascii --stderr'.split(
    ' ',
  ),
]);
const SWITCHES = { '-G': '--get', '-I': '--head', '-k': '--insecure' } as const;

/**
 * Reads one curl command as a POSIX shell would split it: quoting, $'…', line continuations (also those of cmd.exe and PowerShell).
 * Variables stay as `${NAME}`; what comes after the command (a pipe, a second command) is left out.
 */
export function parseCurl(text: string): CurlParsed {
  const joined = text
    .trim()
    .replace(/[\\^`][ \t]*\r?\n/g, ' ')
    .replace(/^\$\s+/, '');
  const warnings: string[] = [];
  if (hasOpenQuote(joined)) return { ok: false, problem: 'has an unclosed quote' };
  const words = wordsOf(joined, warnings);
  if (!words) return { ok: false, problem: 'has an unclosed or empty ${}' };
  if (!/^(?:.*\/)?curl(?:\.exe)?$/.test(words[0] ?? '')) return { ok: false, problem: 'must start with curl' };
  const said = new Map<string, string[]>();
  const data: Data[] = [];
  const urls: string[] = [];
  const say = (option: string, value = '') => {
    if (BODY_OPTION.test(option)) data.push({ option, value });
    const values = said.get(option);
    if (values) values.push(value);
    else said.set(option, [value]);
  };
  for (let i = 1; i < words.length; i++) {
    const word = words[i] as string; // below length
    if (word === '--next') {
      warnings.push('Only the first request was imported.');
      break;
    }
    if (word.startsWith('--') && word.length > 2) {
      const [option, inline] = /^(--[^=]+)=([\s\S]*)$/.exec(word)?.slice(1) ?? [word];
      if (LONG_WITH_VALUE.has(option as string)) say(option as string, inline ?? words[++i]);
      else say(option as string);
    } else if (word.startsWith('-') && word.length > 1 && word !== '--') {
      // Short switches may stand together, the last one may take a value: -sSXPOST, -sX POST.
      for (let at = 1; at < word.length; at++) {
        const option = `-${word[at]}`;
        const long = WITH_VALUE.get(option);
        if (!long) {
          say(SWITCHES[option as '-G'] ?? option);
          continue;
        }
        say(long, word.slice(at + 1) || words[++i]);
        break;
      }
    } else if (word !== '--') urls.push(word);
  }
  const url = [...(said.get('--url') ?? []), ...urls][0];
  if (!url) return { ok: false, problem: 'has no URL' };
  if (urls.length + (said.get('--url')?.length ?? 0) > 1) warnings.push('Only the first URL was imported.');
  const call = callOf(url, said, data, warnings);
  // The method stands in the code that is shown of the call.
  return METHOD.test(call.method) ? { ok: true, call } : { ok: false, problem: 'has a method that isn’t a word' };
}

const METHOD = /^[A-Z][A-Z_-]{0,31}$/;

/** The words of the first command; undefined when a variable is malformed. */
function wordsOf(text: string, warnings: string[]): string[] | undefined {
  const words: string[] = [];
  const entries = shellEntries(text);
  if (!entries) return undefined;
  let cut = 0; // the number of words when the last one was a URL in pieces
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i] as (typeof entries)[number]; // below length
    const next = entries[i + 1];
    if (typeof entry === 'string') words.push(entry);
    else if ('pattern' in entry) words.push(entry.pattern);
    else if ('comment' in entry) break;
    else if (
      entry.op === '&' &&
      typeof next === 'string' &&
      /^[\w.[\]-]+=/.test(next) &&
      (cut === words.length || isUrlWithQuery(words.at(-1)))
    ) {
      // An unquoted URL: the shell would cut it here, which the person did not mean.
      if (cut !== words.length) warnings.push('Quote the URL: an unquoted & ends the command in a shell.');
      cut = words.length;
      words[cut - 1] += `&${next}`;
      i++;
    } else {
      warnings.push('Everything after the command, such as a pipe or a redirect, was left out.');
      break;
    }
  }
  return words;
}

/** The package throws on a malformed `${`, and its message quotes the command with every credential in it. */
function shellEntries(text: string) {
  try {
    return parse(text, (name) => `\${${name}}`);
  } catch {
    return undefined;
  }
}

const isUrlWithQuery = (word: string | undefined) => /^https?:\/\/[^\s?]*\?/.test(word ?? '');

/** The parser reads on past a missing quote; a cut-off paste is better refused than half understood. */
function hasOpenQuote(text: string): boolean {
  let quote = '';
  for (let i = 0; i < text.length; i++) {
    const c = text[i] as string; // below length
    if (c === '\\' && quote !== "'") i++;
    else if (quote === '') {
      if (c === '#' && (i === 0 || /\s/.test(text[i - 1] ?? ''))) i = (text.indexOf('\n', i) + 1 || text.length + 1) - 1;
      else if (c === "'" && text[i - 1] === '$') quote = "$'";
      else if (c === "'" || c === '"') quote = c;
    } else if (c === quote || (quote === "$'" && c === "'")) quote = '';
  }
  return quote !== '';
}

type Data = { option: string; value: string };
const BODY_OPTION = /^--(?:data(?:-raw|-ascii|-binary|-urlencode)?|json|form(?:-string)?|upload-file)$/;

function callOf(url: string, said: Map<string, string[]>, data: readonly Data[], warnings: string[]): CurlCall {
  const all = (...options: string[]) => options.flatMap((o) => said.get(o) ?? []);
  const headers = all('--header').flatMap(headerOf);
  for (const [option, name] of [
    ['--user-agent', 'User-Agent'],
    ['--referer', 'Referer'],
    ['--cookie', 'Cookie'],
  ] as const)
    for (const value of all(option)) {
      if (name === 'Cookie' && !value.includes('=')) warnings.push('Cookie files can’t be read here, so their cookies were left out.');
      else headers.push({ name, value });
    }
  for (const token of all('--oauth2-bearer')) headers.push({ name: 'Authorization', value: `Bearer ${token}` });
  if (said.has('--insecure')) warnings.push('The command skips certificate checks (-k). Routes always verify the upstream certificate.');
  if (said.has('--cert') || said.has('--key'))
    warnings.push('The client certificate was left out because routes don’t support client certificates yet.');
  if (said.has('--proxy')) warnings.push('The proxy was left out.');
  if (said.has('--aws-sigv4')) warnings.push('The AWS signature was left out because signed AWS requests can’t be imported.');
  const moved = said.has('--get') && data.length > 0;
  const inQuery = moved ? data.filter((one) => !readsFile(one)) : [];
  if (moved && inQuery.length < data.length) warnings.push('Query parameters that come from files were left out.');
  const method =
    all('--request').at(-1)?.toUpperCase() ??
    (said.has('--head') ? 'HEAD' : said.has('--upload-file') ? 'PUT' : data.length > 0 && !moved ? 'POST' : 'GET');
  const user = all('--user').at(-1);
  return {
    url: withQuery(url, [textOf(inQuery), ...all('--url-query').map(queryPart)].filter(Boolean).join('&')),
    method,
    headers: data.length > 0 && !moved ? withContentType(headers, data) : headers,
    ...(data.length === 0 || moved ? {} : data.some(readsFile) ? { bodyOptions: optionsOf(data) } : { body: textOf(data) }),
    ...(user === undefined ? {} : { user }),
    warnings,
  };
}

/** Forms are built by curl, and only the caller's machine can read its files. */
const readsFile = ({ option, value }: Data): boolean => {
  if (/^--(?:form|upload)/.test(option)) return true;
  if (option === '--data-urlencode') return /^[^=@]*@/.test(value);
  return option !== '--data-raw' && value.startsWith('@');
};
const optionsOf = (data: readonly Data[]): string[] => data.flatMap(({ option, value }) => [option, value]);

/** Parts are joined by &, those of --json follow each other directly (curl(1)). */
const textOf = (data: readonly Data[]): string =>
  data
    .map(
      (one, i) => `${i === 0 || one.option === '--json' ? '' : '&'}${one.option === '--data-urlencode' ? encoded(one.value) : one.value}`,
    )
    .join('');

/** What --data-urlencode takes: `content`, `=content` or `name=content`. */
function encoded(part: string): string {
  const at = part.indexOf('=');
  const content = encodeURIComponent(part.slice(at + 1).toWellFormed());
  return at > 0 ? `${part.slice(0, at)}=${content}` : content;
}
const queryPart = (part: string): string => (part.startsWith('+') ? part.slice(1) : encoded(part));

/** The headers that curl adds to a body when the command names none. */
function withContentType(headers: CurlCall['headers'], data: readonly Data[]): CurlCall['headers'] {
  const named = new Set(headers.map(({ name }) => name.toLowerCase()));
  const json = data.some(({ option }) => option === '--json');
  const added = json
    ? { 'Content-Type': 'application/json', Accept: 'application/json' }
    : data.some(({ option }) => option.startsWith('--data'))
      ? { 'Content-Type': 'application/x-www-form-urlencoded' }
      : {};
  return [...headers, ...Object.entries(added).flatMap(([name, value]) => (named.has(name.toLowerCase()) ? [] : [{ name, value }]))];
}
const withQuery = (url: string, query: string) => (query === '' ? url : `${url}${url.includes('?') ? '&' : '?'}${query}`);

/** `Name: value`; `Name;` is an empty header and `Name:` removes one, neither of which matters here. */
function headerOf(line: string): { name: string; value: string }[] {
  const at = line.indexOf(':');
  const value = line.slice(at + 1).trim();
  return at > 0 && value !== '' ? [{ name: line.slice(0, at).trim(), value }] : [];
}
