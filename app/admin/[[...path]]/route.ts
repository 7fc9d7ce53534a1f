import { handleDashboard } from '#server/trpc/dashboard.ts';

export const dynamic = 'force-dynamic';
export { handleDashboard as DELETE, handleDashboard as GET, handleDashboard as PATCH, handleDashboard as POST, handleDashboard as PUT };
