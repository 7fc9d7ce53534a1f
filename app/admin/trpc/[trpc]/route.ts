import { handleTrpc } from '#server/trpc/handle.ts';

export const dynamic = 'force-dynamic';
export { handleTrpc as GET, handleTrpc as POST };
