import fs from 'node:fs';
import { parse } from '@babel/parser';
import type { Node } from '@babel/types';
import { filesUnder } from './command.ts';

// node scripts/expressions.ts           fails if a regular expression in server/ can take more than linear time (ReDoS)
// node scripts/expressions.ts <files>   looks at these files instead
// node scripts/expressions.ts --record  takes as long as it needs and writes the list of expressions found linear
//
// The analyser's JavaScript engine runs everywhere but is slow, hence the list. It reads these variables when it is loaded.
process.env.RECHECK_BACKEND = process.env.RECHECK_SYNC_BACKEND = 'pure';
const { checkSync } = await import('recheck');

type Expression = { pattern: string; flags: string; place: string };

/** Expressions found linear, as `/pattern/flags`; they aren't analyzed again. */
const LIST = 'scripts/linear-expressions.txt';
/** Files that may build expressions at run time, with the reason why no caller can make them slow. */
const COMPUTED: Readonly<Record<string, string>> = {
  'server/kernel/credential-patterns.ts': 'alternatives of the literals above it, each of which is analyzed',
  'server/crypto/password-policy.ts': 'a list of words, on passwords of limited length',
  'server/domain/templates/grammar.ts': 'a copy of a literal, which is analyzed',
  'server/web/routes.ts': 'the names of folders in app/, with at most one repetition of any character',
  'server/testing/from-schema.ts': 'patterns of our own OpenAPI document, in tests',
};
const MAX_COUNT = 2;

const record = process.argv.includes('--record');
const linear = new Set(fs.existsSync(LIST) ? fs.readFileSync(LIST, 'utf8').split('\n').filter(Boolean) : []);
const given = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const files = (given.length > 0 ? given : filesUnder('server')).filter(
  (file) => file.endsWith('.ts') && !/\.(?:test|fixture)\.ts$/.test(file),
);
const found = new Map<string, Expression[]>();
const problems: string[] = [];
for (const file of files) readExpressions(file);
for (const [text, places] of found) if (!linear.has(text)) judge(text, places[0] as Expression, places);
if (record)
  fs.writeFileSync(
    LIST,
    `${[...linear]
      .filter((text) => found.has(text))
      .sort()
      .join('\n')}\n`,
  );
for (const problem of problems) console.log(problem);
process.exit(problems.length === 0 ? 0 : 1);

function readExpressions(file: string): void {
  const { program } = parse(fs.readFileSync(file, 'utf8'), { sourceType: 'module', plugins: ['typescript'], errorRecovery: false });
  visit(program, (node) => {
    const place = `${file}:${node.loc?.start.line}`;
    if (node.type === 'RegExpLiteral') add(node.pattern, node.flags, place);
    if ((node.type !== 'NewExpression' && node.type !== 'CallExpression') || node.callee.type !== 'Identifier') return;
    if (node.callee.name !== 'RegExp') return;
    const [pattern, flags] = node.arguments;
    if (pattern?.type === 'StringLiteral' && (!flags || flags.type === 'StringLiteral')) add(pattern.value, flags?.value ?? '', place);
    else if (!(file in COMPUTED)) problems.push(`${place}: write the expression as a literal so that it can be analyzed`);
  });
}

function visit(node: Node, see: (node: Node) => void): void {
  see(node);
  for (const value of Object.values(node))
    for (const child of Array.isArray(value) ? value : [value])
      if (child && typeof child === 'object' && typeof child.type === 'string' && 'loc' in child) visit(child as Node, see);
}

function add(pattern: string, flags: string, place: string): void {
  const text = `/${pattern.replaceAll('\n', '\\n')}/${flags}`;
  found.set(text, [...(found.get(text) ?? []), { pattern, flags, place }]);
}

function judge(text: string, { pattern, flags }: Expression, places: Expression[]): void {
  const result = checkSync(withSmallCounts(pattern), flags, {
    timeout: record ? 180_000 : 10_000,
    attackLimit: 100_000,
    incubationLimit: 3_000,
  });
  const where = `${places.map(({ place }) => place).join(', ')}: ${text}`;
  if (result.status === 'safe') linear.add(text);
  else if (result.status === 'vulnerable')
    problems.push(`${where} takes ${result.complexity.summary} time, for example on ${result.attack.pattern}`);
  else problems.push(`${where} was not analyzed (${result.error.kind}). Simplify it, or run npm run check -- --fix, which takes longer`);
}

/** `[a-z]{1,64}` as `[a-z]{1,2}`: a count changes how long an expression takes, not how that grows, and large ones make the analysis very slow. */
function withSmallCounts(pattern: string): string {
  return pattern.replace(/\\.|\[(?:\\.|[^\]\\])*\]|\{(\d+)(?:(,)(\d*))?\}/gs, (whole, least?: string, comma?: string, most?: string) => {
    if (least === undefined) return whole;
    const small = (count: string) => Math.min(Number(count), MAX_COUNT);
    return `{${small(least)}${comma ?? ''}${most ? small(most) : ''}}`;
  });
}
