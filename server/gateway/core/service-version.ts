import type { IncomingMessage } from 'node:http';
import { asRefusal } from '#server/kernel/errors.ts';
import { NEWEST, resolveVersion } from '#server/kernel/versions.ts';
import type { GatewayResponse } from './gateway-response.ts';
import { within } from './hosts.ts';
import { isAccepted } from './methods.ts';
import { type Refused, refused } from './refusal.ts';

/**
 * Has the answer to a path under /v1 name the version that it is made under, on every host and plane, whoever writes it (interface rule 01 §11).
 * @returns the refusal of a version that there isn't; an unsupported method is refused before it (interface rule 01 §2)
 */
export function stampVersion({ headers, method }: IncomingMessage, res: GatewayResponse, target: string): Refused | undefined {
  if (!within('/v1', target)) return undefined;
  res.serviceVersion = NEWEST;
  const asked = headers['service-version'];
  if (asked === undefined) return undefined;
  try {
    res.serviceVersion = resolveVersion(String(asked));
    return undefined;
  } catch (error) {
    return isAccepted(method ?? '') ? refused('invalid_api_version', asRefusal(error).message) : undefined;
  }
}
