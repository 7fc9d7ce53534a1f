import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { root } from '../command.ts';
import { median } from './machine.ts';
import { millis, type Row, say, times } from './report.ts';

const SIZE = 100 * 1024;
const ROUNDS = 7;
const MIB = 1024 * 1024;
/** A call is refused at 50 ms per 100 KiB and a quarter of a second. */
const MOST_HOSTILE = 100;
/** What workspaces look for: numbers of their own, names of projects, addresses, phrases. Some match in every text, most in few. */
const PATTERNS = [
  ...['MEM-[0-9]{6}', '\\b[A-Z]{2}[0-9]{7}\\b', '(?i)project (?:apollo|zeus|hera)', '[0-9]{3}-[0-9]{4}-[0-9]{3}', 'INV/[0-9]{4}/[0-9]+'],
  ...[
    '\\bEMP[0-9]{5}\\b',
    '[a-z]+@corp\\.example',
    '(?i)\\bcase (?:no|number)[: ]+[0-9]+',
    '[A-Z0-9]{8}-[A-Z0-9]{4}',
    'acct[_ ]?[0-9]{8,12}',
  ],
  ...[
    '(?i)internal use only',
    '\\bSKU-[A-Z]{3}-[0-9]{4}\\b',
    'https?://intranet\\.[a-z.]+/\\S+',
    '\\$[0-9]+(?:\\.[0-9]{2})?',
    '\\d{2}/\\d{2}/\\d{4}',
  ],
  ...['(?:alpha|beta|gamma|delta)-[0-9]+', '\\bPO[0-9]{6}\\b', '[A-Z][a-z]+ [A-Z][a-z]+ Ltd\\.', '(?i)confidential', '\\w+@\\w+\\.\\w+'],
];
/** The worst that were found for the built-in detectors and rules. */
const HOSTILE = [
  'eyJaaaaaaaaa.',
  'a@a.',
  '4111 1',
  'ssn 123 45 ',
  'a:1',
  '私は東京に住んでいます。',
  'іgnоre all the tool without call ',
  'gb82 west ',
  'token=',
  'mrn 12345 ',
  '3c:22:fb:7a:10:9e ',
  '2606:4700:4700::1111 ',
  '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2 ',
];

/**
 * Processor time of the detectors over 100 KiB of English, code, JSON and hostile text, on one thread; the engines for patterns beside each other
 * (`BENCH_RE2_WASM` names a folder in whose `node_modules` `@adguard/re2-wasm` is); and what 150 long lists of words take.
 */
export async function measureDetectors(): Promise<Row[]> {
  const { scan } = await import('../../server/ai/firewall/scan.ts');
  const { detect } = await import('../../server/ai/pii/detect.ts');
  const { builtInsOnly, compileRules } = await import('../../server/ai/pii/policy.ts');
  const recognizers = PATTERNS.map((pattern, i) => recognizerOf(i, 'regex', pattern));
  const lists = Array.from({ length: 4 }, (_, i) => recognizerOf(i, 'aho_corasick', words(i)));
  const policies = {
    'built-in detectors': { policy: builtInsOnly('tokenize'), target: 20 },
    "and 20 tenants' patterns": { policy: compileRules({ builtIns: 'tokenize', recognizers }), target: 40 },
    'and 4 lists of 256 KiB': { policy: compileRules({ builtIns: 'tokenize', recognizers: lists }), target: 40 },
  };
  const texts = samples();
  const rows = Object.entries(policies).flatMap(([what, { policy, target }]) =>
    rowsOf(what, target, texts, (text) => {
      detect(text, policy);
    }),
  );
  rows.push(
    ...rowsOf('built-in firewall rules', 20, texts, (text) => {
      scan(text, [], 'data');
    }),
  );
  return [...rows, ...(await engines(texts)), await longLists()];
}

const recognizerOf = (i: number, kind: 'regex' | 'aho_corasick', pattern: string) => ({
  ...{ id: `${i}`, name: `own_${i}`, kind, pattern, context_words: [], confidence: 0.85 },
  ...{ action: 'redact' as const, format: null, enabled: true },
});

function words(list: number): string {
  let text = '';
  for (let i = 0; text.length < 256 * 1024 - 40; i++) text += `customer ${list}-${i * 7919} of the list\n`;
  return text;
}

type Texts = Record<'English' | 'code' | 'JSON', string> & { hostile: readonly string[] };

function samples(): Texts {
  const read = (file: string) => fs.readFileSync(path.join(root, file), 'utf8');
  const record = (i: number) =>
    `${JSON.stringify({ id: i * 7919, email: `user${i}@example.com`, phone: '+41 44 668 18 00', iban: 'GB82 WEST 1234 5698 7654 32', at: '2026-11-30T11:22:33Z' })}\n`;
  return {
    English: filled(read('docs/ai-controls.md')),
    code: filled(read('server/ai/pii/session.ts')),
    JSON: filled(Array.from({ length: 1_000 }, (_, i) => record(i)).join('')),
    hostile: HOSTILE.map(filled),
  };
}

const filled = (part: string): string => part.repeat(Math.ceil(SIZE / part.length)).slice(0, SIZE);

function rowsOf(what: string, target: number, { hostile, ...plain }: Texts, work: (text: string) => void): Row[] {
  const figures = Object.entries(plain).map(([name, text]) => ({ name, ms: milliseconds(() => work(text)) }));
  const most = Math.max(...figures.map(({ ms }) => ms));
  const worst = hostile.map((text) => ({ text, ms: milliseconds(() => work(text)) })).reduce((a, b) => (a.ms > b.ms ? a : b));
  return [
    {
      what: `100 KiB: ${what}`,
      measured: figures.map(({ name, ms }) => `${name} ${millis(ms)}`).join(', '),
      against: '',
      value: `at most ${millis(most)}`,
      target: `<= ${target} ms`,
      pass: most <= target,
    },
    {
      what: `100 KiB, hostile: ${what}`,
      measured: `${JSON.stringify(worst.text.slice(0, 12))} is the worst of ${hostile.length}`,
      against: '',
      value: millis(worst.ms),
      target: `<= ${MOST_HOSTILE} ms`,
      pass: worst.ms <= MOST_HOSTILE,
    },
  ];
}

/** Of processor time; the machine's other work doesn't count. */
function milliseconds(work: () => void): number {
  work();
  const taken = Array.from({ length: ROUNDS }, () => {
    let runs = 0;
    const before = process.threadCpuUsage();
    const used = () => {
      const { user, system } = process.threadCpuUsage(before);
      return (user + system) / 1_000;
    };
    // The clock of processor time may go in steps of some milliseconds.
    for (; used() < 40; runs++) work();
    return used() / runs;
  });
  return median(taken);
}

async function engines({ English, JSON: records }: Texts): Promise<Row[]> {
  const folder = process.env.BENCH_RE2_WASM;
  const { linearPattern } = await import('../../server/ai/patterns/linear-pattern.ts');
  const budget = { check() {} };
  const re2js = (pattern: string, text: string) => milliseconds(() => linearPattern(pattern).find(text, 0, budget));
  const patterns = ['MEM-[0-9]{6}', '(?i)internal use only', '\\w+@\\w+\\.\\w+'];
  if (!folder) say('WebAssembly RE2: skipped, BENCH_RE2_WASM names none');
  const wasm = folder ? wasmEngine(folder) : undefined;
  return patterns.flatMap((pattern) =>
    Object.entries({ English, JSON: records }).map(([name, text]) => {
      const ours = re2js(pattern, text);
      const theirs = wasm?.(pattern, text);
      return {
        what: `100 KiB of ${name}: ${pattern}`,
        measured: `re2js ${millis(ours)}`,
        against: theirs === undefined ? 're2-wasm skipped' : `re2-wasm ${millis(theirs)}`,
        value: theirs === undefined ? '' : times(theirs / ours),
        target: '',
        pass: null,
      };
    }),
  );
}

type Wasm = { RE2: new (pattern: string, flags: string) => RegExp };

/** One run: each match copies the whole text into the engine's memory, so that a text with many takes seconds. */
function wasmEngine(folder: string): (pattern: string, text: string) => number {
  const { RE2 } = createRequire(path.join(path.resolve(folder), 'x.js'))('@adguard/re2-wasm') as Wasm;
  return (pattern, text) => {
    const engine = new RE2(pattern.replace('(?i)', ''), pattern.startsWith('(?i)') ? 'gui' : 'gu');
    const before = process.threadCpuUsage();
    for (let match = engine.exec(text); match; match = engine.exec(text)) if (engine.lastIndex >= text.length) break;
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  };
}

async function longLists(): Promise<Row> {
  const { wordLists } = await import('../../server/ai/patterns/word-list.ts');
  const lists = Array.from({ length: 150 }, (_, i) => words(i));
  const before = process.memoryUsage().rss;
  const began = performance.now();
  const { find } = wordLists(lists);
  const ms = performance.now() - began;
  const grown = (process.memoryUsage().rss - before) / MIB;
  const found = find('Customer 149-7919 of the list', 0, { check() {} }).length;
  return {
    what: '150 lists of 256 KiB, compiled',
    measured: `${grown.toFixed(0)} MiB`,
    against: '',
    value: `${millis(ms)} on a thread`,
    target: '<= 300 MiB',
    pass: grown <= 300 && found === 1,
  };
}
