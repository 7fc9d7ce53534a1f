import { frontDoorToken } from '#server/crypto/derive.ts';
import { digest, hasDigest } from '#server/crypto/tokens.ts';
import type { Space } from '#server/kernel/context.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { newId } from '#server/kernel/ids.ts';
import { rootKeys } from '#server/platform/keys.ts';

/** What the front door knows about a request: who decided the plane and space, from where it came, and its id. */
export type Edge = {
  space: Space;
  ip: string | null;
  request_id: string;
  user_agent: string | null;
  /** What the front door refuses the request for, unless its path or method is unknown: it comes without its headers and its body. */
  fault?: 'headers_too_large' | 'payload_too_large' | undefined;
};

/**
 * The edge facts of a forwarded request, or null when it did not come through the front door. Only the gateway knows the token (derived from the
 * root key), so these headers cannot be forged even where the web process is reachable.
 */
export function edgeOf(headers: Headers): Edge | null {
  if (!hasDigest(headers.get('x-sallyport-front') ?? '', digest(frontDoorToken(rootKeys().current)))) return null;
  const id = headers.get('x-sallyport-request-id') ?? '';
  return {
    space: headers.get('x-sallyport-space') === 'test' ? 'test' : 'live',
    ip: headers.get('x-sallyport-ip') || null,
    request_id: isUuid(id) ? id : newId(),
    user_agent: headers.get('user-agent'),
    fault: FAULTS.find((fault) => fault === headers.get('x-sallyport-fault')),
  };
}

const FAULTS = ['headers_too_large', 'payload_too_large'] as const;
