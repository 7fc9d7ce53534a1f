import { handleProcedures } from '#server/trpc/procedures.ts';

export const dynamic = 'force-dynamic';
export { handleProcedures as GET };
