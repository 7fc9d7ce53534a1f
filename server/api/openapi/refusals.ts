import { ERROR_STATUS, type ErrorType } from '#server/kernel/errors.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import type { Json } from './json.ts';

/** Every error type an operation can answer, grouped by status. */
export function errorTypesOf(op: AnyOperation): ErrorType[] {
  const pipeline: ErrorType[] = [
    'validation_error',
    'invalid_api_version',
    'rate_limit_exceeded',
    'internal_error',
    'dependency_unavailable',
  ];
  const authenticated: ErrorType[] = [
    'authentication_required',
    'invalid_api_key',
    'wrong_key_type',
    'forbidden',
    'subscription_inactive',
    'use_oauth',
    'invalid_request',
  ];
  const mutating: ErrorType[] = ['payload_too_large', 'unsupported_media_type'];
  // Sign-up has no credential to keep a key under, so it takes none.
  const idempotent: ErrorType[] = ['invalid_idempotency_key', 'request_in_progress', 'idempotency_key_reuse', 'tenant_sealed'];
  const writes = !op.http.startsWith('GET ');
  return [
    ...new Set([
      ...op.refuses,
      ...pipeline,
      ...(op.needs === 'anonymous' ? [] : authenticated),
      ...(writes ? mutating : []),
      ...(writes && op.needs !== 'anonymous' ? idempotent : []),
    ]),
  ];
}

export function refusals(op: AnyOperation): Record<string, Json> {
  const byStatus = new Map<number, ErrorType[]>();
  for (const type of errorTypesOf(op)) {
    const status = type === 'plan_limit' && /^(clients|environments)\./.test(op.id) ? 403 : ERROR_STATUS[type];
    byStatus.set(status, [...(byStatus.get(status) ?? []), type]);
  }
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, types]) => [
        status,
        { description: types.sort().join(', '), content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } },
      ]),
  );
}
