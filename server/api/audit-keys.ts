import { publicKeyDocument as keys } from '#server/domain/audit-logs/service.ts';

/** The public keys that signed heads of critical chains verify with; cacheable and readable from anywhere (interface rule 31 §10.7). */
export const publicKeyDocument = async (): Promise<Response> =>
  Response.json(await keys(), { headers: { 'access-control-allow-origin': '*', 'cache-control': 'public, max-age=300' } });
