import { handle } from '#server/auth/handle.ts';

export const dynamic = 'force-dynamic';
export { handle as DELETE, handle as GET, handle as HEAD, handle as PATCH, handle as POST, handle as PUT };
