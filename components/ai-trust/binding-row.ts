import type { z } from 'zod';
import type { AiOidcBinding } from '#server/domain/ai-trust/schema.ts';

export type BindingRow = z.output<typeof AiOidcBinding>;
