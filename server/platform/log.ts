import { pino } from 'pino';
import { logLevel } from './env.ts';

// Every prefix of the credential table (interface rule 01 §15), each matched by its whole form so that ids and prose stay readable.
const credential = new RegExp(
  [
    'tk_(?:live|test)_[0-9A-Za-z]{12}_[0-9A-Za-z]{51}',
    'AKE[A-Z2-7]{16}:[0-9A-Za-z]{40}',
    'svc_(?:live|test)_[0-9A-Za-z]{49}',
    'svcr_(?:live|test)_[0-9A-Za-z]{49}',
    'svc[cds]_[0-9A-Za-z]{49}',
    'svcp_(?:live|test)_[arto]_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}',
    'ses_[0-9A-Za-z]{49}',
    'stp_[0-9A-Za-z_-]{43}',
    'scim_[0-9A-Za-z]{49}',
    's[ch][ck]_[0-9A-Za-z_-]{43}',
    'wkt_[a-z2-7]{52}',
    'kct_[0-9A-Za-z_-]{43}',
    'whsec_[0-9A-Za-z_-]{20,}',
    'svc_as_[0-9A-Za-z_-]{43}',
    'svc_a[is]t_[0-9A-Za-z_-]{43}',
  ].join('|'),
  'g',
);

// What is a credential only by its place: host label of a gateway token, mail links and states, capture and workflow paths,
// Authorization values, the password part of a URL.
// No class here matches a quote or a backslash, so a scrubbed JSON line is still JSON.
const gatewayHost = /(?<![a-z2-7])[a-z2-7]{52}(?=\.)/g;
const queryValue = /([?&#](?:token|state|code|code_verifier|client_secret|access_token|refresh_token)=)[^&#\s"'\\]+/g;
const pathValue = /(\/(?:_capture|wf)\/)[A-Za-z0-9_-]{20,}/g;
const authorization = /\b((?:proxy-)?authorization\\{0,3}["']?\s?[:=]\s?\\{0,3}["']?(?:[A-Za-z]{1,20} )?)[^\s"',\\]+/gi;
const bearer = /\b((?:Bearer|DPoP|Basic) )[A-Za-z0-9._~+/=-]{16,}/g;
const urlPassword = /(\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@"'\\]{0,200}:)[^\s/@"'\\]{1,500}(?=@)/gi;

/** Masks every credential of the product in a text, keeping the prefix so that the kind stays visible. For logs, traces, captures, details. */
export function scrub(text: string): string {
  return text
    .replace(
      credential,
      (found) => `${/^(?:AKE|tk_(?:live|test)_|svc[rp]?_(?:live|test|as|ait|ast)_|[a-z]+_)/.exec(found)?.[0] ?? ''}[redacted]`,
    )
    .replace(gatewayHost, '[redacted]')
    .replace(queryValue, '$1[redacted]')
    .replace(pathValue, '$1[redacted]')
    .replace(authorization, '$1[redacted]')
    .replace(bearer, '$1[redacted]')
    .replace(urlPassword, '$1[redacted]');
}

/** JSON lines on standard output; the finished line passes through `scrub`, so no field, message or stack escapes it. */
export const log = pino({
  level: logLevel(),
  base: { pid: process.pid },
  timestamp: pino.stdTimeFunctions.isoTime,
  formatters: { level: (label) => ({ level: label }) },
  hooks: { streamWrite: scrub },
});
