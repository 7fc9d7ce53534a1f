import { SIGNATURE_ALGORITHMS } from '#server/crypto/acme/account-key.ts';
import { JwsRefused } from '#server/crypto/acme/refused.ts';
import { AcmeProblem, documentOf, type ProblemType } from '#server/domain/acme/problem.ts';
import { asRefusal } from '#server/kernel/errors.ts';
import { refusalHeaders, type Wire } from '../respond.ts';

/** Whatever a request failed with, as a problem of ACME (RFC 8555 §6.7). What is our own fault says nothing about itself. */
export function asProblem(error: unknown): AcmeProblem {
  if (error instanceof AcmeProblem) return error;
  if (error instanceof JwsRefused) return ofJws(error);
  const refusal = asRefusal(error);
  const headers = refusalHeaders(refusal);
  const of = (type: ProblemType, status?: number) =>
    new AcmeProblem(type, refusal.message, { headers, cause: error, ...(status === undefined ? {} : { status }) });
  switch (refusal.type) {
    case 'not_found':
      return of('malformed', 404);
    case 'payload_too_large':
      return of('malformed', 413);
    case 'invalid_request':
      return of('malformed');
    case 'validation_error':
      return of('rejectedIdentifier');
    case 'forbidden':
    case 'root_not_active':
      return of('unauthorized');
    case 'plan_limit':
    case 'rate_limit_exceeded':
      return of('rateLimited');
    default:
      return refusal.status === 503
        ? of('serverInternal', 503)
        : new AcmeProblem('serverInternal', 'Something went wrong on our side. Try again later.', { cause: error });
  }
}

function ofJws({ reason, message }: JwsRefused): AcmeProblem {
  const algorithms = { algorithms: SIGNATURE_ALGORITHMS };
  switch (reason) {
    case 'bad_algorithm':
      return new AcmeProblem('badSignatureAlgorithm', message, algorithms);
    case 'bad_key':
      return new AcmeProblem('badPublicKey', message, algorithms);
    case 'malformed':
      return new AcmeProblem('malformed', message);
    case 'signature':
    case 'url':
      return new AcmeProblem('unauthorized', message);
  }
}

export const problemWire = (problem: AcmeProblem): Wire => ({
  status: problem.status,
  body: JSON.stringify(documentOf(problem)),
  headers: { 'content-type': 'application/problem+json', ...problem.more.headers },
});
