import { handleTail } from '#server/trpc/tail.ts';

export const dynamic = 'force-dynamic';
export { handleTail as GET };
