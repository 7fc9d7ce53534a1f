import { handleExplorer } from '#server/trpc/explorer.ts';

export const dynamic = 'force-dynamic';
export { handleExplorer as POST };
