import { handle } from '#server/auth/handle.ts';

export const dynamic = 'force-dynamic';
export { handle as GET };
