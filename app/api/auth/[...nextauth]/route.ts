import { handleNextAuth } from '#server/auth/next-auth-handler.ts';

export const dynamic = 'force-dynamic';
export { handleNextAuth as DELETE, handleNextAuth as GET, handleNextAuth as PATCH, handleNextAuth as POST, handleNextAuth as PUT };
