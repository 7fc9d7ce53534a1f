import { z } from 'zod';
import type { Capability } from './capabilities.ts';
import type { Ctx } from './context.ts';
import type { Tx } from './database.ts';
import type { ErrorType } from './errors.ts';
import type { Family } from './family.ts';
import type { Page } from './page.ts';
import { type RawBody, textOf } from './streamed.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

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

/** A keyset feed page (interface rule 01 §6.2). */
export type Feed<T> = { rows: T[]; meta: Record<string, unknown> };

/**
 * One thing the service can do: a REST route, a tRPC procedure, an OpenAPI operation, a row of the scope matrix and of every derived test.
 * Data, but for `run`. `input` is path parameters, query and body merged (path wins).
 */
export type Operation<I extends z.ZodType = z.ZodType, O extends z.ZodType = z.ZodType> = {
  /** `<family>.<verb>`, also the span name. */
  id: string;
  summary: string;
  /** Path relative to /v1, or absolute for the dashboard plane (`/admin/...`, `/auth/...`). */
  http: `${Method} /${string}`;
  /** Capabilities the caller must hold, all of them; 'anonymous' for sign-up, 'any' for any valid credential or session. */
  needs: readonly Capability[] | 'anonymous' | 'any';
  /** Error types beyond those of the pipeline (validation_error included there); a refusal not listed fails the tests. */
  refuses: readonly ErrorType[];
  input: I;
  output: O;
  /** Status of success; 200 when absent. */
  success?: Succeeds<z.output<O>>;
  /** Absent: one resource. */
  list?: 'paged' | 'whole' | 'feed';
  /** The members of a row that a list shows to callers who see names only (`seesNamesOnly`); the rest is left out. */
  names?: readonly string[];
  /** A POST that changes nothing (a proposal, a verification): no audit entry is written. */
  reads?: true;
  /**
   * An edit of one row that the dashboard guards with `expected_updated_at`: how to lock that row, and the operation that shows what it is now.
   * Only people's calls carry the field; /v1 has no such check (interface rule 70 §3.5).
   */
  edits?: { row: (tx: Tx, ctx: Ctx, input: z.output<I>) => Promise<{ updated_at: Date }>; shown_by: AnyOperation };
  /** The answer is this raw body instead of JSON (exports); `run` gives the same as text to callers that cannot stream. */
  stream?: (ctx: Ctx, input: z.output<I>) => Promise<RawBody>;
  /** `families` is every descriptor of the product, for the few operations that work over all of them (search, reset of Test). */
  run: (ctx: Ctx, input: z.output<I>, families: readonly Family[]) => Promise<Result<O>>;
};

/** What `run` hands back: rows as the database gave them; the output schema turns dates into text and drops what is undeclared. */
type Result<O extends z.ZodType> = z.input<O> extends (infer Row)[] ? Page<Row> | Feed<Row> : z.input<O>;

/** Declares an operation; inference keeps `run` honest against `input` and `output`. */
export const operation = <I extends z.ZodType, O extends z.ZodType>(row: Operation<I, O>): Operation<I, O> => row;

/** Declares an export: what `stream` writes, and the same as one text for callers that cannot stream. */
export const exporting = <I extends z.ZodType>(
  row: Omit<Operation<I, z.ZodString>, 'output' | 'run'> & Required<Pick<Operation<I>, 'stream'>>,
): Operation<I, z.ZodString> => operation({ ...row, output: z.string(), run: async (ctx, input) => textOf(await row.stream(ctx, input)) });

// biome-ignore lint/suspicious/noExplicitAny: the table holds operations of every shape; each row was checked where it was declared.
export type AnyOperation = Operation<any, any>;
