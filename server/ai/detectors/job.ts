import type { ConversationKey } from '#server/crypto/pii-keys.ts';
import type { Heuristic } from '../firewall/policy.ts';
import type { Hit, Source } from '../firewall/scan.ts';
import type { Recognizer } from '../pii/recognizer.ts';
import type { Channel, PiiModes } from '../pii/session.ts';
import type { Shown } from '../pii/shown.ts';
import type { PiiAction } from '../pii/span.ts';
import type { StreamState } from '../pii/text-stream.ts';
import type { TokenEntry } from '../pii/tokens.ts';

// What a thread is asked to do with texts, and what it answers. Rules and tokens are named by a key and sent when the thread doesn't know them.

/** A part that a thread keeps. */
export type Known<T> = { key: string; source?: T };
/** Long patterns are shared memory in UTF-8, so that handing them over copies nothing. */
export type PolicySource = { builtIns: PiiAction; recognizers: (Omit<Recognizer, 'pattern'> & { pattern: string | SharedArrayBuffer })[] };

export type PiiJob = {
  job: 'pii';
  policy: Known<PolicySource>;
  tokens: Known<{ conversation: ConversationKey; entries: readonly TokenEntry[] }>;
  modes: PiiModes;
  work:
    | { on: 'request' | 'answer' | 'running'; texts: readonly string[] }
    | { on: 'stream'; channel: Channel; state: StreamState | undefined; text: string; ends: boolean };
};
export type PiiDone = {
  /** Undefined where a text stays as it is. */
  texts: (string | undefined)[];
  state: StreamState | undefined;
  /** Characters that a stream holds back. */
  held: number;
  /** Tokens that were made. */
  added: TokenEntry[];
  requestCounts: [string, number][];
  answerCounts: [string, number][];
};

export type ScanJob = { job: 'scan'; rules: Known<readonly Heuristic[]>; texts: readonly { text: string; source: Source }[] };
/** Each text under its own budget of time. */
export type ScanEachJob = Omit<ScanJob, 'job'> & { job: 'scan_each' };
export type ShowJob = { job: 'show'; policy: Known<PolicySource>; text: string };
/** Whether the service can run it, and whether it is narrow enough for what it does. */
export type CheckJob =
  | { job: 'check'; recognizer: Omit<Recognizer, 'id' | 'enabled'> }
  | { job: 'check'; heuristics: readonly Heuristic[] };

/** Cuts markers of the system prompt out of texts. */
export type CanaryJob = { job: 'canary'; texts: readonly string[]; codes: readonly string[] };
export type CanaryDone = { texts: (string | undefined)[]; leaked: boolean };

export type Job = PiiJob | ScanJob | ScanEachJob | ShowJob | CheckJob | CanaryJob;
/** A problem that was found, and the heuristic that has it. */
export type Problem = { kind: 'unsupported' | 'whitelist'; message: string; index: number };

export type Outcome<T> =
  | { value: T }
  /** The thread doesn't know the rules or the tokens: ask again and send them. */
  | { missing: true }
  | { problem: 'budget_exceeded' | 'held_too_long' | 'unsupported_pattern'; message: string };

export type Done<J extends Job> = J extends PiiJob
  ? PiiDone
  : J extends ScanJob
    ? Hit[][]
    : J extends ScanEachJob
      ? (Hit[] | null)[]
      : J extends ShowJob
        ? Shown
        : J extends CanaryJob
          ? CanaryDone
          : Problem | null;
