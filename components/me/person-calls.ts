'use client';

import { fetchWithStepUp } from '#components/step-up/with-step-up.ts';
import { useScope } from '#components/trpc/provider.tsx';
import { nextKey, record } from '#components/trpc/recorder.ts';

/** A refusal of the session plane in the shape tRPC errors have here, so that pages treat both alike. */
class PersonRefusal extends Error {
  readonly data: { code: string; message: string; request_id: string; status: number };

  constructor(status: number, body: { code?: string; message?: string; request_id?: string; [more: string]: unknown }) {
    super(body.message ?? 'Something went wrong. Try again.');
    this.name = 'PersonRefusal';
    this.data = { ...body, code: body.code ?? 'internal_error', message: this.message, request_id: body.request_id ?? '', status };
  }
}

/** `workspace`: the ID of the workspace that a call of the dashboard plane acts on. */
export type PersonCall = <T>(
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: `/auth/${string}` | `/admin/${string}`,
  body?: object | Blob,
  workspace?: string,
) => Promise<T>;

/** `personCall` for the session of the page. */
export function usePersonCall(): PersonCall {
  return personCall(useScope().csrf);
}

/** Calls of the session plane (interface rule 22 §4); changes carry the session's CSRF token, and a verification where one is asked for. @throws what `refusalOf` reads */
export const personCall =
  (csrf: string): PersonCall =>
  async <T>(method: string, path: string, body?: object | Blob, workspace?: string) => {
    const began = performance.now();
    const type = body instanceof Blob ? 'application/octet-stream' : 'application/json';
    const response = await fetchWithStepUp(path, {
      method,
      headers: {
        accept: 'application/json',
        ...(workspace ? { 'x-tenant-id': workspace } : {}),
        ...(method === 'GET' ? {} : { 'content-type': type, 'x-csrf-token': csrf }),
      },
      ...(method === 'GET' ? {} : { body: body instanceof Blob ? body : JSON.stringify(body ?? {}) }),
    });
    const answer = (await response.json().catch(() => ({}))) as Record<string, unknown>;
    const refusal = response.ok ? undefined : new PersonRefusal(response.status, answer);
    record({
      key: nextKey(),
      // Bodies of the session plane are passwords, codes and pictures: none is kept.
      what: { method, path, public: false },
      kind: method === 'GET' ? 'query' : 'mutation',
      status: response.status,
      error: refusal?.data,
      ms: Math.round(performance.now() - began),
      at: Date.now(),
      request_id: response.headers.get('x-request-id') ?? '',
    });
    if (refusal) throw refusal;
    return answer as T;
  };
