import { z } from 'zod';
import { time } from '#server/kernel/fields.ts';

/** An upstream to look at before a route leads there. */
export const ProbeTarget = z.object({ target_base_url: z.string().trim().min(1).max(2048) });

/**
 * How far a look at an upstream came: `refused` by the rules for addresses, a name without an address, a host that is not there, a certificate that does not
 * hold, a host that does not speak HTTP in time, or an answer, whatever its status. `unknown`: the host is made of variables.
 */
export const ProbedTarget = z
  .object({
    outcome: z.enum(['refused', 'unknown', 'unresolved', 'unreachable', 'untrusted', 'silent', 'answered']),
    /** Continues the name of the field; with `refused` only. */
    problem: z.string().nullable(),
    certificate: z.object({ issuer: z.string().nullable(), valid_until: time() }).nullable(),
    status: z.number().int().nullable(),
    latency_ms: z.number().int().nullable(),
  })
  .meta({ id: 'ProbedTarget' });
