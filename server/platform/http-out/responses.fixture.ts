import fc from 'fast-check';

// Upstream responses as raw bytes, from valid to hostile. Most are well-formed in all places but one: what is broken in many, every parser refuses.

/** A response as latin1 text, the method of its request, and the offsets at which it is split into writes. */
export type RawResponse = { method: 'GET' | 'HEAD' | 'POST'; text: string; cuts: readonly number[] };

const usually = <T, R = T>(arb: fc.Arbitrary<T>, rarely: fc.Arbitrary<R>, weight = 12) =>
  fc.oneof({ weight, arbitrary: arb }, { weight: 1, arbitrary: rarely });
const one = (...values: string[]) => fc.constantFrom(...values);

const end = usually(fc.constant('\r\n'), one('\n', '\r', '\r\r\n', '\n\r\n', ' \r\n'), 60);
const status = usually(
  one('200', '200', '404', '503', '204', '304'),
  one('101', '199', '299', '600', '999', '99', '1000', '2x0', '000', ''),
);
const version = usually(
  fc.constant('HTTP/1.1'),
  one('HTTP/1.0', 'HTTP/1.2', 'HTTP/2.0', 'HTTP/1.', 'http/1.1', ' HTTP/1.1', 'HTTP/1.1 ', 'ICY'),
);
const reason = usually(one(' OK', ' Not Here', ' '), one('', ' \xe9', ' a\tb', ' a\0b', ' a\rb', '\t', '  two'));
const statusLine = fc.tuple(version, fc.constant(' '), status, reason).map((parts) => parts.join(''));

const plain = fc.tuple(
  one('X-A', 'x-a', 'Set-Cookie', 'Date', 'Content-Type', 'ETag', "!#$%&'*+-.^_`|~9"),
  one('1', 'a b', '', ' \t padded \t ', 'caf\xe9', '"q"', ':::'),
);
const connection = fc.tuple(
  one('Connection', 'connection', 'Proxy-Connection', 'Keep-Alive'),
  one('close', 'keep-alive', 'x, Close', 'Upgrade', 'timeout=5', ','),
);
const oddHeader = one(
  'No-Colon',
  ': no name',
  'Two Words: x',
  'Space-Before : x',
  ' folded: x',
  '\tfolded',
  'Caf\xe9: x',
  'N\0l: x',
  'Nul: a\0b',
  'Bell: a\x07b',
  'Del: a\x7fb',
  'Cr: a\rb',
  'Lf: a\nb',
  '(comment): x',
  `Long: ${'x'.repeat(20_000)}`,
  `Too-Long: ${'x'.repeat(70_000)}`,
  'Upgrade: websocket',
  'Trailer: T',
  'Content-Encoding: gzip',
);
const header = usually(
  fc.oneof({ weight: 4, arbitrary: plain }, connection).map(([name, value]) => `${name}: ${value}`),
  oddHeader,
  25,
);

const text = one('', 'a', 'hello', '0\r\n\r\n', 'HTTP/1.1 200 OK\r\n\r\n', '\r\n', 'x'.repeat(3_000));

/** The header lines that delimit the body, and the body. */
type Framed = { lines: string[]; body: string };
const lengthName = usually(
  fc.constant('Content-Length'),
  one('content-length', 'Content-Length ', 'Content_Length', '\tContent-Length'),
  30,
);
const byLength: fc.Arbitrary<Framed> = fc
  .tuple(
    lengthName,
    text,
    usually(fc.constant('ok'), one('off', 'twice', 'other', 'list', '+', '0', '0x', '-', '', 'junk', 'huge', 'spaces', 'inner'), 4),
  )
  .map(([name, body, how]) => {
    const n = body.length.toString();
    const values: Record<string, string[]> = {
      ok: [n],
      off: [(body.length + 3).toString()],
      twice: [n, n],
      other: [n, (body.length + 1).toString()],
      list: [`${n}, ${n}`],
      '+': [`+${n}`],
      '0': [`00${n}`],
      '0x': [`0x${n}`],
      '-': [`-${n}`],
      '': [''],
      junk: [`${n}x`],
      huge: ['99999999999999999999'],
      spaces: [` \t${n}\t `],
      inner: [`${n} ${n}`],
    };
    return { lines: (values[how] ?? []).map((value) => `${name}: ${value}`), body };
  });

const chunk = fc
  .tuple(
    text.filter((data) => data !== ''),
    usually(fc.constant('ok'), one('upper', 'zeros', 'off', '-', '+', '0x', 'space', 'none', 'huge', 'trailing'), 14),
    usually(
      one('', '', ';a', ';a=b', ';a="b c"', ' ;a'),
      one(';', ' ', '\t', ';a="\r', ';\x00', ';a\nb', `;${'x'.repeat(5_000)}`, 'x', ';caf\xe9'),
    ),
    end,
    usually(fc.constant('\r\n'), one('\n', '', 'x\r\n', '\r', '\r\n\r\n'), 40),
  )
  .map(([data, how, extension, after, close]) => {
    const hex = data.length.toString(16);
    const sizes: Record<string, string> = {
      ok: hex,
      upper: hex.toUpperCase(),
      zeros: `000${hex}`,
      off: (data.length + 1).toString(16),
      '-': `-${hex}`,
      '+': `+${hex}`,
      '0x': `0x${hex}`,
      space: ` ${hex}`,
      none: '',
      huge: 'fffffffffffffffff',
      trailing: `${hex} `,
    };
    return `${sizes[how]}${extension}${after}${data}${close}`;
  });
const last = usually(
  one('0\r\n\r\n', '0\r\nT: 1\r\n\r\n', '0;x\r\n\r\n', '000\r\n\r\n'),
  one(
    '',
    '0\r\n',
    '0\n\n',
    '0\r\nNo-Colon\r\n\r\n',
    '0\r\nA: b\r\n c\r\n\r\n',
    '0\r\nContent-Length: 5\r\n\r\n',
    '0\r\nA: \0\r\n\r\n',
    '0\r\nA : b\r\n\r\n',
    `0\r\nA: ${'x'.repeat(70_000)}\r\n\r\n`,
    '0\r\n\r\nmore',
  ),
  8,
);
const coding = usually(
  one('chunked', 'Chunked', ' chunked\t'),
  one('gzip, chunked', 'chunked, gzip', 'identity', 'chunked;q=1', 'xchunked', 'chunked, chunked', '', 'gzip', '"chunked"', 'chunked\x0b'),
  8,
);
const byChunks: fc.Arbitrary<Framed> = fc
  .tuple(
    usually(fc.constant('Transfer-Encoding'), one('transfer-encoding', 'Transfer-Encoding ', 'Transfer_Encoding'), 30),
    coding,
    usually(
      fc.constant<string[]>([]),
      one('Content-Length: 5', 'Transfer-Encoding: chunked', 'Transfer-Encoding: identity').map((line) => [line]),
      15,
    ),
    fc.array(chunk, { maxLength: 3 }),
    last,
  )
  .map(([name, value, more, chunks, ending]) => ({ lines: [`${name}: ${value}`, ...more], body: chunks.join('') + ending }));
const byClose: fc.Arbitrary<Framed> = text.map((body) => ({ lines: [], body }));

const hint = usually(
  one('', ''),
  one(
    'HTTP/1.1 100 Continue\r\n\r\n',
    'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n',
    'HTTP/1.1 100 X\r\nContent-Length: 5\r\n\r\n',
    'HTTP/1.1 102 X\r\nTransfer-Encoding: chunked\r\n\r\n',
    '\r\n',
    '\n',
    'junk',
  ),
  6,
);

export const rawResponses: fc.Arbitrary<RawResponse> = fc
  .record({
    method: usually(one('GET', 'GET', 'POST'), fc.constant('HEAD'), 6),
    hint,
    start: statusLine,
    framed: fc.oneof({ weight: 3, arbitrary: byLength }, { weight: 4, arbitrary: byChunks }, { weight: 1, arbitrary: byClose }),
    headers: fc.array(header, { maxLength: 4 }),
    at: fc.nat(4),
    ends: fc.array(end, { minLength: 9, maxLength: 9 }),
    surplus: usually(fc.constant(''), one('x', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'), 15),
    keep: usually(fc.constant(1), fc.double({ min: 0, max: 1, noNaN: true }), 8),
    cuts: usually(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 3 }), fc.constant('every' as const), 10),
  })
  .map(({ method, hint, start, framed, headers, at, ends, surplus, keep, cuts }) => {
    const lines = [start, ...headers.slice(0, at), ...framed.lines, ...headers.slice(at)];
    const head = lines.map((line, i) => line + (ends[i] ?? '\r\n')).join('');
    const bodyless = method === 'HEAD' || /^\S+ (?:204|304)/.test(start);
    // Most responses that can't have a body have none.
    const body = bodyless && cuts !== 'every' && at < 4 ? '' : framed.body;
    const whole = hint + head + (ends[8] ?? '\r\n') + body + surplus;
    const text = whole.slice(0, Math.ceil(whole.length * keep));
    const places =
      cuts === 'every' ? (text.length <= 300 ? [...text].map((_, i) => i) : []) : cuts.map((share) => Math.floor(share * text.length));
    return { method: method as RawResponse['method'], text, cuts: [...new Set(places)].filter((place) => place > 0).sort((a, b) => a - b) };
  });
