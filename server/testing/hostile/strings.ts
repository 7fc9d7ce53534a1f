/**
 * Texts that have broken other services, each with the reason it is here. Built from parts where a reader could not tell the characters apart.
 * Nothing here is a credential; `{{secret:X}}` names a secret that nobody has.
 */
const at = (...points: number[]) => String.fromCodePoint(...points);

/** What databases, JSON and HTTP trip over: every one of these goes into every field. */
export const HARSH: readonly string[] = [
  '',
  ' ',
  '\t\n',
  at(0), // NUL, which neither text nor jsonb can hold
  `before${at(0)}after`,
  '\\u0000',
  at(0xd800), // a high surrogate alone: no UTF-8 exists for it
  `a${at(0xdc00)}b`,
  at(0xde00, 0xd83d), // a pair the wrong way round
  at(0xfeff), // byte order mark
  at(0xfffe, 0xffff), // noncharacters
  at(0xfffd),
  at(0x200b), // zero width space alone: looks like nothing
  at(0x1f, 0x7f, 0x80, 0x9f), // controls of both sets
  'line\r\nX-Injected: 1',
  'x'.repeat(65_537),
  at(0x1f600).repeat(300),
  '__proto__',
  'constructor',
  '{{secret:X}}',
];

/** Everything else: each field gets a share of it, and all fields of an operation together get all of it. */
export const NAUGHTY: readonly string[] = [
  // Values of other types, as text
  ...['undefined', 'null', 'NULL', 'nil', 'true', 'false', 'NaN', 'Infinity', '-Infinity', '0', '-0', '-1', '00', '1e309', '0x10', '1_000'],
  ...['9007199254740993', '-9223372036854775809', '340282366920938463463374607431768211456', '1.7976931348623157e309', '1,5', '1.', '٣'],
  ...['{}', '[]', '{"a":1}', '"', "'", '\\', '\\"', '`', '%', '%00', '%s%n', '%zz', '$', '#', '&', ';', '|', '<', '>', '?', '*', '/', '//'],
  // Members every object has
  ...['prototype', 'toString', 'hasOwnProperty', '__defineGetter__', 'then', 'length', 'valueOf', 'toJSON'],
  // Queries
  ...[
    "' OR '1'='1",
    "'; DROP TABLE routes; --",
    '1; SELECT pg_sleep(5)',
    "\\'; SELECT 1 --",
    '$1',
    '::uuid',
    '%_%',
    'a\\_b%',
    '$$; select 1; $$',
  ],
  ...['{"$gt":""}', '*)(uid=*))(|(uid=*', '\\copy', "E'\\\\'"],
  // Markup and scripts
  ...[
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    '<!--',
    ']]>',
    '&lt;b&gt;',
    '</title>',
    'javascript:alert(1)',
    '<svg/onload=alert(1)>',
  ],
  // Templates, ours and those of others
  ...[
    '{{',
    '}}',
    '{{secret:',
    '{{ secret:X }}',
    '{{secret:X}}{{secret:X}}',
    '{{secret:{{secret:X}}}}',
    '{{var:X}}',
    '{{a}}',
    `$${'{7*7}'}`,
    '#{7*7}',
  ],
  ...['<%= 7*7 %>', '{%raw%}', '$(id)', '`id`', `$${'{jndi:ldap://127.0.0.1/a}'}`, '{{constructor.constructor("return this")()}}'],
  // Names of files and machines
  ...[
    '../../etc/passwd',
    '..\\..\\windows',
    '/dev/null',
    'C:\\CON',
    'file:///etc/passwd',
    '-rf',
    '~',
    '.',
    '..',
    'localhost',
    '127.0.0.1',
    '::1',
  ],
  // Formulas of spreadsheets and mail headers
  ...['=1+1', '@SUM(A1)', '+1', '-1+1', '=cmd|" /C calc"!A0', 'a\nBcc: x@example.com', 'x@example.com,y@example.com'],
  // Letters that change when they are folded, normalised or measured
  'ß',
  'İ',
  'ǰ',
  'ﬀ', // one letter that becomes two
  'e\u0301',
  '\u00e9', // the same letter, composed and not
  'ﷺ',
  '\u212b', // ångström sign, another spelling of Å
  'ＡＢＣ１２３',
  '①②⑦.⓪.⓪.①',
  'раypal', // Cyrillic among Latin
  '田中さんにあげて下さい',
  '사회과학원',
  'הָיְתָהtestالصفحات',
  `${at(0x202e)}drowssap`, // written from right to left
  `${at(0x2066)}isolated${at(0x2069)}`,
  `zero${at(0x200d)}width${at(0x2060)}joined${at(0x00ad)}`,
  at(0x2028) + at(0x2029), // line ends in JavaScript, not in JSON
  `${at(0x00a0)}nbsp${at(0x3000)}`, // spaces that trim() takes
  at(0x0e0041, 0x0e0042), // tags, invisible
  at(0x1f469, 0x200d, 0x1f467) + at(0x1f3fb) + at(0x1f1e9, 0x1f1ea),
  `Z${at(0x0351).repeat(60)}`, // stacked marks
  at(0x10ffff),
  at(0xf8ff),
  'a'.repeat(101),
  '日'.repeat(64),
  `${'a/'.repeat(40)}a`,
];
