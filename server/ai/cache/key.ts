import { canonicalJson } from '#server/crypto/canonical-json.ts';
import { digest } from '#server/crypto/tokens.ts';
import type { JsonObject } from '../json.ts';
import type { Adapter } from '../shapes/adapter.ts';

/** Everything beside the body that an answer depends on. */
export type CachedCall = {
  tenant_id: string;
  sandbox: boolean;
  agent_id: string;
  /** Of the agent's settings and of where its calls go: another one makes another cache. */
  config: string;
  shape: string;
  operation: string;
  endpoint: string;
  /** The one that is called. */
  model: string;
  /** For whom the answer is, where an agent's answers aren't everybody's; null: for all callers. */
  caller: Caller | null;
  /** Of the caller's headers, those that change answers. */
  headers: Readonly<Record<string, string>>;
};

/** A user whom the token names, whichever token it was, or a token and the user that it says the call is for. */
export type Caller = { readonly signed: string } | { readonly token: string; readonly user: string | null };

/** Members that say how an answer is sent, kept or billed, and not what it is. `model` is what the caller calls it; the one that is called stands beside. */
const LEFT_OUT = new Set(['model', 'stream', 'stream_options', 'store', 'service_tier']);
/** Members that say who asks: left out where answers are everybody's. */
const OF_CALLER = new Set(['user', 'metadata']);

const VERSION = 2;

/** What an answer may be found again by (interface rule 51 §7.7), 32 bytes. @throws TypeError for a body that has no canonical form */
export const exactKey = (call: CachedCall, body: JsonObject): Buffer =>
  digest(
    canonicalJson(
      {
        v: VERSION,
        ...call,
        body: Object.fromEntries(
          Object.entries(body).filter(([name]) => !LEFT_OUT.has(name) && (call.caller !== null || !OF_CALLER.has(name))),
        ),
      },
      'exact',
    ),
  );

/** A question whose answer may serve others of the same meaning. */
export type Question = {
  readonly text: string;
  /** What two questions must share: all of the call but the question itself. */
  readonly scope: Buffer;
};

/** The last message when it is the user's; undefined when something else was said after it. The body is as before when this returns. */
export function questionOf(call: CachedCall, adapter: Adapter, body: JsonObject): Question | undefined {
  const last = adapter.texts(body).findLast(({ role }) => role !== 'metadata' && role !== 'system');
  if (last?.role !== 'user' || last.text.trim() === '') return undefined;
  const { text } = last;
  last.set('');
  try {
    return { text, scope: exactKey(call, body) };
  } finally {
    last.set(text);
  }
}

/** Of two vectors of one length; 0 when they can't be compared. */
export function cosine(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length || a.length === 0) return 0;
  let dot = 0;
  let left = 0;
  let right = 0;
  for (let i = 0; i < a.length; i++) {
    const x = a[i] as number;
    const y = b[i] as number;
    dot += x * y;
    left += x * x;
    right += y * y;
  }
  return left === 0 || right === 0 ? 0 : dot / Math.sqrt(left * right);
}
