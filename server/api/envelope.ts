import type { Refusal } from '#server/kernel/errors.ts';
import type { AnyOperation, Feed } from '#server/kernel/operation.ts';
import type { Page } from '#server/kernel/page.ts';

// The JSON bodies of every plane. `output` has passed its schema; `result` is what the verb handed back and still knows the page.

type Shape = Pick<AnyOperation, 'list' | 'advises'>;

/** The advice of an operation that may give some. */
const warningOf = ({ advises }: Shape, result: unknown): string | undefined =>
  advises ? (result as { warning?: string }).warning : undefined;

/** What a list says about itself: its page, or whatever its feed says. */
function listMeta({ list }: Shape, result: unknown): Record<string, unknown> {
  if (list === 'feed') return (result as Feed<unknown>).meta;
  if (!list) return {};
  const { total, page, per_page, total_pages } = result as Page<unknown>;
  return { total, page, per_page, total_pages };
}

/** The success envelope of /v1 (interface rule 01 §3). */
export const managementBody = (op: Shape, output: unknown, result: unknown, requestId: string, warnings: readonly string[]) => {
  const warning = warningOf(op, result);
  return {
    data: output,
    meta: { ...listMeta(op, result), ...(warnings.length > 0 ? { warnings } : {}), request_id: requestId },
    ...(warning === undefined ? {} : { warning }),
  };
};

/** The failure envelope of /v1: exactly three members, no data, no meta. */
export const managementFailure = ({ type, message }: Refusal, requestId: string) => ({ error: { type, message, request_id: requestId } });

/** /admin over plain HTTP: the resource itself; a list has its page beside its rows. */
export const dashboardBody = (op: Shape, output: unknown, result: unknown): unknown =>
  op.list ? { data: output, ...listMeta(op, result) } : output;

/** A procedure's result: lists keep the envelope of /v1, everything else is the resource itself. */
export const procedureBody = (op: Shape, output: unknown, result: unknown, warnings: readonly string[]): unknown => {
  if (op.list) return { data: output, meta: listMeta(op, result) };
  const all = [...warnings, ...[warningOf(op, result) ?? []].flat()];
  return all.length > 0 ? { ...(output as object), warnings: all } : output;
};

/** Error types of the Management API that the session plane spells its own way (interface rule 01 §5.4). */
const SESSION_CODES: Partial<Record<string, string>> = {
  validation_error: 'invalid',
  invalid_request: 'invalid',
  rate_limit_exceeded: 'rate_limited',
};

/** A failure of the dashboard plane: `error` and `code` are the same word (interface rule 22 §1). */
export const dashboardFailure = ({ type, message, extra }: Refusal, requestId: string) => ({
  error: type as string,
  code: type as string,
  message,
  request_id: requestId,
  ...extra,
});

/** A failure of the session plane. */
export function sessionFailure(refusal: Refusal, requestId: string) {
  const code = SESSION_CODES[refusal.type] ?? refusal.type;
  return { ...dashboardFailure(refusal, requestId), error: code, code, ...refusal.extra };
}
