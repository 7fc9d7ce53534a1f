export type Language = 'bash' | 'javascript' | 'python' | 'json' | 'http' | 'text';
export type Token = { text: string; kind: 'plain' | 'key' | 'string' | 'number' | 'word' | 'comment' };

/**
 * Splits short snippets into coloured pieces. It knows strings, numbers, comments and a handful of words, nothing more: enough to read a
 * twenty-line example, cheap enough for the client bundle. The pieces joined are always exactly the input.
 */
export function highlight(code: string, language: Language): Token[] {
  const rules = grammar[language];
  if (!rules) return [{ text: code, kind: 'plain' }];
  const pattern = new RegExp(rules.map(([, source]) => `(${source})`).join('|'), 'gm');
  const tokens: Token[] = [];
  let at = 0;
  for (const match of code.matchAll(pattern)) {
    if (match[0] === '') continue;
    if (match.index > at) tokens.push({ text: code.slice(at, match.index), kind: 'plain' });
    const which = match.slice(1).findIndex((group) => group !== undefined);
    tokens.push({ text: match[0], kind: rules[which]?.[0] ?? 'plain' });
    at = match.index + match[0].length;
  }
  if (at < code.length) tokens.push({ text: code.slice(at), kind: 'plain' });
  return tokens;
}

type Rule = [kind: Token['kind'], source: string];

const double = '"(?:[^"\\\\\\n]|\\\\.)*"';
const single = "'(?:[^'\\\\\\n]|\\\\.)*'";
const number = '\\b\\d+(?:\\.\\d+)?(?:[eE][+-]?\\d+)?\\b';

// Every alternative is linear: no nested repetition, so that a long line cannot stall the page. Groups inside are non-capturing by need.
const grammar: Partial<Record<Language, Rule[]>> = {
  json: [
    ['key', `${double}(?=\\s*:)`],
    ['string', double],
    ['number', `-?${number}`],
    ['word', '\\b(?:true|false|null)\\b'],
  ],
  bash: [
    ['comment', '(?:^|(?<=\\s))#.*$'],
    ['string', `${double}|'[^']*'`],
    ['key', '(?:^|(?<=\\s))--?[A-Za-z][\\w-]*'],
    ['word', '^(?:curl|npm|npx|node|export|export|docker|sallyport)\\b|\\$\\{?\\w+\\}?'],
  ],
  javascript: [
    ['comment', '//.*$'],
    ['string', `${double}|${single}|\`[^\`]*\``],
    ['word', '\\b(?:const|let|await|async|import|from|new|return|function|if|for|of|export|true|false|null|undefined)\\b'],
    ['number', number],
    ['key', '\\b\\w+(?=\\s*:(?!:))'],
  ],
  python: [
    ['comment', '#.*$'],
    ['string', `${double}|${single}`],
    ['word', '\\b(?:import|from|as|def|return|with|for|in|if|else|print|True|False|None|await|async)\\b'],
    ['number', number],
    ['key', '\\b\\w+(?==(?!=))'],
  ],
  http: [
    ['word', '^(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|HTTP/[\\d.]+)\\b'],
    ['key', '^[A-Za-z][\\w-]*(?=:)'],
    ['string', double],
    ['number', number],
  ],
};
