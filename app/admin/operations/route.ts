import { handleOperations } from '#server/trpc/listed-operations.ts';

export const dynamic = 'force-dynamic';
export { handleOperations as GET };
