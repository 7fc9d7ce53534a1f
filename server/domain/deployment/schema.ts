import { z } from 'zod';

/** How a feature of the product stands in this deployment (interface rule 63 §3). */
export const PARITY = ['full', 'customer_provided', 'reduced', 'cloud_only'] as const;

export const ParityAudit = z.object({
  mode: z.object({
    /** production, development or test */
    environment: z.string(),
    /** `embedded` is the database that comes with the service. */
    database: z.enum(['embedded', 'external']),
    /** `memory` counts for one gateway only. */
    counters: z.enum(['redis', 'postgresql', 'memory']),
    gateways: z.number().int(),
    billing: z.enum(['manual', 'stripe']),
  }),
  versions: z.object({ node: z.string(), postgresql: z.string(), api: z.string(), schema: z.string() }),
  /** Addresses that upstreams see calls from, as far as the operator named them. */
  egress_ips: z.array(z.string()),
  features: z.array(
    z.object({
      key: z.string(),
      name: z.string(),
      status: z.enum(PARITY),
      /** What the operator provides or has not provided, in a sentence. */
      note: z.string().nullable(),
    }),
  ),
});
export type ParityAudit = z.input<typeof ParityAudit>;
