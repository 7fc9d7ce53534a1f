import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PolicySource } from '#server/ai/detectors/job.ts';
import type { Heuristic } from '#server/ai/firewall/policy.ts';
import { type PiiRules, reachOfAll } from '#server/ai/pii/policy.ts';
import { type Recognizer, reachOf } from '#server/ai/pii/recognizer.ts';
import { contentFingerprint } from '#server/crypto/canonical-json.ts';

/** By what threads know rules, and how far they reach. */
export type NamedRules = { key: string; reach: number };

const named = new WeakMap<PiiRules, Promise<NamedRules>>();
const contents = new WeakMap<Recognizer, { digest: string; reach: number }>();

/** A key of the content of rules, so that equal ones are compiled once. Long lists are read in several turns of the loop, once a version of the rules. */
export function nameOf(rules: PiiRules): Promise<NamedRules> {
  const made = named.get(rules) ?? make(rules);
  named.set(rules, made);
  return made;
}

async function make({ builtIns, recognizers }: PiiRules): Promise<NamedRules> {
  const yields = turns();
  const all = [];
  for (const recognizer of recognizers) {
    const { pattern, id, name, kind, context_words, confidence, action, format } = recognizer;
    const content = contents.get(recognizer) ?? { digest: contentFingerprint(pattern), reach: reachOf(recognizer) };
    contents.set(recognizer, content);
    all.push({ ...content, rest: [id, name, kind, context_words, confidence, action, format] });
    await yields(pattern.length);
  }
  const key = contentFingerprint([builtIns, all.map(({ digest, rest }) => [digest, rest])]);
  return { key, reach: reachOfAll(all.map(({ reach }) => reach)) };
}

const sources = new WeakMap<PiiRules, Promise<PolicySource>>();

/** The rules as a thread takes them: all calls of a start hand over the same memory. */
export function sourceOf(rules: PiiRules): Promise<PolicySource> {
  const made = sources.get(rules) ?? handedOver(rules);
  sources.set(rules, made);
  return made;
}

async function handedOver({ builtIns, recognizers }: PiiRules): Promise<PolicySource> {
  const yields = turns();
  const source: PolicySource['recognizers'] = [];
  for (const recognizer of recognizers) {
    source.push({ ...recognizer, pattern: shared(recognizer.pattern) });
    await yields(recognizer.pattern.length);
  }
  return { builtIns, recognizers: source };
}

const firewalls = new WeakMap<readonly Heuristic[], string>();
export function keyOf(heuristics: readonly Heuristic[]): string {
  const key = firewalls.get(heuristics) ?? contentFingerprint(heuristics);
  firewalls.set(heuristics, key);
  return key;
}

function shared(pattern: string): string | SharedArrayBuffer {
  if (pattern.length < SHORT) return pattern;
  const memory = new SharedArrayBuffer(Buffer.byteLength(pattern));
  Buffer.from(memory).write(pattern);
  return memory;
}

/** Lets the loop go on after so much was read; a short pattern takes its time, too. */
function turns(): (characters: number) => Promise<void> {
  let read = 0;
  return async (characters) => {
    read += characters + SHORT;
    if (read < A_TURN) return;
    read = 0;
    await nextTurn();
  };
}

const SHORT = 4 * 1024;
const A_TURN = 256 * 1024;
