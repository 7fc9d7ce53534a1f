import { METHODS } from './listener.ts';

/** Value of Allow when a route restricts nothing (interface rule 12 §8). */
export const ALL_METHODS = METHODS.join(', ');

const ACCEPTED: ReadonlySet<string> = new Set(METHODS);
export const isAccepted = (method: string): boolean => ACCEPTED.has(method);

/** Methods whose body may be rewritten (interface rule 10 §7.2). */
export const rewritesBody = (method: string): boolean => method === 'POST' || method === 'PUT' || method === 'PATCH';

/** Safe to send twice (RFC 9110 §9.2.2); PATCH and POST only count when the caller sent an Idempotency-Key. */
export const isIdempotent = (method: string): boolean => method !== 'POST' && method !== 'PATCH';
