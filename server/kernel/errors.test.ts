import assert from 'node:assert/strict';
import test from 'node:test';
import { asRefusal, ERROR_STATUS, Refusal } from './errors.ts';
import { asOurs } from './outage.ts';

test('a lost database is dependency_unavailable with Retry-After, however deep and in whose words it is reported', () => {
  const coded = (code: string, message = 'x') => Object.assign(new Error(message), { code });
  const lost = [
    coded('ECONNREFUSED'),
    coded('57P01', 'terminating connection due to administrator command'),
    coded('57P03', 'the database system is not yet accepting connections'),
    coded('P2010', 'Invalid `prisma.$queryRaw()` invocation:\n\n\nwrite EPIPE'),
    coded('P2028', 'Transaction API error: Unable to start a transaction in the given time.'),
    new Error('Client has encountered a connection error and is not queryable'),
    new Error('Connection terminated unexpectedly'),
    new Error('the database system is in recovery mode'),
    new Error('outer', { cause: new Error('middle', { cause: coded('ECONNRESET') }) }),
  ];
  for (const error of lost) {
    assert.equal(asRefusal(error).type, 'internal_error', `${error.message}, of anybody's host`);
    const refusal = asRefusal(asOurs(error));
    assert.deepEqual([refusal.type, refusal.status, refusal.retryAfter], ['dependency_unavailable', 503, 5], error.message);
    assert.equal(refusal.cause, error);
  }
});

test('what Prisma and a cause that is ours say is an outage too', () => {
  const unknown = () => Object.assign(new Error('getaddrinfo ENOTFOUND nowhere.example'), { code: 'ENOTFOUND' });
  assert.equal(asRefusal(unknown()).type, 'internal_error');
  assert.equal(asRefusal(new Error('outer', { cause: asOurs(unknown()) })).type, 'dependency_unavailable');
  for (const name of ['PrismaClientKnownRequestError', 'DriverAdapterError'])
    assert.equal(asRefusal(Object.assign(unknown(), { name })).type, 'dependency_unavailable', name);
});

test('any other fault is internal_error and says nothing of its cause', () => {
  for (const error of [
    new Error('secret detail'),
    new TypeError('x is not a function'),
    Object.assign(new Error('dup'), { code: '23505' }),
    'text',
    null,
  ]) {
    const refusal = asRefusal(error);
    assert.deepEqual([refusal.type, refusal.status], ['internal_error', 500]);
    assert.doesNotMatch(refusal.message, /secret|function|dup|text/);
  }
  const own = new Refusal('conflict', 'taken');
  assert.equal(asRefusal(own), own);
});

test('every type of the Management API has the status it always had (interface rule 01 §5.1); change this only to add', () => {
  const catalogue: Record<number, (keyof typeof ERROR_STATUS)[]> = {
    400: ['validation_error', 'invalid_request', 'invalid_definition', 'invalid_api_version', 'invalid_idempotency_key', 'invalid_type'],
    401: ['authentication_required', 'invalid_api_key', 'invalid_dpop_proof'],
    402: ['plan_feature', 'plan_limit'],
    403: ['wrong_key_type', 'subscription_inactive', 'forbidden', 'use_oauth', 'privilege_escalation', 'system_client_protected'],
    404: ['not_found'],
    405: ['method_not_allowed'],
    409: ['conflict', 'in_use', 'request_in_progress', 'claim_already_collected'],
    413: ['payload_too_large'],
    414: ['uri_too_long'],
    415: ['unsupported_media_type'],
    422: ['idempotency_key_reuse'],
    429: ['rate_limit_exceeded'],
    431: ['headers_too_large'],
    500: ['internal_error'],
    503: ['dependency_unavailable', 'tenant_sealed', 'audit_unavailable'],
  };
  for (const [status, types] of Object.entries(catalogue)) for (const type of types) assert.equal(ERROR_STATUS[type], Number(status), type);
  const only = Object.entries(ERROR_STATUS).filter(([, status]) => status === 422);
  assert.deepEqual(only, [['idempotency_key_reuse', 422]], 'input that fails validation is always 400');
});
