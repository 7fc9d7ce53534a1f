import type { IncomingMessage } from 'node:http';
import test from 'node:test';
import { parseJsonObject } from '#server/api/input.ts';
import { matchV1, operations } from '#server/api/operations.ts';
import { parseEd25519, parseThumbprint, readClientCertificate } from '#server/crypto/client-credentials.ts';
import { redactor } from '#server/custody/redaction/redaction.ts';
import { families } from '#server/domain/families.ts';
import { nothingTaken } from '#server/domain/import/credentials.ts';
import { proposeFromCurl } from '#server/domain/import/from-curl.ts';
import { proposalOf } from '#server/domain/import/from-openapi.ts';
import { OPENAPI_LENGTH } from '#server/domain/import/limits.shared.ts';
import { email } from '#server/domain/people/schema.ts';
import { actionsLike, resourceActionsLike } from '#server/domain/search/searchable.ts';
import { mistyped } from '#server/domain/search/typing-errors.ts';
import { parseDotenv } from '#server/domain/secrets/dotenv.ts';
import { canonicalHostPin } from '#server/domain/secrets/hosts.ts';
import { parseTemplate } from '#server/domain/templates/grammar.ts';
import { requestOrigin } from '#server/gateway/core/client-address.ts';
import { planeOf } from '#server/gateway/core/hosts.ts';
import { loggedPath } from '#server/gateway/core/log/logged-path.ts';
import { holdsOurs, ourAuthorization } from '#server/gateway/core/presented-credential.ts';
import { nominatedBy } from '#server/gateway/core/upstream-headers.ts';
import { detectLoop } from '#server/gateway/route/phases/detect-loop.ts';
import { inspect } from '#server/gateway/route/phases/inspect.ts';
import type { RouteCall } from '#server/gateway/route/route-call.ts';
import { injectBody } from '#server/gateway/templates/body-inject.ts';
import { type Scannable, scanBody } from '#server/gateway/templates/body-scan.ts';
import { replacePairs } from '#server/gateway/templates/render.ts';
import { shownAnswer } from '#server/gateway/templates/shown-body.ts';
import { parseRange } from '#server/kernel/address.ts';
import { redactCredentials } from '#server/kernel/credential-patterns.ts';
import { withoutDashboardCookies } from '#server/kernel/dashboard-cookies.ts';
import { masked, sanitiseDetails } from '#server/kernel/sanitise.ts';
import { atOnce } from '#server/kernel/slices.ts';
import { slugOfName } from '#server/kernel/slug.ts';
import { codingFor } from '#server/platform/content-coding.ts';
import { parseNetworks } from '#server/platform/http-out/networks.ts';
import { ResponseParser } from '#server/platform/http-out/response-parser.ts';
import { egressSettings } from '#server/platform/http-out/settings.ts';
import { parseTarget } from '#server/platform/http-out/target-url.ts';
import { scrub } from '#server/platform/log.ts';
import { assertGrowsLinearly } from '#server/testing/growth.ts';
import { THOROUGH } from '#server/testing/thorough.ts';

// What strangers, callers and upstreams write is read on the event loop that serves everyone. Each parser gets a megabyte, or as much as its caller
// lets through, of the text that it is slowest on.

type Parser = {
  read: (text: string) => unknown;
  /** Characters at most, when the parser is never given a megabyte. */
  most?: number;
  /** What stands around the repeated piece. */
  around?: readonly (readonly [before: string, behind: string])[];
};

const MEGABYTE = 1_000_000;
const MOST_HEADER = 32 * 1024;
/** Characters that every text is tried with, and the slowest text of a parser. */
const [SAMPLE, LONGEST] = THOROUGH ? [16_384, MEGABYTE] : [1_024, 16 * 1024];

const PIECES = [
  ...' \t,;=&%#/:.@-_0aA<([{}])?!*+|~$\\"\'`\n\u2028\ufffdé',
  ...['%5D', '%zz', '{{', '{{ ', '{a}', '}}', '{{var:', '{{secret:a}}', '${', '${a}', "$'", ' #', '\t#', '\r\n', '\n\n', '#\t'],
  ...['=a', '&a=', 'a=1&', 'A=1\n', 'A="\n', "A='\n", '\\"', '\\\\', '<(', '[?', '://', 'a://', 'a:b@', '/../', '/.', '..', '=?', ';q=1,'],
  ...[
    ' svc-gateway',
    ',1.1 svc-gateway',
    'svc_',
    '; domain=',
    'boundary=',
    '--x\r\n',
    'a-b.',
    'a@',
    '1.',
    'f:',
    '::',
    '-H a:b ',
    '--url-query a ',
  ],
  ...[
    'eyJ',
    'eyJaaaaaaaa.',
    '-----BEGIN PRIVATE KEY-----',
    '-----BEGIN ',
    'sk-',
    'AKE',
    'AKIA',
    'ghp_',
    'whsec_',
    'Bearer ',
    'authorization:',
  ],
  ...['rotate ', 'set value ', '{"a":', '[', '"a":1,', '\\u0041', '&#65;', '=3D', '4242', 'QUFB', '6161', '{}}{{}}{'],
];

const hosts = {
  apiUrl: 'https://api.example.com',
  sandboxUrl: 'https://sandbox.example.com',
  adminUrl: 'https://admin.example.com',
  hooksUrl: 'https://hooks.example.com',
  baseHost: 'example.com',
  pathMode: true,
};
const trusted = parseNetworks(['127.0.0.0/8', '10.0.0.0/8']);
const redact = redactor(new Map([['TOKEN', 'hunter2-hunter2-hunter2']]));
const settings = egressSettings();
const request = (headers: Record<string, string>) => ({ headers, socket: { remoteAddress: '127.0.0.1' } }) as unknown as IncomingMessage;
const scanned = (kind: Scannable): Parser => ({
  read: (text) => atOnce(scanBody(Buffer.from(text), kind, 'multipart/form-data; boundary=x')),
  around: [
    ['{{', ''],
    ['--x\r\n\r\n{{', '\r\n--x--'],
  ],
});
const described = (document: object) => proposalOf(JSON.stringify({ openapi: '3.1.0', ...document }), nothingTaken);

const PARSERS: Record<string, Parser> = {
  'the query in the log': { read: (text) => loggedPath('/x', text), around: [['key&', 'a=1']] },
  'the path in the log': { read: (text) => loggedPath(`/${text}`, null) },
  'the path of a call': {
    read: (target) => inspect({ target: `/r/${target}`, method: 'GET', req: { rawHeaders: [] }, state: {} } as unknown as RouteCall),
  },
  'the path of a mounted tenant': {
    read: (text) => planeOf({ portPlane: 'api', host: 'api.example.com', target: `/p/${text}` }, hosts),
  },
  'the path of an operation': { read: (text) => matchV1('GET', `/v1/${text}`) },
  'a Host header': { read: (host) => planeOf({ portPlane: null, host, target: '/' }, hosts) },
  Via: { read: (via) => detectLoop({ via, state: {} } as unknown as RouteCall), around: [['', ' svc-gateway']] },
  Connection: { read: nominatedBy },
  Cookie: { read: (text) => withoutDashboardCookies(`svc_session=1;${text}`) },
  Authorization: { read: (text) => [ourAuthorization(text), holdsOurs(text)], around: [['Bearer ', '']] },
  'Accept-Encoding': { read: codingFor },
  'X-Forwarded-For': { read: (text) => requestOrigin(request({ 'x-forwarded-for': text }), trusted), around: [['1.2.3.4', ',10.0.0.1']] },
  'a Content-Type': {
    read: (text) => atOnce(scanBody(Buffer.from('{{'), 'multipart', `multipart/form-data${text}`)),
    around: [[';', '"']],
  },
  'a template': { read: (text) => parseTemplate(text) },
  'a JSON body with placeholders': scanned('json'),
  'a form body with placeholders': scanned('form'),
  'a text body with placeholders': scanned('text'),
  'a multipart body with placeholders': scanned('multipart'),
  'a JSON body that values go into': {
    read: (text) => atOnce(injectBody(Buffer.from(text), 'application/json', { a: { b: 1 } })),
    around: [['{"a":{"b":"', '"}}']],
  },
  'a form body that values go into': { read: (text) => atOnce(replacePairs(text, new Set(['a']), [['b', '1']])) },
  'a body of the management API': { read: (text) => attempt(() => parseJsonObject(Buffer.from(`{"a":${text}}`))), around: [['"', '"']] },
  'an answer whose secrets are masked': { read: (text) => redact(Buffer.from(text)) },
  'the answer to a test': {
    read: (text) => shownAnswer({ bytes: Buffer.from(text), fields: () => 'text/plain', status: 200, cut: true, redact: null }),
    around: [['', '\u00ff']],
  },
  'the head of an answer': {
    read: (text) => {
      const parser = new ResponseParser({ onHead: () => {}, onData: () => {} });
      parser.begin('GET', false);
      attempt(() => parser.push(Buffer.from(`HTTP/1.1 200 OK\r\n${text}\r\n\r\n`)));
    },
    around: [
      ['a:', ''],
      ['keep-alive: ', ''],
    ],
  },
  'text that may hold credentials': { read: redactCredentials },
  'a line of the log': { read: scrub },
  'details of an audit entry': { read: (text) => sanitiseDetails({ a: text, [text]: 1 }) },
  'a recorded call': { read: (text) => masked({ token: text, [text]: text }, new Set()), around: [['{{', '}}:!']] },
  'a name that becomes a slug': { read: (text) => slugOfName(text, 63) },
  'a search': {
    read: (text) => [mistyped(text.slice(0, 100), 'create route'), actionsLike(text, families), resourceActionsLike(text, families)],
  },
  'an address range': { read: parseRange },
  'a host pin': { read: canonicalHostPin },
  'a target URL': { read: (text) => parseTarget(`https://${text}`, settings), most: 2_048, around: [['{', ':]']] },
  'an e-mail address': { read: (text) => email().safeParse(text), around: [['a@', '.']] },
  'a client certificate': {
    read: (text) => readClientCertificate(text),
    around: [
      ['-----BEGIN CERTIFICATE-----', ''],
      ['-----BEGIN CERTIFICATE-----', '-----END CERTIFICATE-----'],
    ],
  },
  'a public key': { read: (text) => [parseEd25519(text), parseThumbprint(text)] },
  'a .env file': {
    read: parseDotenv,
    around: [
      ['A=x', '\u2028'],
      ['A="', ''],
      ['A=x\n', '"'],
    ],
  },
  'a curl command': {
    read: (text) => proposeFromCurl(`curl https://a.example.com/${text}`),
    most: 64 * 1024,
    around: [
      [' ', ''],
      ['?', ''],
      [" -H 'a: ", "'"],
    ],
  },
  'the servers of an OpenAPI description': {
    read: (text) =>
      described({
        servers: [
          { url: `https://a.example.com/${text}` },
          ...[1, 2, 3, 4, 5, 6].map(() => ({ url: 'https://{a}{a}{a}{a}{a}{a}{a}{a}', variables: { a: { default: text } } })),
        ],
      }),
    most: OPENAPI_LENGTH / 8,
  },
  'the names in an OpenAPI description': {
    read: (text) =>
      described({
        info: { title: text },
        servers: [{ url: 'https://a.example.com' }],
        components: { securitySchemes: { a: { type: 'apiKey', in: 'header', name: text }, [text]: { $ref: `#/${text}` } } },
        paths: { [`/${text}`]: { get: { summary: text } } },
      }),
    most: OPENAPI_LENGTH / 8,
  },
};
for (const name of [
  'Via',
  'Connection',
  'Cookie',
  'Authorization',
  'Accept-Encoding',
  'X-Forwarded-For',
  'a Content-Type',
  'a Host header',
])
  (PARSERS[name] as Parser).most = MOST_HEADER;

function attempt(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

const written = (before: string, piece: string, behind: string) => (length: number) =>
  `${before}${piece.repeat(Math.ceil(length / piece.length))}${behind}`;

for (const [name, { read, most = MEGABYTE, around = [] }] of Object.entries(PARSERS))
  test(`${name} is read in linear time`, async () => {
    const texts = PIECES.flatMap((piece) =>
      [['', ''], ['a', 'a'], ...around].map(([before = '', behind = '']) => written(before, piece, behind)),
    );
    for (const textOf of texts) await assertGrowsLinearly(textOf(20), Math.min(most, SAMPLE), textOf, read);
    // The slowest one once more, and longer.
    const costs = texts.map((textOf) => ({ textOf, ms: cost(read, textOf(SAMPLE)) }));
    const [slowest] = costs.sort((a, b) => b.ms - a.ms);
    if (slowest && most > SAMPLE) await assertGrowsLinearly(slowest.textOf(20), Math.min(most, LONGEST), slowest.textOf, read);
  });

function cost(read: (text: string) => unknown, text: string): number {
  const began = performance.now();
  read(text);
  return performance.now() - began;
}

test('no field of any operation is checked in more than linear time', async () => {
  for (const op of operations) {
    const { shape } = op.input as { shape?: Record<string, unknown> };
    const names = Object.keys(shape ?? {});
    const input = (textOf: (length: number) => string) => (length: number) => {
      const text = textOf(length);
      return Object.fromEntries(names.map((name) => [name, text]));
    };
    for (const piece of ['a', '.', 'a@', '-', ' ', '{{', 'f:', '/'])
      await assertGrowsLinearly(`${op.id} ${piece}`, SAMPLE, input(written('', piece, '!')), (given) => op.input.safeParse(given));
  }
});
