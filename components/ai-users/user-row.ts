import type { z } from 'zod';
import type { AiUser } from '#server/domain/ai-spend/users/schema.ts';

export type UserRow = z.output<typeof AiUser>;
