import { z } from 'zod';
import { CreateRoute, RouteRecord } from '#server/domain/routes/schema.ts';
import { StringSecret } from '#server/domain/secrets/schema.ts';
import { secret, shownOnce } from '#server/kernel/fields.ts';
import { OPENAPI_LENGTH } from './limits.shared.ts';

/** A shell command or an API description turned into routes and secrets that a person looks at before they are made. A command carries its credential. */
export const Propose = z
  .object({ kind: z.enum(['curl', 'openapi']), text: secret(z.string().min(1)) })
  .refine((v) => v.text.length <= (v.kind === 'curl' ? 64 * 1024 : OPENAPI_LENGTH), { path: ['text'], message: 'is too long to import' });

/** The pasted call, less its credentials and relative to the upstream URL. */
export const SampleCall = z.object({
  method: z.string(),
  path: z.string(),
  headers: z.record(z.string(), z.string()).optional(),
  body: shownOnce(z.string()).optional(),
  body_options: z
    .array(shownOnce(z.string()))
    .optional()
    .meta({ description: 'curl options that build the body from a form or a file, in place of `body`.' }),
});
export type SampleCall = z.output<typeof SampleCall>;

export const ImportedOperation = z.object({ method: z.string(), path: z.string(), summary: z.string().optional() });
export type ImportedOperation = z.output<typeof ImportedOperation>;

export const ProposedRoute = z.object({
  name: z.string(),
  target_base_url: z.string(),
  inject_headers_json: z.record(z.string(), z.string()),
  inject_query_json: z.record(z.string(), z.string()),
  allowed_methods: z.array(z.string()).optional(),
  sample_call: SampleCall,
  operations: z.array(ImportedOperation).optional().meta({ description: 'Every operation of the description, up to 2,000.' }),
});

/** `value` only when the text held one: it goes back to the person who pasted it and is stored nowhere yet. */
export const ProposedSecret = z.object({ name: z.string(), value: shownOnce(z.string()).optional(), note: z.string() });

export const Proposal = z
  .object({ routes: z.array(ProposedRoute), secrets: z.array(ProposedSecret), warnings: z.array(z.string()) })
  .meta({ id: 'ImportProposal' });
export type Proposal = z.output<typeof Proposal>;
export type ProposedRoute = z.output<typeof ProposedRoute>;
export type ProposedSecret = z.output<typeof ProposedSecret>;

const route = z.object(CreateRoute.shape);
const storedSecret = StringSecret.pick({
  name: true,
  value: true,
  environment: true,
  description: true,
  collection_id: true,
  allowed_hosts: true,
});

export const Apply = z.object({ routes: z.array(route).min(1).max(20), secrets: z.array(storedSecret).max(50).default([]) });
export const Applied = z
  .object({ routes: z.array(RouteRecord), secrets: z.array(z.object({ id: z.uuid(), name: z.string() })) })
  .meta({ id: 'Imported' });
