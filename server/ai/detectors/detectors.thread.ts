import { withoutCanary } from '../firewall/canary.ts';
import { type CompiledHeuristic, compileHeuristic, type Heuristic } from '../firewall/policy.ts';
import { type Hit, scan, scanEach } from '../firewall/scan.ts';
import { BudgetExceeded, budgetFor } from '../patterns/budget.ts';
import { UnsupportedPattern } from '../patterns/compile.ts';
import { type CompiledPolicy, compileRules } from '../pii/policy.ts';
import { compileRecognizers } from '../pii/recognizer.ts';
import { piiSession } from '../pii/session.ts';
import { shownMatches } from '../pii/shown.ts';
import { HeldTooLong } from '../pii/text-stream.ts';
import { createTokenizer, type Tokenizer } from '../pii/tokenizer.ts';
import { whitelistProblem } from '../pii/whitelist.ts';
import type {
  CanaryDone,
  CanaryJob,
  CheckJob,
  Job,
  Known,
  Outcome,
  PiiDone,
  PiiJob,
  PolicySource,
  Problem,
  ScanEachJob,
  ScanJob,
} from './job.ts';
import { kept } from './kept.ts';

/** Runs a job. What refuses the call is answered, since errors lose their class on the way. */
export function run(job: Job): Outcome<unknown> {
  try {
    if (job.job === 'check') return { value: check(job) };
    if (job.job === 'canary') return { value: withoutMarkers(job) };
    if (job.job === 'scan' || job.job === 'scan_each') return scanned(job);
    const policy = policyOf(job.policy);
    if (!policy) return { missing: true };
    return job.job === 'show' ? { value: shownMatches(job.text, policy) } : pii(job, policy);
  } catch (error) {
    if (error instanceof BudgetExceeded) return { problem: 'budget_exceeded', message: error.message };
    if (error instanceof HeldTooLong) return { problem: 'held_too_long', message: error.message };
    if (error instanceof UnsupportedPattern) return { problem: 'unsupported_pattern', message: error.message };
    throw error;
  }
}

// One compiled form for all calls and agents whose rules are the same, by characters of their patterns and by number.
const policies = kept<CompiledPolicy>(64 * 1024 * 1024, 500);
const firewalls = kept<CompiledHeuristic[]>(8 * 1024 * 1024, 500);
// They hold what callers sent: the windows of a stream follow each other within moments, and none outlives its call by more than a minute.
const tokenizers = kept<Tokenizer>(100_000, 200, 30_000);

function policyOf({ key, source }: Known<PolicySource>): CompiledPolicy | undefined {
  const known = policies.get(key);
  if (known || !source) return known;
  const recognizers = source.recognizers.map((one) => ({
    ...one,
    pattern: typeof one.pattern === 'string' ? one.pattern : Buffer.from(one.pattern).toString('utf8'),
  }));
  const characters = recognizers.reduce((sum, { pattern }) => sum + pattern.length, 0);
  return policies.set(key, compileRules({ ...source, recognizers }), characters);
}

function pii({ tokens, modes, work }: PiiJob, policy: CompiledPolicy): Outcome<PiiDone> {
  const { source } = tokens;
  const tokenizer = tokenizers.get(tokens.key) ?? (source && createTokenizer(source.conversation, source.entries));
  if (!tokenizer) return { missing: true };
  // What a refused request added must not be known to the next one.
  if (work.on === 'request') tokenizers.delete(tokens.key);
  const before = tokenizer.size;
  const session = piiSession({ ...modes, policy, tokenizer });
  const { texts, state, held } =
    work.on === 'stream' ? streamed(session, work) : { texts: session[work.on](work.texts), state: undefined, held: 0 };
  const added = tokenizer.size > before ? tokenizer.entries().slice(before) : [];
  // Answers add none, so that the windows of a stream find them here.
  if (added.length === 0) tokenizers.set(tokens.key, tokenizer, tokenizer.size);
  return {
    value: {
      texts: work.on === 'stream' ? texts : texts.map((text, i) => (text === work.texts[i] ? undefined : text)),
      state,
      held,
      added,
      requestCounts: [...session.requestCounts],
      answerCounts: [...session.answerCounts],
    },
  };
}

function streamed(session: ReturnType<typeof piiSession>, { channel, state, text, ends }: PiiJob['work'] & { on: 'stream' }) {
  const stream = session.stream(channel, state);
  const passed = stream.push(text) + (ends ? stream.flush() : '');
  return { texts: [passed], state: stream.state(), held: stream.held };
}

function scanned({ job, rules: { key, source }, texts }: ScanJob | ScanEachJob): Outcome<(Hit[] | null)[]> {
  const known = firewalls.get(key);
  if (!known && !source) return { missing: true };
  const heuristics = known ?? firewalls.set(key, (source as readonly Heuristic[]).map(compileHeuristic), sizeOf(source));
  if (job === 'scan_each') return { value: scanEach(texts, heuristics) };
  const budget = budgetFor(2 * texts.reduce((sum, { text }) => sum + text.length, 0));
  return { value: texts.map(({ text, source }) => scan(text, heuristics, source, budget)) };
}

const sizeOf = (heuristics: readonly Heuristic[] = []): number => heuristics.reduce((sum, { pattern }) => sum + pattern.length, 100);

function withoutMarkers({ texts, codes }: CanaryJob): CanaryDone {
  const cut = texts.map((text) => withoutCanary(text, codes));
  return { texts: cut.map(({ text, leaked }) => (leaked ? text : undefined)), leaked: cut.some(({ leaked }) => leaked) };
}

function check(job: CheckJob): Problem | null {
  if ('recognizer' in job) {
    const problem = unsupported(() => compileRecognizers([{ ...job.recognizer, id: '' }]));
    if (problem !== undefined) return { kind: 'unsupported', message: problem, index: 0 };
    const wide = job.recognizer.action === 'whitelist' ? whitelistProblem(job.recognizer) : undefined;
    return wide === undefined ? null : { kind: 'whitelist', message: wide, index: 0 };
  }
  for (const [index, heuristic] of job.heuristics.entries()) {
    const message = unsupported(() => compileHeuristic(heuristic));
    if (message !== undefined) return { kind: 'unsupported', message, index };
  }
  return null;
}

function unsupported(compile: () => unknown): string | undefined {
  try {
    compile();
    return undefined;
  } catch (error) {
    if (error instanceof UnsupportedPattern) return error.message;
    throw error;
  }
}
