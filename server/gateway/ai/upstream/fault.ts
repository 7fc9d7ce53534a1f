import type { UpstreamFault } from '#server/platform/http-out/faults.ts';
import { type AiRefused, aiRefusal } from '../../governance/envelope.ts';

/** Why a provider could not be asked, in the words of this plane. */
export function refusalOfFault(fault: UpstreamFault): AiRefused {
  const more = { cause: fault };
  switch (fault.type) {
    case 'upstream_timeout':
      return aiRefusal('upstream_timeout', fault.message, more);
    case 'upstream_not_allowed':
      return aiRefusal('upstream_blocked', fault.message, more);
    case 'upstream_protocol_error':
    case 'upstream_response_too_large':
      return aiRefusal('upstream_invalid_response', fault.message, more);
    case 'concurrency_limit_exceeded':
      return aiRefusal('concurrency_limited', fault.message, { ...more, retryAfter: 1 });
    case 'route_misconfigured':
      return aiRefusal('upstream_not_configured', fault.message, more);
    case 'internal_error':
      return aiRefusal('internal_error', 'Something went wrong on our side.', more);
    default:
      return aiRefusal('upstream_unreachable', fault.message, more);
  }
}
