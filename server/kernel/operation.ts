import { z } from 'zod';
import { type ActionScope, isByVerb, type StepUpRule } from './action-scopes.ts';
import type { AuditEntry } from './audit-entry.ts';
import type { Capability } from './capabilities.ts';
import type { Ctx } from './context.ts';
import type { Tx } from './database.ts';
import type { ErrorType } from './errors.ts';
import type { Family } from './family.ts';
import type { Feature } from './features.ts';
import type { Moves } from './moves.ts';
import type { Needs, PersonNeeds, WorkspaceNeeds } from './needs.ts';
import type { Page } from './page.ts';
import type { PersonCtx, SignedInCtx } from './person.ts';
import { type RawBody, textOf } from './raw-body.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * What a call does, which decides how every plane treats it:
 * - `read` changes nothing. No audit entry, no announcement to the gateways; allowed while a subscription is inactive.
 * - `change` changes rows. It is audited and takes an idempotency key.
 * - `mint` is a change that answers with a credential shown only once: its stored answer is sealed under the idempotency key's text too.
 * - `use` works with keys or vaults (encrypt, sign, tokenize): nothing that gateways serve from changes. It takes an idempotency key, its stored answer is
 *   sealed like that of a mint, and its audit entry is written by `server/custody/uses.ts`, not by `mutate`.
 * - `reveal` answers with a stored secret in plaintext: only to a person who passes the gate of interface rule 32, and never batched, recorded, cached,
 *   compressed or stored for replay.
 */
export type Kind = 'read' | 'change' | 'mint' | 'use' | 'reveal';

/** Whether a call of this kind may change what the gateways serve. */
export const isChange = ({ kind }: { kind: Kind }): boolean => kind === 'change' || kind === 'mint';

/** Whether a call is work that a workspace whose subscription ended can't do: reading and revealing what it has stays possible. */
export const isWork = (op: { kind: Kind }): boolean => isChange(op) || op.kind === 'use';

/** Whether an answer may hold a secret of its caller, so that its stored form opens only with the text of the idempotency key (interface rule 01 §7.9). */
export const isSealedTwice = (kind: Kind): boolean => kind === 'mint' || kind === 'use';

/** Whether a client may repeat a call safely with an idempotency key (interface rule 01 §7.1); sign-up has no credential to keep the key under. */
export const takesIdempotencyKey = ({ kind, needs, http }: AnyOperation): boolean =>
  kind !== 'read' && needs !== 'anonymous' && needs !== 'client_token' && !http.startsWith('GET ');

export type Success = 200 | 201 | 202;
/** One status, or `among` which the answer decides: a pending claim is 202, a collected one 200. `result` is what `run` handed back. */
export type Succeeds<Output> = Success | { among: readonly Success[]; of: (output: Output, result?: Record<string, unknown>) => Success };
type Succeeding<Output> = { success?: Succeeds<Output> };

/** Every status a successful answer of an operation can have. */
export const successesOf = ({ success = 200 }: Succeeding<never>): readonly Success[] =>
  typeof success === 'object' ? success.among : [success];

/** The status of one answer. */
export const statusOf = <Output>({ success = 200 }: Succeeding<Output>, output: Output, result?: Record<string, unknown>): Success =>
  typeof success === 'object' ? success.of(output, result) : success;

/**
 * Whether a person needs a sign-in of the last 12 hours for an operation: a session of any age must not become a credential that outlives it. One that
 * asks for a confirmation in every case needs none, and neither does one that says why.
 */
export const takesRecentSignIn = ({ kind, needs, step_up, any_session, trusts }: AnyOperation | AnyPersonOperation): boolean =>
  (kind === 'mint' || trusts === true) &&
  needs !== 'anonymous' &&
  needs !== 'client_token' &&
  needs !== 'visitor' &&
  (step_up === undefined || isByVerb(step_up)) &&
  (any_session === undefined || any_session.when !== undefined);

/** A keyset feed page (interface rule 01 §6.2). */
export type Feed<T> = { rows: T[]; meta: Record<string, unknown> };

/**
 * One thing the service can do: a REST route, a tRPC procedure, an OpenAPI operation, a row of the scope matrix and of every derived test.
 * Data, but for `run`. `input` is path parameters, query and body merged (path wins).
 * `kind`, `needs` and the method are literal types, from which the tRPC routers derive (server/trpc/router-of.ts).
 */
export type Operation<
  I extends z.ZodType = z.ZodType,
  O extends z.ZodType = z.ZodType,
  K extends Kind = Kind,
  N extends Needs = WorkspaceNeeds,
  M extends Method = Method,
> = {
  /** `<family>.<verb>`, also the span name. */
  id: string;
  summary: string;
  /**
   * Path relative to /v1, or absolute for the dashboard plane (`/admin/...`, `/auth/...`). A row of the dashboard may end in `?include=details`: it
   * answers calls with that query parameter, and the row of the plain path all others.
   */
  http: `${M} /${string}`;
  kind: K;
  needs: N;
  /** An operation of /v1 that people may also call at the same path below /admin, or at this one: the answer is bare, as everywhere on the dashboard plane. */
  mirrored?: true | `${Method} /admin/${string}`;
  /**
   * The verb works on a server of the customer, between transactions of its own. Under an idempotency key no transaction is open meanwhile: what was done
   * by a process that died before it answered is not told to the retry, which does it again.
   */
  outside?: true;
  /** A use that leaves something behind. A call that may be over its rate limit is web's, which counts before it runs. */
  stores?: true;
  /** What a person must confirm before the change, with `step_up_required` and `mfa_required` as further refusals. Its verb uses the verification up. */
  step_up?: StepUpRule<z.output<I>>;
  /** Of a mint: why a session of any age may call it, or those calls that `when` names. Absent: `takesRecentSignIn`. */
  any_session?: { why: string; when?: (input: z.output<I>) => boolean };
  /** The change makes tokens of an issuer outside valid here: a credential that nobody is shown, so it takes the sign-in of a mint. */
  trusts?: true;
  /** The edit may change where a stored credential is sent; its verb calls `confirmMove` and its step_up names credential.move. */
  moves?: Moves;
  /**
   * Of a row that needs a session: what one may do that only a workspace's identity provider vouched for (interface rule 22 §3.3). `workspace`: the verb keeps to
   * that workspace. `proof`: the call proves the account itself by its password, a second factor or a mailed code, or is a step of that. Absent: refused.
   */
  vouched?: 'workspace' | 'proof';
  /** The plan feature that the workspace must have; without it the call is refused as `plan_feature`. In Test it may be tried (interface rule 64 §4). */
  feature?: Feature;
  /** API keys presented directly are refused as `use_oauth`: only access tokens, and people, may call it (interface rule 20 §1.8). */
  oauth_only?: true;
  /** A change that stays possible in a workspace whose subscription ended (interface rule 20 §5): paying, leaving, revoking. */
  while_inactive?: true;
  /** Error types beyond those of the pipeline (validation_error included there); a refusal not listed fails the tests. */
  refuses: readonly ErrorType[];
  input: I;
  output: O;
  /** Status of success; 200 when absent. */
  success?: Succeeds<z.output<O>>;
  /** What `run` hands back may have a `warning`: on /v1 it stands beside data and meta (interface rule 01 §3), in a procedure's answer among its warnings. */
  advises?: true;
  /** Absent: one resource. */
  list?: 'paged' | 'whole' | 'feed';
  /** The members of a row that a list shows to callers who see names only (`seesNamesOnly`); the rest is left out. */
  names?: readonly string[];
  /**
   * An edit of one row that the dashboard guards with `expected_updated_at`: how to lock that row, and the operation that shows what it is now.
   * Only people's calls carry the field; /v1 has no such check (interface rule 70 §3.5).
   */
  edits?: { row: (tx: Tx, ctx: Ctx, input: z.output<I>) => Promise<{ updated_at: Date }>; shown_by: AnyOperation };
  /** What the gate asks before `run`, which then only decrypts. Every row of kind `reveal` has it, and no other. */
  reveal?: Reveal<z.output<I>>;
  /** The answer is this raw body instead of JSON (exports); `run` gives the same as text to callers that cannot stream. */
  stream?: (ctx: Ctx, input: z.output<I>) => Promise<RawBody>;
  /** With `stream`: the media type of a document that is no secret, such as a certificate. Reading one is no disclosure and leaves no audit entry. */
  media?: string;
  /** With `stream`: which calls it answers, by what they sent. The others get JSON. Absent: every call. */
  streams?: (raw: Record<string, unknown>) => boolean;
  /** The body of a person's call is no JSON but at most so many bytes, which `input` has as `bytes`. `admit` refuses before one of them is read. */
  takes?: { bytes: number; admit: (ctx: SignedInCtx) => Promise<unknown> };
  /**
   * How a JSON body is read. `limit`: bytes, where it isn't 1 MiB; the front door knows wider paths too (`WIDER` in `front-door/surface.ts`). `source`:
   * `input` has these members as `JsonText`, the text that was sent, and the answer may have such texts.
   */
  body?: { limit?: number; source?: readonly string[] };
  /** Cache-Control of a plain success that holds nothing secret; otherwise nothing is cached. */
  cache?: string;
  /**
   * The entity tag of a plain success of /v1: a request whose If-None-Match has it is answered with 304 and no body.
   */
  etag?: (output: z.output<O>) => string;
  /** Which objects the call is about shows only while it runs: `run` asks the tenant policies that are narrowed to single ones. */
  asks_policies?: true;
  /** A browser is sent to the `location` of the output; a refusal goes to the sign-in page of a browser, and stays JSON for everybody else. */
  redirects?: true;
  /** The body is a form that a page of another site posts. Such a call must not trust any cookie. */
  foreignForm?: true;
  /** The output of a person's call is the answer itself, with its own headers, and no JSON. */
  raw?: true;
  /** `families` is every descriptor of the product, for the few operations that work over all of them (search, reset of Test). */
  run: (ctx: CtxOf<N>, input: z.output<I>, families: readonly Family[]) => Promise<Result<O>>;
};

/** What interface rule 32 §2 fixes for a reveal. `server/api/reveal.ts` goes through the steps of its §4 in order; none of these decrypts anything. */
export type Reveal<Input> = {
  /** `A`: Owner, Admin, and Editors with Reveal secrets. `B`: Owner and Admin only. */
  class: 'A' | 'B';
  scope: ActionScope;
  /** A tenant policy that denies it refuses everybody, Owners included. */
  policy: Capability;
  /** Step 2: the revealed resource, as its audit entry names it. @throws Refusal not_found */
  subject: (ctx: Ctx, input: Input) => Promise<RevealSubject>;
  /** Step 5b: its state allows the reveal. Returns further details of the audit entry. @throws Refusal with the row's own errors */
  state?: (ctx: Ctx, input: Input) => Promise<Record<string, unknown>>;
  /** What it leaves in the critical chain, in the same transaction. */
  critical?: (ctx: Ctx, input: Input, state: Record<string, unknown>) => readonly CriticalEntry[];
  /** Whether only people with migration_reviewer pass (interface rule 35 §3). */
  reviewers?: true;
  /** Entries that the operation leaves besides, in the same transaction; `state` is what the step before returned. */
  also?: (ctx: Ctx, input: Input, state: Record<string, unknown>) => readonly AuditEntry[];
  /** What else commits with the audit entry, such as that of the workspace which shares the secret. A failure reveals nothing. */
  beside?: (tx: Tx, ctx: Ctx, input: Input, granted: AuditEntry) => Promise<void>;
  /** The ordinary row that answers a call which shows nothing withheld; null when this call is a reveal. */
  unguarded?: (ctx: Ctx, input: Input) => Promise<AnyOperation | null>;
};
/** An entry of the critical chain, whose closed lists `server/domain/audit-logs` has. */
export type CriticalEntry = { action: string; resource_type: string; resource_id: string; details?: Record<string, unknown> };
export type RevealSubject = { resource_type: string; resource_id: string; name?: string; details?: Record<string, unknown> };

/** What `run` hands back: rows as the database gave them; the output schema turns dates into text and drops what is undeclared. */
export type Result<O extends z.ZodType> = z.input<O> extends (infer Row)[] ? Page<Row> | Feed<Row> : z.input<O>;

/** Who an operation acts for: a caller in a workspace, a signed-in person, or whoever uses this browser. */
type CtxOf<N> = [N] extends ['visitor'] ? PersonCtx : [N] extends [PersonNeeds] ? SignedInCtx : Ctx;

/** What a row with `raw` hands back. */
export type RawAnswer = { headers: Record<string, string> & { etag: string }; body: Uint8Array };

/** Declares an operation; inference keeps `run` honest against `input` and `output`. */
export const operation = <I extends z.ZodType, O extends z.ZodType, const K extends Kind, const N extends Needs, const M extends Method>(
  row: Operation<I, O, K, N, M>,
): Operation<I, O, K, N, M> => row;

/** An operation whose answer is a download; it has no tRPC procedure. */
export type Export<I extends z.ZodType> = Operation<I, z.ZodString, 'read'> & Required<Pick<Operation<I>, 'stream'>>;

/** Declares an export: what `stream` writes, and the same as one text for callers that cannot stream. */
export const exporting = <I extends z.ZodType>(row: Omit<Export<I>, 'output' | 'run' | 'kind'>): Export<I> => ({
  ...row,
  kind: 'read',
  output: z.string(),
  run: async (ctx, input) => textOf(await row.stream(ctx, input)),
});

/** What writes the answer of a call as a raw body; undefined when it is JSON. */
export const streamOf = ({ stream, streams }: AnyOperation, raw: Record<string, unknown>): AnyOperation['stream'] =>
  streams === undefined || streams(raw) ? stream : undefined;

// biome-ignore lint/suspicious/noExplicitAny: the table holds operations of every shape; each row was checked where it was declared.
export type AnyOperation = Operation<any, any>;
// biome-ignore lint/suspicious/noExplicitAny: as above.
export type AnyPersonOperation = Operation<any, any, Kind, PersonNeeds>;

/** Whether an operation is of a person, without or above a workspace, and served by the session plane. */
export const isOfPerson = (op: AnyOperation | AnyPersonOperation): op is AnyPersonOperation =>
  op.needs === 'session' || op.needs === 'visitor';
