import type { z } from 'zod';
import type { LimitPolicy } from '#server/domain/ai-spend/limits/schema.ts';
import type { Price } from '#server/domain/ai-spend/prices/schema.ts';

export type PriceRow = z.output<typeof Price>;
export type LimitRow = z.output<typeof LimitPolicy>;
