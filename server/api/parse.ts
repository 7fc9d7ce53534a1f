import { z } from 'zod';
import { seesNamesOnly } from '#server/kernel/capabilities.ts';
import type { HotCtx } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { isUnstored } from '#server/kernel/fields.ts';
import { capabilitiesOf } from '#server/kernel/needs.ts';
import type { Operation } from '#server/kernel/operation.ts';
import { ignoredFields } from './input.ts';

/** The input of an operation as its schema gives it. @throws Refusal validation_error for the first problem, never with the value */
export function parsedInput<I extends z.ZodType>(schema: I, raw: unknown): z.output<I> {
  const input = schema.safeParse(raw);
  if (!input.success) throw new Refusal('validation_error', problemWithNames(schema, asSent(schema, input.error), raw));
  const field = unstorableField(storedPart(schema, input.data));
  if (field !== null) throw new Refusal('validation_error', unstorable(field));
  return input.data;
}

/** What is missing may be there under a wrong name, so the names that were ignored are told beside it. */
function problemWithNames(schema: z.ZodType, error: z.ZodError, raw: unknown): string {
  const problem = firstProblem(error);
  const ignored = /(?:^No valid fields|: is required)$/.test(problem) && isFields(raw) ? ignoredFields({ input: schema }, raw) : undefined;
  return ignored === undefined ? problem : `${problem}. ${ignored}`;
}

const isFields = (raw: unknown): raw is Record<string, unknown> => typeof raw === 'object' && raw !== null;

/** A verb's result as it leaves: only declared fields, and of lists only the names for callers who may see no more. */
export function parsedOutput<O extends z.ZodType>(
  op: Pick<Operation<z.ZodType, O>, 'output' | 'list' | 'names' | 'needs'>,
  { actor }: Pick<HotCtx, 'actor'>,
  result: unknown,
): z.output<O> {
  const output = op.output.parse(op.list ? (result as { rows: unknown }).rows : result);
  const { names } = op;
  const { names_only } = result as { names_only?: boolean };
  if (!names || !(names_only || capabilitiesOf(op.needs).some((list) => seesNamesOnly(actor.capabilities, list)))) return output;
  return (output as Record<string, unknown>[]).map((row) => Object.fromEntries(names.map((name) => [name, row[name]]))) as z.output<O>;
}

/** Fields that travel as headers are named as those. */
function asSent(schema: z.ZodType, error: z.ZodError): z.ZodError {
  const { shape = {} } = schema as { shape?: Record<string, z.ZodType> };
  const headerOf = (name: PropertyKey) => shape[String(name)]?.meta()?.['x-header'] as string | undefined;
  return new z.ZodError(
    error.issues.map((issue) => ({ ...issue, path: issue.path.map((name, i) => (i === 0 && headerOf(name)) || name) })),
  );
}

/** What of an input may reach a table. */
function storedPart(schema: z.ZodType, data: unknown): unknown {
  const { shape } = schema as { shape?: Record<string, z.ZodType> };
  if (!shape || !Object.values(shape).some(isUnstored)) return data;
  return Object.fromEntries(Object.entries(data as object).filter(([name]) => !isUnstored(shape[name])));
}

/** The first member that the database cannot hold, or null. */
export const unstorableField = (data: unknown): string | null =>
  Object.entries(data ?? {}).find(([, value]) => !isStorable(value))?.[0] ?? null;
export const unstorable = (field: string): string => `${field}: must not contain NUL or invalid Unicode`;

/** PostgreSQL has no NUL in text and jsonb, and UTF-8 no lone surrogate: the one would fail there, the other silently become U+FFFD. */
function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  if (Array.isArray(value)) return value.every(isStorable);
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return true;
  return Object.entries(value).every(([name, member]) => isStorable(name) && isStorable(member));
}

/** `field: what is wrong`, of the first issue; never the value. */
export function firstProblem(error: z.ZodError): string {
  const { path: names, message } = innermost(error.issues[0] ?? { path: [], message: 'invalid' });
  const path = names.join('.');
  return path === '' || path === 'body'
    ? message[0]?.toUpperCase() + message.slice(1)
    : `${path}: ${message[0]?.toLowerCase()}${message.slice(1)}`;
}

type Problem = Pick<z.core.$ZodIssue, 'path' | 'message'> & { errors?: z.core.$ZodIssue[][] };

/** Of a value that can take several forms, the problem inside the one form it has; the union's own when that is not clear. */
function innermost(issue: Problem): Problem {
  const inside = (issue.errors ?? []).filter(([first]) => first && first.path.length > 0);
  const [first] = inside.length === 1 ? (inside[0] ?? []) : [];
  return first ? innermost({ ...first, path: [...issue.path, ...first.path] }) : issue;
}
