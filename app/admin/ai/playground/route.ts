import { handlePlayground } from '#server/trpc/playground.ts';

export const dynamic = 'force-dynamic';
export { handlePlayground as POST };
