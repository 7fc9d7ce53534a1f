import { type Detail, traceOf } from '#components/logs/trace.ts';
import { METHODS } from '#server/domain/routes/config/schema.ts';
import { carriesCredential } from '#server/domain/routes/trial/credential-headers.shared.ts';
import type { Trial } from './use-test-request.ts';

export type Replay = {
  trial: Trial;
  /** Headers that carried a credential, or that we put in ourselves: never part of a trial. */
  leftOut: readonly string[];
  /** Headers whose names are filled in and whose values are nowhere. */
  blank: readonly string[];
  /** The path held something that was masked before it was stored. */
  masked: boolean;
  hadBody: boolean;
  /** The method, when the tester cannot send it. */
  otherMethod: string | null;
};

/** What the connection, the caller's program or the gateway makes by itself, and ranges, which tests don't send. */
const MADE =
  /^(?:host|connection|content-length|transfer-encoding|te|trailer|upgrade|keep-alive|expect|accept-encoding|user-agent|via|forwarded|x-forwarded-.*|x-real-ip|x-svc-.*|sec-.*|traceparent|tracestate|range|if-range)$/;

/**
 * A call of the log as a request to try again: method, path, query and the names of its headers. The log keeps no value of a header and no body, so
 * those are for the person to write; what carried a credential is left out.
 */
export function replayOf({ log }: Pick<Detail, 'log'>): Replay {
  const put = new Set(log.injected.flatMap((one) => (one.startsWith('header:') ? [one.slice(7).toLowerCase()] : [])));
  const names = traceOf(log.trace).request_headers.map((name) => name.toLowerCase());
  const asked = names.filter((name) => !MADE.test(name));
  const leftOut = asked.filter((name) => carriesCredential(name) || put.has(name));
  const blank = asked.filter((name) => !leftOut.includes(name));
  const method = (METHODS as readonly string[]).includes(log.method ?? '') ? (log.method as Trial['method']) : 'GET';
  const path = log.path ?? '/';
  return {
    trial: {
      method,
      path: path.startsWith('/') ? path : `/${path}`,
      headers: blank.map((name) => ({ name, value: '' })),
      body: '',
    },
    leftOut,
    blank,
    masked: /\[redacted\]|\d{6}\*+\d{4}/.test(path),
    hadBody: (log.request_bytes ?? 0) > 0,
    otherMethod: method === log.method ? null : log.method,
  };
}
